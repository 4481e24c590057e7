//! House rules that a machine can check.

use crate::support::repository;

fn read(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names under a heading of a manifest.
fn names<'a>(manifest: &'a str, heading: &str) -> Vec<&'a str> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != heading)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['=', '.', ' ']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .collect()
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = read("Cargo.toml");
    let reasons = read("docs/dependencies.md");
    for name in names(&manifest, "[workspace.dependencies]") {
        let family = name.split('_').next().unwrap_or(name);
        let told = reasons.contains(&format!("`{name}`"))
            || reasons.contains(&format!("`{family}_*`"))
            || name.starts_with("brunt-");
        assert!(told, "docs/dependencies.md has no line for {name}");
    }
}

#[test]
fn no_crate_imports_from_its_own_floor_or_above() {
    let floors: [&[&str]; 8] = [
        &["duration"],
        &["metrics", "schedule", "results", "script", "demo", "crypto", "html", "spelling"],
        &["fiber", "quickjs", "options", "report", "outputs"],
        &["engine", "net"],
        &["http", "redis"],
        &["js", "attack", "websocket", "grpc", "secrets"],
        &["modules"],
        &["cli"],
    ];
    let floor_of = |name: &str| {
        let floor = floors.iter().position(|names| names.contains(&name));
        floor.unwrap_or_else(|| panic!("ARCHITECTURE.md names no floor for {name}"))
    };
    for entry in std::fs::read_dir(repository("crates")).expect("there are crates") {
        let entry = entry.expect("a folder");
        let name = entry.file_name().into_string().expect("a name");
        let manifest = read(&format!("crates/{name}/Cargo.toml"));
        for import in names(&manifest, "[dependencies]") {
            let Some(import) = import.strip_prefix("brunt-") else { continue };
            assert!(floor_of(import) < floor_of(&name), "{name} imports {import}");
            assert!(floor_of(import) > 0 || !["script", "demo", "html"].contains(&name.as_str()));
        }
    }
}
