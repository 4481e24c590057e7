//! House rules that a machine can check.

mod arrows;
mod book;
mod circles;
mod commands;
mod slots;
mod tokens;
mod unused;
mod words;

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::support::repository;

fn read(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Whether the file has this ending.
fn is_named(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|own| own == ending)
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
        &["duration", "moment", "spelling"],
        &[
            "metrics", "schedule", "script", "demo", "crypto", "html", "traffic", "find", "routes",
            "verdict", "leases",
        ],
        &[
            "fiber",
            "quickjs",
            "options",
            "summary",
            "records",
            "runfile",
            "correlate",
            "recorder",
            "cluster",
            "doctor",
        ],
        &["engine", "net", "page", "compare", "scribe", "imports", "nats"],
        &["http", "redis", "sql", "outputs", "prove"],
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
            let is_annex = ["script", "demo", "html"].contains(&name.as_str());
            assert!(floor_of(import) == 0 || !is_annex, "{name} imports {import}");
        }
    }
}

/// The manifests of all crates.
fn manifests() -> Vec<PathBuf> {
    let others = ["bench", "tests/corpus", "tests/journeys"];
    let mut paths: Vec<_> =
        others.iter().map(|folder| repository(&format!("{folder}/Cargo.toml"))).collect();
    for entry in std::fs::read_dir(repository("crates")).expect("there are crates") {
        paths.push(entry.expect("a folder").path().join("Cargo.toml"));
    }
    paths.sort();
    paths
}

#[test]
fn no_dependency_of_the_workspace_is_unused() {
    let mut used = BTreeSet::new();
    for path in manifests() {
        let text = std::fs::read_to_string(&path).expect("a manifest");
        let mut is_of_dependencies = false;
        for line in text.lines() {
            if line.starts_with('[') {
                is_of_dependencies = line.contains("dependencies]");
            } else if is_of_dependencies && let Some(name) = line.split(['=', '.', ' ']).next() {
                used.insert(name.to_owned());
            }
        }
    }
    for name in names(&read("Cargo.toml"), "[workspace.dependencies]") {
        assert!(used.contains(name), "no crate uses {name}: take it out of Cargo.toml");
    }
}

/// The scripts that install tools which no manifest names.
const SCRIPTS: [&str; 5] =
    [".ci/recipes", "tools/book", "tools/crates", "tools/cross", "tools/release"];

#[test]
fn dependencies_are_told_once_in_order_and_no_others() {
    let manifest = read("Cargo.toml");
    let crates = names(&manifest, "[workspace.dependencies]");
    let web: serde_json::Value =
        serde_json::from_str(&read("web/package.json")).expect("the page's manifest is JSON");
    let kinds = [&web["dependencies"], &web["devDependencies"]];
    let packages: Vec<&str> = kinds
        .into_iter()
        .flat_map(|kind| kind.as_object().expect("packages").keys().map(String::as_str))
        .collect();
    let scripts: String = SCRIPTS.into_iter().map(read).collect();
    let tools: Vec<&str> = scripts.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
    let page = read("docs/dependencies.md");
    let mut seen = BTreeSet::new();
    for table in page.split("\n## ").skip(1) {
        let known = match table.lines().next() {
            Some("In the page") => &packages,
            Some("Beside the tests") => &tools,
            _ => &crates,
        };
        let mut last = "";
        for row in table.lines().filter(|line| line.starts_with("| `")) {
            let cell = row.split('|').nth(1).unwrap_or_default();
            let told: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
            let first = told.first().copied().unwrap_or_default();
            assert!(last < first, "docs/dependencies.md: {first} stands behind {last}");
            last = first;
            for name in told {
                assert!(seen.insert(name), "docs/dependencies.md tells {name} twice");
                let family = name.strip_suffix('*');
                let is_there = known.iter().any(|known| {
                    *known == name || family.is_some_and(|family| known.starts_with(family))
                });
                // It is fetched for its C files alone, by the crate that compiles them.
                assert!(is_there || name == "rquickjs-sys", "docs/dependencies.md: no {name} here");
            }
        }
    }
    for package in packages {
        assert!(seen.contains(package), "docs/dependencies.md does not tell {package}");
    }
}

/// The pages of the repository, by their paths from its top.
fn pages() -> Vec<String> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder of pages") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let top = repository("");
    let mut found = Vec::new();
    for folder in ["docs", "examples", "bench", "deploy", "fuzz/seeds"] {
        collect(&top.join(folder), &mut found);
    }
    for folder in [".", "fuzz"] {
        let entries = std::fs::read_dir(top.join(folder)).expect("a folder of pages");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|it| it == "md")));
    }
    let from_top = |path: PathBuf| {
        let path = path.strip_prefix(&top).expect("below the top").to_owned();
        let path = path.strip_prefix(".").unwrap_or(&path).to_owned();
        path.into_os_string().into_string().expect("a plain name")
    };
    found.into_iter().map(from_top).collect()
}

/// The files of the repository that a page links to, as paths from the top.
fn links(page: &str, text: &str) -> Vec<PathBuf> {
    let folder = Path::new(page).parent().unwrap_or(Path::new("")).to_owned();
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
    let of_files = targets.filter(|target| !target.is_empty() && !target.contains(':'));
    let mut found = Vec::new();
    for target in of_files {
        let mut path = folder.clone();
        for part in Path::new(target).components() {
            match part {
                Component::ParentDir => drop(path.pop()),
                Component::CurDir => {}
                part => path.push(part),
            }
        }
        found.push(path);
    }
    found
}

/// The words between backticks, but not those of whole blocks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn spread(path: &str) -> Vec<String> {
    let whole = || vec![path.to_owned()];
    let Some((before, rest)) = path.split_once('{') else { return whole() };
    let Some((middle, after)) = rest.split_once('}') else { return whole() };
    middle.split(',').map(|one| format!("{before}{one}{after}")).collect()
}

/// The folders of the repository that paths in pages begin with.
const TOPS: [&str; 9] =
    ["crates/", "docs/", "bench/", "fuzz/", "tests/", "tools/", "deploy/", "examples/", ".ci/"];

#[test]
fn signposts_lead_to_files_that_exist() {
    let mut gone = Vec::new();
    for page in pages() {
        let text = read(&page);
        for target in links(&page, &text) {
            if !repository(&target.to_string_lossy()).exists() {
                gone.push(format!("{page} links to {}", target.display()));
            }
        }
        // Decisions and the changelog speak of their own day.
        if page.starts_with("docs/decisions/") || page == "CHANGELOG.md" {
            continue;
        }
        for line in text.lines() {
            // In a row, paths after the first go on from it, or from a folder above.
            let mut from: Option<String> = None;
            for word in quoted(line) {
                let is_plain =
                    |char: char| char.is_ascii_alphanumeric() || "._-/{},".contains(char);
                let is_path = word.contains('/') || is_named(word, "rs");
                let is_whole = TOPS.iter().any(|top| word.starts_with(top));
                let goes_on = page == "ARCHITECTURE.md" && from.is_some() && is_path;
                if !word.chars().all(is_plain) || !(is_whole || goes_on) {
                    continue;
                }
                for path in spread(word) {
                    let above = from.as_deref().map(Path::new).into_iter();
                    let found = above
                        .flat_map(Path::ancestors)
                        .map(|folder| folder.join(&path))
                        .chain([PathBuf::from(&path)])
                        .find(|place| repository(&place.to_string_lossy()).exists());
                    match found {
                        Some(place) => from = Some(place.to_string_lossy().into_owned()),
                        None => gone.push(format!("{page} speaks of {path}")),
                    }
                }
            }
        }
    }
    assert!(gone.is_empty(), "no such file:\n{}", gone.join("\n"));
}

#[test]
fn every_page_of_the_guide_is_linked_where_users_read() {
    let is_of_users =
        |page: &String| page.starts_with("docs/guide/") || page == "docs/compatibility.md";
    let mut linked = BTreeSet::new();
    for page in pages().into_iter().filter(|page| is_of_users(page) || page == "README.md") {
        let others = links(&page, &read(&page)).into_iter().filter(|to| to != Path::new(&page));
        linked.extend(others);
    }
    for page in pages().iter().filter(|page| is_of_users(page)) {
        let is_linked = linked.contains(Path::new(page));
        assert!(is_linked, "neither README.md nor a page of the guide links to {page}");
    }
}

/// Files that name one another in a circle can only be read together.
const CIRCLE_MAX: usize = 8;

#[test]
fn no_crate_has_a_large_circle_of_files() {
    let mut told = Vec::new();
    for manifest in manifests() {
        let folder = manifest.parent().expect("a crate's folder").join("src");
        for root in ["lib.rs", "main.rs"].map(|name| folder.join(name)) {
            if !root.exists() {
                continue;
            }
            for circle in circles::circles(&root, CIRCLE_MAX) {
                let (count, lines) = (circle.len(), circle.join("\n  "));
                told.push(format!("{}: a circle of {count} files\n  {lines}", root.display()));
            }
        }
    }
    assert!(
        told.is_empty(),
        "more than {CIRCLE_MAX} files name one another in a circle; move what they share into a file of its own:\n{}",
        told.join("\n")
    );
}
