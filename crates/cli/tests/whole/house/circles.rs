//! Circles of files: those of a crate that name one another, directly or by way of others.
//!
//! An arrow leads from a file to the one that holds what a path in it names: `crate::…`, `super::…`, `self::…`, a child's
//! name, or a name that `use` brought in. Names that are passed on (`pub use`) lead to where they come from. A path that ends
//! with a module is no arrow: only what is used of it counts. Tests are left out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::tokens::words;

/// The longest chain of re-exports that is followed.
const DEPTH_MAX: u32 = 20;

/// A module, which may be a part of a file.
struct Module {
    file: usize,
    parent: Option<usize>,
    children: HashMap<String, usize>,
    /// Names that `use` brought in, with their paths.
    uses: HashMap<String, Vec<String>>,
    /// Paths before `::*`.
    globs: Vec<Vec<String>>,
    /// Names that are made here.
    items: HashSet<String>,
    paths: Vec<Vec<String>>,
}

/// A crate, from its `lib.rs` or `main.rs` on.
struct Crate {
    files: Vec<PathBuf>,
    modules: Vec<Module>,
}

/// The files of each circle of more than `most` files, each with those of the circle that it names.
pub(super) fn circles(root: &Path, most: usize) -> Vec<Vec<String>> {
    let mut all = Crate { files: Vec::new(), modules: Vec::new() };
    let folder = root.parent().expect("the folder of a file");
    all.file(None, root, folder);
    let arrows = all.arrows();
    let shown = |file: usize| {
        let path = &all.files[file];
        path.strip_prefix(folder).unwrap_or(path).display().to_string()
    };
    let large = strong(&arrows).into_iter().filter(|circle| circle.len() > most);
    large
        .map(|circle| {
            let line = |file: &usize| {
                let inner = arrows[*file].intersection(&circle).copied().map(shown);
                format!("{} -> {}", shown(*file), inner.collect::<Vec<_>>().join(", "))
            };
            circle.iter().map(line).collect()
        })
        .collect()
}

impl Crate {
    /// Reads a file and the modules in it; `folder` is where those stand that have files of their own.
    fn file(&mut self, parent: Option<usize>, path: &Path, folder: &Path) -> usize {
        let text = std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self.files.push(path.to_owned());
        self.module(parent, self.files.len() - 1, folder, &words(&text))
    }

    fn module(
        &mut self,
        parent: Option<usize>,
        file: usize,
        folder: &Path,
        words: &[String],
    ) -> usize {
        let own = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            children: HashMap::new(),
            uses: HashMap::new(),
            globs: Vec::new(),
            items: HashSet::new(),
            paths: Vec::new(),
        });
        let at = |index: usize| words.get(index).map_or("", String::as_str);
        let mut next = 0;
        while next < words.len() {
            let before = if next == 0 { ";" } else { at(next - 1) };
            match at(next) {
                "#" if at(next + 1) == "[" => {
                    let end = closed(words, next + 1);
                    let is_of_tests = at(next + 2) == "cfg"
                        && words[next + 3..end].iter().any(|word| word == "test")
                        && !words[next + 3..end].iter().any(|word| word == "not");
                    next = if is_of_tests { item_end(words, end) } else { end };
                }
                // Where something may be seen from is no use of it.
                "pub" if at(next + 1) == "(" => next = closed(words, next + 1),
                "mod" if matches!(at(next + 2), ";" | "{") => {
                    let name = at(next + 1).to_owned();
                    let inner = folder.join(&name);
                    let child = if at(next + 2) == ";" {
                        let path = folder.join(format!("{name}.rs"));
                        next += 3;
                        self.file(Some(own), &path, &inner)
                    } else {
                        let end = closed(words, next + 2);
                        let child = self.module(Some(own), file, &inner, &words[next + 3..end - 1]);
                        next = end;
                        child
                    };
                    self.modules[own].children.insert(name, child);
                }
                "use" if matches!(before, ";" | "{" | "}" | ")" | "]" | "pub") => {
                    next = self.modules[own].take_use(words, next + 1, &[]) + 1;
                }
                word => {
                    let is_name = |word: &str| {
                        word.starts_with(|first: char| first.is_alphabetic() || first == '_')
                    };
                    if matches!(
                        word,
                        "struct" | "enum" | "fn" | "trait" | "const" | "static" | "type" | "union"
                    ) {
                        self.modules[own].items.insert(at(next + 1).to_owned());
                    }
                    let mut path = vec![word.to_owned()];
                    let mut end = next + 1;
                    if is_name(word) && before != "::" {
                        while at(end) == "::" && is_name(at(end + 1)) {
                            path.push(at(end + 1).to_owned());
                            end += 2;
                        }
                    }
                    if path.len() > 1 {
                        self.modules[own].paths.push(path);
                    }
                    next = end;
                }
            }
        }
        own
    }

    /// By file: the files that it names.
    fn arrows(&self) -> Vec<BTreeSet<usize>> {
        let mut arrows = vec![BTreeSet::new(); self.files.len()];
        for (index, module) in self.modules.iter().enumerate() {
            for path in &module.paths {
                if let Some(found) = self.home(index, path, DEPTH_MAX) {
                    let file = self.modules[found].file;
                    if file != module.file {
                        arrows[module.file].insert(file);
                    }
                }
            }
        }
        arrows
    }

    /// The module that holds what a path names, seen from a module of this crate.
    fn home(&self, from: usize, path: &[String], depth: u32) -> Option<usize> {
        let depth = depth.checked_sub(1)?;
        let here = &self.modules[from];
        let (mut at, mut rest) = (from, path);
        match path.first()?.as_str() {
            "crate" => (at, rest) = (0, &path[1..]),
            "self" | "super" => {
                while let Some((first @ ("self" | "super"), after)) =
                    rest.split_first().map(|(first, after)| (first.as_str(), after))
                {
                    if first == "super" {
                        at = self.modules[at].parent?;
                    }
                    rest = after;
                }
            }
            name if here.children.contains_key(name) => {}
            name => {
                let known = here.uses.get(name).filter(|known| *known != path)?;
                let whole: Vec<String> = known.iter().chain(&path[1..]).cloned().collect();
                return self.home(from, &whole, depth);
            }
        }
        while let Some((first, after)) = rest.split_first() {
            let Some(child) = self.modules[at].children.get(first) else { break };
            (at, rest) = (*child, after);
        }
        let (name, after) = rest.split_first()?;
        let module = &self.modules[at];
        if module.items.contains(name) {
            return Some(at);
        }
        if let Some(known) = module.uses.get(name) {
            let whole: Vec<String> = known.iter().chain(after).cloned().collect();
            return self.home(at, &whole, depth).or(Some(at));
        }
        let of_glob = module.globs.iter().find_map(|glob| {
            let whole: Vec<String> = glob.iter().chain([name]).cloned().collect();
            let found = self.home(at, &whole, depth)?;
            self.modules[found].items.contains(name).then_some(found)
        });
        Some(of_glob.unwrap_or(at))
    }
}

impl Module {
    /// Takes the words behind `use` up to the end of one path, or of a list of paths; gives the place behind them.
    fn take_use(&mut self, words: &[String], mut next: usize, before: &[String]) -> usize {
        let mut path = before.to_vec();
        loop {
            match words[next].as_str() {
                "{" => {
                    next += 1;
                    while words[next] != "}" {
                        next = self.take_use(words, next, &path);
                        if words[next] == "," {
                            next += 1;
                        }
                    }
                    return next + 1;
                }
                "*" => {
                    self.globs.push(path.clone());
                    path.push("*".to_owned());
                    self.paths.push(path);
                    return next + 1;
                }
                "::" => next += 1,
                word => {
                    if word != "self" || path.is_empty() {
                        path.push(word.to_owned());
                    }
                    next += 1;
                    if words[next] == "::" {
                        continue;
                    }
                    let mut name = path.last().cloned().unwrap_or_default();
                    if words[next] == "as" {
                        name.clone_from(&words[next + 1]);
                        next += 2;
                    }
                    self.uses.insert(name, path.clone());
                    self.paths.push(path);
                    return next;
                }
            }
        }
    }
}

/// The place behind the bracket that closes the one at `open`.
fn closed(words: &[String], open: usize) -> usize {
    let mut depth = 0;
    for (index, word) in words.iter().enumerate().skip(open) {
        match word.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    words.len()
}

/// The place behind an item and the attributes before it.
fn item_end(words: &[String], mut next: usize) -> usize {
    while words.get(next).is_some_and(|word| word == "#") {
        next = closed(words, next + 1);
    }
    while let Some(word) = words.get(next) {
        match word.as_str() {
            ";" => return next + 1,
            "{" => return closed(words, next),
            "(" | "[" => next = closed(words, next),
            _ => next += 1,
        }
    }
    next
}

/// The circles: sets of files each of which leads to each other one.
fn strong(arrows: &[BTreeSet<usize>]) -> Vec<BTreeSet<usize>> {
    let mut reversed = vec![BTreeSet::new(); arrows.len()];
    for (from, all) in arrows.iter().enumerate() {
        for to in all {
            reversed[*to].insert(from);
        }
    }
    let reach = |start: usize, arrows: &[BTreeSet<usize>]| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(&arrows[next]);
            }
        }
        seen
    };
    let mut left: BTreeSet<usize> = (0..arrows.len()).collect();
    let mut circles = BTreeMap::new();
    while let Some(start) = left.first().copied() {
        let (to, from) = (reach(start, arrows), reach(start, &reversed));
        let circle: BTreeSet<usize> = to.intersection(&from).copied().collect();
        left.retain(|file| !circle.contains(file));
        circles.insert(start, circle);
    }
    circles.into_values().filter(|circle| circle.len() > 1).collect()
}

#[test]
fn a_circle_is_found_through_what_is_passed_on_and_not_through_tests() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("its folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    file("lib.rs", "mod a;\nmod b;\nmod c;\npub use b::Bee;\n");
    file("a.rs", "mod inner;\nuse crate::Bee;\npub struct Ay(Bee);\n");
    file("a/inner.rs", "fn f() -> super::Ay { loop {} }\n");
    file("b.rs", "//! crate::c::See\nuse crate::a;\npub struct Bee(Box<a::Ay>, crate::c::See);\n");
    file("c.rs", "pub struct See;\n#[cfg(test)]\nmod tests {\n    use crate::a::Ay;\n}\n");
    let found = circles(&folder.path().join("lib.rs"), 1);
    assert_eq!(found, [["a.rs -> b.rs", "b.rs -> a.rs"]]);
    assert!(circles(&folder.path().join("lib.rs"), 2).is_empty());
    file("a.rs", "mod inner;\nuse crate::Bee;\npub struct Ay(Bee, inner::In, crate::c::See);\n");
    file("a/inner.rs", "pub struct In(Box<super::Ay>);\n");
    file("c.rs", "use super::{a::{self as other}, b};\npub struct See(Box<other::Ay>);\n");
    let found = circles(&folder.path().join("lib.rs"), 1);
    assert_eq!(found.concat().len(), 4, "{found:?}");
}
