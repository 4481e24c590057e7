//! Dependencies that a crate names in its manifest and nowhere else. (The manifest of `fuzz/` is not read: it has those of files that
//! it takes from other crates.)

use std::path::Path;

use super::{manifests, names};

/// Dependencies whose names no Rust source of their crate has, and why they are there.
const UNNAMED: [(&str, &str, &str); 1] = [(
    "quickjs",
    "rquickjs-sys",
    "only its C files are read, which `build.rs` finds by Cargo's metadata",
)];

/// The names of crates that differ from those of their packages.
const RENAMED: [(&str, &str); 1] = [("md-5", "md5")];

/// All Rust sources below a folder, in one text.
fn sources(folder: &Path, text: &mut String) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|end| end == "rs") {
            text.push_str(&std::fs::read_to_string(&path).expect("a source"));
        }
    }
}

/// Whether a source speaks of a crate: `name::`, `use name;`, `use name as …`.
fn speaks_of(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let before = source[..at].chars().next_back();
        let is_whole = !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '"');
        let behind = &source[at + name.len()..];
        let is_use = source[..at].ends_with("use ");
        is_whole && (behind.starts_with("::") || is_use && behind.starts_with([';', ' ']))
    })
}

/// The dependencies of a manifest that the sources beside it do not name.
fn unused(manifest: &Path) -> Vec<String> {
    let folder = manifest.parent().expect("a crate's folder");
    let own = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let text = std::fs::read_to_string(manifest).expect("a manifest");
    let of_program = ["src", "build.rs"];
    let of_all = ["src", "tests", "benches", "examples", "build.rs"];
    let mut found = Vec::new();
    for heading in
        text.lines().filter(|line| line.starts_with('[') && line.contains("dependencies]"))
    {
        let places = if heading == "[dependencies]" { &of_program[..] } else { &of_all[..] };
        let mut source = String::new();
        for place in places {
            let path = folder.join(place);
            sources(&path, &mut source);
            source.push_str(&std::fs::read_to_string(&path).unwrap_or_default());
        }
        for package in names(&text, heading) {
            let renamed = RENAMED.iter().find(|(from, _)| *from == package);
            let name = renamed.map_or(package.replace('-', "_"), |(_, to)| (*to).to_owned());
            let is_known = UNNAMED.iter().any(|(of, known, _)| (*of, *known) == (own, package));
            if !is_known && !speaks_of(&source, &name) {
                found.push(format!("{}: {package} of {heading}", manifest.display()));
            }
        }
    }
    found
}

#[test]
fn no_crate_names_a_dependency_that_it_does_not_use() {
    let found: Vec<String> = manifests().iter().flat_map(|path| unused(path)).collect();
    assert!(found.is_empty(), "no source speaks of these; take them out:\n{}", found.join("\n"));
}

#[test]
fn a_crate_is_spoken_of_by_its_whole_name() {
    for used in ["use log;", "use log as l;", "fn f() { log::warn!() }", "use {a, log::Level};"] {
        assert!(speaks_of(used, "log"), "{used}");
    }
    for other in ["catalog::new()", "log.push(1)", "\"log::x\"", "use logs::A;", "// log"] {
        assert!(!speaks_of(other, "log"), "{other}");
    }
}
