//! `tests/k6/record [--force] [PATH…]` runs scripts with k6 and keeps its answers beside them.
//! `tests/k6/record --check [PATH…]` runs them with Brunt and prints what differs.
//! `tests/k6/record --table` writes `docs/compatibility.md`.
//!
//! A path is a script or a folder; without one all scripts are meant, and only those without an answer are
//! recorded. An answer that was edited by hand (it has a `why`) is recorded again only by `--force`.
//! `K6` and `BRUNT` name the binaries.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a command line tool")]

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use brunt_corpus::{Engine, Script, Stage, observe, scripts};

fn main() -> anyhow::Result<()> {
    let (mut check, mut force, mut make_table, mut paths) = (false, false, false, Vec::new());
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "--check" => check = true,
            "--force" => force = true,
            "--table" => make_table = true,
            path => paths.push(PathBuf::from(path)),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../k6");
    if make_table {
        let page = root.join("../../docs/compatibility.md");
        return Ok(std::fs::write(page, brunt_corpus::table(&root)?)?);
    }
    let mut chosen = Vec::new();
    for path in &paths {
        if path.is_dir() && path.canonicalize()? == root.canonicalize()? {
            chosen.extend(scripts(path)?);
        } else if path.is_dir() {
            let inside = path.canonicalize()?;
            chosen.extend(scripts(&root)?.into_iter().filter(|script| {
                script.path.canonicalize().is_ok_and(|path| path.starts_with(&inside))
            }));
        } else if path.extension().is_some_and(|ending| ending != "json") {
            chosen.push(Script::read(&path.canonicalize()?)?);
        }
    }
    if paths.is_empty() {
        chosen = scripts(&root)?;
    }
    let brunt = binary("BRUNT", "target/debug/brunt");
    let stage = Stage::start(&brunt).context("the demo target (BRUNT names the binary)")?;
    if check {
        return compare(&brunt, &stage, &chosen);
    }
    let k6 = binary("K6", "k6");
    for script in chosen {
        let path = script.expected_path();
        let edited = script.expected().is_ok_and(|answer| answer.why.is_some());
        if !force && path.exists() && (edited || paths.is_empty()) {
            continue;
        }
        let answer = observe(Engine::K6(&k6), &script, &stage).with_context(|| script.id())?;
        std::fs::write(&path, answer.print())?;
        println!("recorded {}: exit {}", script.id(), answer.exit);
    }
    Ok(())
}

fn compare(brunt: &Path, stage: &Stage, chosen: &[Script]) -> anyhow::Result<()> {
    let mut same = 0;
    for script in chosen {
        let expected = match script.expected() {
            Ok(expected) => expected,
            Err(error) => {
                println!("{}\n  {error:#}", script.id());
                continue;
            }
        };
        let differences = expected.differences(&observe(Engine::Brunt(brunt), script, stage)?);
        if differences.is_empty() {
            same += 1;
        } else {
            println!("{}\n  {}", script.id(), differences.join("\n  "));
        }
    }
    println!("{same} of {} scripts behave as in k6", chosen.len());
    Ok(())
}

fn binary(variable: &str, default: &str) -> PathBuf {
    if let Some(path) = std::env::var_os(variable) {
        return path.into();
    }
    match (variable, std::env::var_os("CARGO_TARGET_DIR")) {
        ("BRUNT", Some(target)) => Path::new(&target).join("debug/brunt"),
        _ => default.into(),
    }
}
