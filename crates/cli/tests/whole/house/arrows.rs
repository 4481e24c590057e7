//! The drawing of the crates in ARCHITECTURE.md, held against their manifests.

use std::collections::{BTreeMap, BTreeSet};

use super::{names, read};
use crate::support::repository;

/// The arrows of each crate.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The arrows that the page draws: `a -> b c`, several on a line.
fn drawn(page: &str) -> Arrows {
    let mut arrows = Arrows::new();
    for line in page.lines().filter(|line| line.contains(" -> ") && !line.starts_with('|')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut from = "";
        for (index, &word) in words.iter().enumerate() {
            if words.get(index + 1) == Some(&"->") {
                from = word;
            } else if word != "->" && !from.is_empty() {
                arrows.entry(from.to_owned()).or_default().insert(word.to_owned());
            }
        }
    }
    arrows
}

/// The arrows of the manifests.
fn real() -> Arrows {
    let mut arrows = Arrows::new();
    for entry in std::fs::read_dir(repository("crates")).expect("a folder") {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        let manifest = read(&format!("crates/{name}/Cargo.toml"));
        let ours = names(&manifest, "[dependencies]").into_iter();
        let ours = ours.filter_map(|name| name.strip_prefix("brunt-")).map(str::to_owned);
        arrows.insert(name, ours.collect());
    }
    arrows
}

/// All crates that a crate leads to.
fn reach<'a>(arrows: &'a Arrows, from: &str, seen: &mut BTreeSet<&'a str>) {
    for to in arrows.get(from).into_iter().flatten() {
        if seen.insert(to) {
            reach(arrows, to, seen);
        }
    }
}

#[test]
fn the_drawing_of_the_crates_is_true() {
    let page = read("ARCHITECTURE.md");
    let (_, floors) = page.split_once("## The floors").expect("the heading");
    let (floors, _) = floors.split_once("An arrow that a longer way").expect("the end");
    let (drawn, real) = (drawn(floors), real());
    for (from, all) in &drawn {
        for to in all {
            let is_real = real.get(from).is_some_and(|real| real.contains(to));
            assert!(is_real, "ARCHITECTURE.md draws {from} -> {to}, which no manifest has");
        }
    }
    for (from, all) in &real {
        assert!(page.contains(&format!("| `{from}` |")), "ARCHITECTURE.md has no row for {from}");
        let mut seen = BTreeSet::new();
        reach(&drawn, from, &mut seen);
        for to in all {
            assert!(seen.contains(to.as_str()), "ARCHITECTURE.md does not draw {from} -> {to}");
        }
    }
}

#[test]
fn several_arrows_may_share_a_line() {
    let arrows = drawn("cli    -> a b\nhttp -> net        js -> engine quickjs\n| `x` | a -> b |");
    let of = |name: &str| arrows[name].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(
        (of("cli"), of("http"), of("js")),
        (vec!["a", "b"], vec!["net"], vec!["engine", "quickjs"])
    );
}
