//! Builds the page from `web/` (a link to that of the repository, so that it is part of the package), with npm, and cuts it at the places for its data.
//!
//! All of it happens in a copy below `OUT_DIR`, so that the sources may be read-only and builds for several target folders don't meet.
//! Packages are fetched once (`npm ci`, from the lock file); as long as the lock file stays the same no network is needed again. A
//! `web/node_modules` with the same versions serves as well.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Node's first version that will do.
const NODE: u32 = 18;

/// The files beside `src/` that the page is made of.
const FILES: [&str; 5] =
    ["build.mjs", "package.json", "package-lock.json", "tsconfig.json", ".npmrc"];

/// The packages that are in the page, or make it.
const PACKAGES: [&str; 3] = ["esbuild", "preact", "uplot"];

/// The places for the data, in their order. `web/DATA.md` tells what goes there.
const PLACES: [&str; 3] = ["__BRUNT_TITLE__", "__BRUNT_CONFIG__", "__BRUNT_DATA__"];

fn main() -> ExitCode {
    let folder = |name: &str| PathBuf::from(env::var_os(name).unwrap_or_default());
    let sources = folder("CARGO_MANIFEST_DIR").join("web");
    for name in FILES.iter().chain(&["src"]) {
        println!("cargo::rerun-if-changed={}", sources.join(name).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    match build(&sources, &folder("OUT_DIR")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("cargo::error={problem}");
            ExitCode::FAILURE
        }
    }
}

fn build(sources: &Path, out: &Path) -> Result<(), String> {
    check_node()?;
    let copy = out.join("web");
    copied(sources, &copy).map_err(|error| {
        format!("the sources of the page, {}, can't be copied: {error}", sources.display())
    })?;
    packages(sources, &copy)?;
    run(
        Command::new("node").arg("build.mjs").current_dir(&copy),
        "the page of results can't be built",
    )?;
    let page = fs::read_to_string(copy.join("dist/page.html"))
        .map_err(|error| format!("the page was built, but can't be read: {error}"))?;
    let mut rest = &page[..];
    for (number, place) in PLACES.iter().enumerate() {
        let (before, behind) = rest
            .split_once(place)
            .filter(|(_, behind)| !behind.contains(place))
            .ok_or_else(|| format!("{place} does not stand in the page once and in its order"))?;
        write(out, number, before)?;
        rest = behind;
    }
    write(out, PLACES.len(), rest)
}

fn write(out: &Path, number: usize, part: &str) -> Result<(), String> {
    fs::write(out.join(format!("page.{number}.html")), part).map_err(|error| error.to_string())
}

/// One sentence if there is no Node that will do.
fn check_node() -> Result<(), String> {
    let help =
        "get Node 18 or newer and npm (`tools/need node npm` installs Debian's), then build again";
    let version = |command: &str| {
        let output = Command::new(command).arg("--version").output().ok()?;
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        text.trim().trim_start_matches('v').split('.').next()?.parse::<u32>().ok()
    };
    match version("node") {
        None => {
            return Err(format!(
                "the page of results is built with Node, and node is missing: {help}"
            ));
        }
        Some(old @ ..NODE) => {
            return Err(format!(
                "the page of results is built with Node, and this one, {old}, is too old: {help}"
            ));
        }
        Some(_) => {}
    }
    if version("npm").is_none() {
        return Err(format!("the page of results is built with npm, and npm is missing: {help}"));
    }
    Ok(())
}

/// Copies what the page is made of.
fn copied(sources: &Path, copy: &Path) -> io::Result<()> {
    match fs::remove_dir_all(copy.join("src")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(copy)?;
    for name in FILES {
        // Not with the rights of a read-only source: the next build writes it again.
        fs::write(copy.join(name), fs::read(sources.join(name))?)?;
    }
    folder(&sources.join("src"), &copy.join("src"))
}

fn folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            folder(&from, &to)?;
        } else {
            fs::write(to, fs::read(from)?)?;
        }
    }
    Ok(())
}

/// Sees to it that the packages are there.
fn packages(sources: &Path, copy: &Path) -> Result<(), String> {
    let modules = copy.join("node_modules");
    let stamp = copy.join("installed-lock.json");
    let lock = fs::read(copy.join("package-lock.json")).map_err(|error| error.to_string())?;
    let is_link = fs::symlink_metadata(&modules).is_ok_and(|about| about.is_symlink());
    if !is_link && fs::read(&stamp).is_ok_and(|installed| installed == lock) && modules.is_dir() {
        return Ok(());
    }
    let theirs = sources.join("node_modules");
    if is_link {
        fs::remove_file(&modules).map_err(|error| error.to_string())?;
    }
    if PACKAGES.iter().all(|name| versions_agree(&sources.join("package.json"), &theirs, name)) {
        // Packages of an earlier build may lie in the way.
        drop(fs::remove_dir_all(&modules));
        return symlink(&theirs, &modules).map_err(|error| error.to_string());
    }
    let mut npm = Command::new("npm");
    npm.args([
        "ci",
        "--omit=dev",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--prefer-offline",
    ]);
    run(
        npm.current_dir(copy),
        "the packages of the page can't be fetched (the first build needs the network or npm's cache; `npm ci` in web/ serves, too)",
    )?;
    fs::write(stamp, lock).map_err(|error| error.to_string())
}

/// Whether a package in a folder has the version that the page wants.
fn versions_agree(wanted: &Path, modules: &Path, name: &str) -> bool {
    let line = |path: &Path, key: &str| {
        let text = fs::read_to_string(path).ok()?;
        let line =
            text.lines().map(str::trim).find(|line| line.starts_with(&format!("\"{key}\": ")))?;
        line.split('"').nth(3).map(str::to_owned)
    };
    let there = line(&modules.join(name).join("package.json"), "version");
    there.is_some() && there == line(wanted, name)
}

/// Runs it; if it fails, the sentence and the end of what it said.
fn run(command: &mut Command, sentence: &str) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{sentence}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(8)..].join(" | ");
    Err(format!("{sentence}: {last}"))
}
