//! The fork of the engine is told in one place: each patch has its reason and a test that exists, and `patches/README.md`
//! lists them all.
#![allow(clippy::unwrap_used, reason = "tests; the lint's own exception ends at helpers")]

#[path = "../build/copies.rs"]
mod copies;
#[allow(dead_code, reason = "the build calls the functions that this test does not")]
#[path = "../build/patches.rs"]
mod patches;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use patches::Patch;

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn all() -> Vec<Patch> {
    patches::read(&here().join("patches")).unwrap()
}

#[test]
fn patches_are_numbered_without_gaps_and_say_what_they_are() {
    for (index, patch) in all().iter().enumerate() {
        let number = format!("{:04}-", index + 1);
        assert!(patch.name.starts_with(&number), "{} is not {number}", patch.name);
        let kinds = ["mend", "limit", "k6", "memory", "speed", "hook"];
        assert!(kinds.contains(&patch.kind.as_str()), "{}: kind {}", patch.name, patch.kind);
        let answer = patch.upstream.split(',').next().unwrap();
        assert!(["yes", "perhaps", "no"].contains(&answer), "{}: {}", patch.name, patch.upstream);
        assert!(patch.why.len() > 40, "{}: the reason is missing", patch.name);
        assert!(patch.kind != "speed" || patch.figure.is_some(), "{}: no figure", patch.name);
    }
}

#[test]
fn the_test_of_each_patch_exists() {
    let root = here().join("../..");
    for patch in all() {
        for test in &patch.tests {
            let (path, function) = test.split_once("::").unwrap_or((test, ""));
            let text = fs::read_to_string(root.join(path));
            let text = text.unwrap_or_else(|_| panic!("{}: there is no {path}", patch.name));
            if function.is_empty() {
                let answer = root.join(path).with_extension("expected.json");
                assert!(answer.exists(), "{}: {path} has no answer", patch.name);
            } else {
                let is_there = text.contains(&format!("fn {function}("));
                assert!(is_there, "{}: no test {function} in {path}", patch.name);
            }
        }
    }
}

/// The part of `patches/README.md` between its two marks.
fn index(patches: &[Patch]) -> String {
    let engine = fs::read_dir(here().join("engine")).unwrap();
    let added =
        engine.map(|file| fs::read_to_string(file.unwrap().path()).unwrap().lines().count());
    let sum = |of: fn(&patches::Hunk) -> usize| -> usize {
        patches.iter().flat_map(|patch| &patch.hunks).map(of).sum()
    };
    let mut told = format!(
        "{} patches, {} hunks: {} lines of the engine go, {} come; {} more lines are in `engine`.\n\n\
         | patch | what it does | kind | − | + | upstream |\n|---|---|---|---|---|---|\n",
        patches.len(),
        sum(|_| 1),
        sum(|hunk| hunk.removed),
        sum(|hunk| hunk.added),
        added.sum::<usize>(),
    );
    for patch in patches {
        let removed: usize = patch.hunks.iter().map(|hunk| hunk.removed).sum();
        let added: usize = patch.hunks.iter().map(|hunk| hunk.added).sum();
        let answer = patch.upstream.split(',').next().unwrap();
        let Patch { name, title, kind, .. } = patch;
        let _ = writeln!(
            told,
            "| [`{name}`]({name}.patch) | {title} | {kind} | {removed} | {added} | {answer} |"
        );
    }
    for (answer, heading) in
        [("yes", "Ready to go upstream"), ("perhaps", "Upstream in another form")]
    {
        let _ = writeln!(told, "\n## {heading}\n");
        for patch in patches {
            if let Some(why) = patch.upstream.strip_prefix(&format!("{answer}, ")) {
                let _ = writeln!(told, "- `{}`: {why}.", patch.name);
            }
        }
    }
    told
}

#[test]
fn the_list_of_patches_is_complete() {
    let path = here().join("patches/README.md");
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- the list -->\n", "<!-- its end -->\n");
    let (before, rest) = text.split_once(begin).unwrap();
    let (list, after) = rest.split_once(end).unwrap();
    let made = format!("\n{}\n", index(&all()));
    if env::var_os("WRITE_LIST").is_some() {
        fs::write(&path, format!("{before}{begin}{made}{end}{after}")).unwrap();
    } else {
        assert!(list == made, "patches/README.md is old: run this test once with WRITE_LIST=1");
    }
}

const TWO_PLACES: &str = "Title: Mends two places\nKind: mend\nWhy: They were wrong.\n  Both.\nTest: none\nUpstream: yes, both\n
--- a/a.c
+++ b/a.c
@@ -1,2 +1,3 @@
 one
+and a half
 two
@@ -9,2 +10,2 @@
 nine
-ten
+eleven
--- a/b.c
+++ b/b.c
@@ -1 +1 @@
-x
+y
";

fn sources(a: &str, b: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("a.c".to_owned(), a.to_owned()), ("b.c".to_owned(), b.to_owned())])
}

#[test]
fn lines_are_found_wherever_an_upgrade_moved_them() {
    let patch = Patch::parse("0001-two-places", TWO_PLACES).unwrap();
    assert_eq!(patch.why, "They were wrong. Both.");
    let mut moved = sources("zero\none\ntwo\nnine\nten\n", "xx\nx\n");
    assert_eq!(patch.apply(&mut moved), Vec::<String>::new());
    assert_eq!(moved, sources("zero\none\nand a half\ntwo\nnine\neleven\n", "xx\ny\n"));
}

#[test]
fn a_patch_or_a_part_of_it_is_left_out() {
    let left = |number: &str| {
        let mut patches = ["0001-first", "0002-second"]
            .map(|name| Patch::parse(name, TWO_PLACES).unwrap())
            .into_iter()
            .collect();
        patches::leave_out(&mut patches, number)?;
        Ok(patches.iter().map(|patch| patch.hunks.len()).collect::<Vec<_>>())
    };
    assert_eq!(left("0002"), Ok(vec![3]));
    assert_eq!(left("0001.3"), Ok(vec![2, 3]));
    assert_eq!(left("0003"), Err("there is no patch 0003".to_owned()));
    for none in ["0002.0", "0002.4", "0002.x"] {
        let hunk = &none[5..];
        assert_eq!(left(none), Err(format!("patch 0002 has 3 hunks, and no {hunk}")));
    }
}

#[test]
fn an_upgrade_hears_of_all_that_does_not_apply_at_once() {
    let patch = Patch::parse("0001-two-places", TWO_PLACES).unwrap();
    let mut changed = sources("one\ntwo\none\ntwo\nnine\neleven\n", "z\n");
    let failures = patch.apply(&mut changed);
    let told = patches::told(&failures, "engine-2");
    let heads: Vec<_> = told.lines().filter(|line| line.contains("hunk ")).collect();
    assert_eq!(
        heads,
        [
            "    hunk 1 of 3, in a.c, once at line 1: its old lines are there 2 times",
            "    hunk 2 of 3, in a.c, once at line 9: its old lines are gone, its new ones are there",
            "    hunk 3 of 3, in b.c, once at line 1: its old lines are gone",
        ]
    );
    assert!(told.starts_with("3 things do not fit engine-2:\n"), "{told}");
    assert_eq!(told.matches("0001-two-places (Mends two places)").count(), 3);
}

#[test]
fn an_upgrade_hears_of_words_that_are_not_said_any_more() {
    let words = "    { \"is said\", \"x\" },\n    { \"was '%s'\", \"y\" },\n";
    let unsaid = patches::unsaid(words, "throw(\"is said\"); throw(\"was \");");
    assert_eq!(unsaid, ["engine/words.c: the engine does not say \"was '%s'\""]);
    let table = fs::read_to_string(here().join("engine/words.c")).unwrap();
    assert!(patches::unsaid(&table, "").len() > 20, "the table is read");
}

/// The engine hands the arguments of its own message to the other one, which may leave some out at the end.
#[test]
fn words_take_the_arguments_of_the_message_that_they_replace() {
    let table = fs::read_to_string(here().join("engine/words.c")).unwrap();
    let kinds = |text: &str| -> Vec<_> {
        text.split('%').skip(1).map(|rest| rest[..1].to_owned()).collect()
    };
    let mut pairs = 0;
    for line in table.lines().filter_map(|line| line.strip_prefix("    { \"")) {
        let (engine, k6) = line.split_once("\", \"").unwrap();
        assert!(kinds(engine).starts_with(&kinds(k6)), "{line}");
        pairs += 1;
    }
    assert!(pairs > 20, "the table is read");
}

#[test]
fn a_patch_without_a_reason_is_refused() {
    let without = TWO_PLACES.replace("Why: They were wrong.\n  Both.\n", "");
    assert_eq!(Patch::parse("0001", &without).err().as_deref(), Some("no field Why"));
}

#[test]
fn a_copy_in_sys_rs_that_nothing_checks_is_refused() {
    let asserted = |text: &str| copies::assertions(text);
    let tag = asserted("pub(crate) const TAG_INT: i64 = 0;\n").unwrap();
    assert!(tag.contains("_Static_assert(JS_TAG_INT == (0), \"sys.rs: TAG_INT\");"), "{tag}");
    let atom = asserted("pub(crate) type JSAtom = u32;\n").unwrap();
    assert!(atom.contains("_Static_assert(sizeof(JSAtom) == sizeof(uint32_t)"), "{atom}");
    assert!(atom.contains("_Static_assert(((JSAtom)-1 > 0) == ((uint32_t)-1 > 0)"), "{atom}");
    let unknown = asserted("pub(crate) const STRANGE: c_int = 1;\n");
    assert_eq!(unknown.err().as_deref(), Some("the constant STRANGE"));
    let unknown = asserted("#[repr(C)]\npub(crate) struct Strange {\n    pub(crate) a: u8,\n}\n");
    assert_eq!(unknown.err().as_deref(), Some("the layout of Strange"));
    let unknown =
        asserted("#[repr(C)]\npub(crate) struct JSNew {\n    pub(crate) a: Strange,\n}\n");
    assert_eq!(unknown.err().as_deref(), Some("the type Strange of the field a"));
}

#[test]
fn each_constant_and_layout_of_sys_rs_is_checked() {
    let sys = fs::read_to_string(here().join("src/sys.rs")).unwrap();
    let asserted = copies::assertions(&sys).unwrap();
    let copies = sys.lines().filter(|line| {
        let is_constant = line.starts_with("pub(crate) const ") && !line.contains(" fn ");
        (is_constant && !line.contains(": JSValue")) || line.starts_with("pub(crate) struct ")
    });
    for line in copies {
        let name = line.split([' ', ':']).nth(2).unwrap();
        let first_class = "sys.rs: Uint8ClampedArray";
        let is_checked = asserted.contains(&format!("sys.rs: {name}\""));
        assert!(is_checked || (name == "TYPED_ARRAYS" && asserted.contains(first_class)), "{name}");
    }
    // Nothing there is a copy in a form that is not looked for.
    assert_eq!(sys.matches("#[repr(C)]\n").count(), layouts(&asserted));
}

fn layouts(asserted: &str) -> usize {
    asserted
        .lines()
        .filter(|line| {
            line.starts_with("struct brunt_copy_") || line.starts_with("union brunt_copy_")
        })
        .count()
}
