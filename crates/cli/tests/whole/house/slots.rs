//! State of modules: each type of it is used by its own module alone, or lies in a file that is no module.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::repository;

/// The sources below a folder, by the first part of their paths: `http` for `http.rs` and `http/state.rs`.
fn by_room(folder: &Path, room: Option<&str>, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let room = room.unwrap_or(&stem);
        if path.is_dir() {
            by_room(&path, Some(room), found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            found.push((room.to_owned(), text));
        }
    }
}

/// The names that stand behind each `mark` in a text.
fn behind<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let name = |rest: &'a str| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
    text.split(mark).skip(1).filter_map(name).filter(|name| !name.is_empty()).collect()
}

/// A use of state of another module.
fn trespasses(sources: &[(String, String)], modules: &[String]) -> Vec<String> {
    let mut homes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let declared = [
        "VuSlot for ",
        "CoreSlot for ",
        "\nstruct ",
        "\npub(crate) struct ",
        "\npub(super) struct ",
    ];
    for (room, text) in sources {
        for name in declared.iter().flat_map(|mark| behind(text, mark)) {
            homes.entry(name).or_default().push(room);
        }
    }
    let mut found = Vec::new();
    for (room, text) in sources {
        for name in ["slot::<", "slot_if_made::<"].iter().flat_map(|mark| behind(text, mark)) {
            let homes = homes.get(name).map(Vec::as_slice).unwrap_or_default();
            let is_shared = homes.iter().any(|home| !modules.iter().any(|module| module == home));
            if !is_shared && !homes.contains(&room.as_str()) && !homes.is_empty() {
                found.push(format!("{room} uses {name}, the state of {}", homes.join(", ")));
            }
        }
    }
    found
}

/// The modules that scripts import, by their folders: the second list of `api.rs`' imports.
fn modules() -> Vec<String> {
    let api = std::fs::read_to_string(repository("crates/modules/src/api.rs")).expect("the list");
    let (_, list) = api.split_once("static MODULES").expect("the list");
    let (list, _) = list.split_once("];").expect("its end");
    let room = |line: &str| line.trim().strip_prefix('&')?.split("::").next().map(str::to_owned);
    list.lines().filter_map(room).collect()
}

#[test]
fn no_module_reads_the_state_of_another() {
    let mut sources = Vec::new();
    by_room(&repository("crates/modules/src"), None, &mut sources);
    let modules = modules();
    assert!(modules.iter().any(|name| name == "http") && sources.len() > 100, "{modules:?}");
    let found = trespasses(&sources, &modules);
    assert!(found.is_empty(), "move it into a file of its own:\n{}", found.join("\n"));
}

#[test]
fn a_trespass_is_found_and_shared_files_are_not() {
    let of = |room: &str, text: &str| (room.to_owned(), text.to_owned());
    let sources = [
        of("http", "impl VuSlot for HttpState {}\nfn f() { host.slot::<HttpState>(); }"),
        of("state", "impl VuSlot for VuState {}"),
        of("ws", "fn f() { host.slot::<VuState>(); host.slot_if_made::<HttpState>(); }"),
    ];
    let modules = ["http".to_owned(), "ws".to_owned()];
    assert_eq!(trespasses(&sources, &modules), ["ws uses HttpState, the state of http"]);
}
