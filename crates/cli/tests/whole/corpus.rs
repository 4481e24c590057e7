//! The scripts of `tests/k6`: each must behave as the answer says that was recorded from k6 beside it.

use std::path::Path;
use std::sync::Mutex;

use brunt_corpus::{Engine, Script, Stage, observe, scripts, table};

use crate::support::repository;

/// Runs of scripts at the same time.
const ABREAST: usize = 4;

#[test]
fn scripts_behave_as_in_k6() {
    let brunt = Path::new(env!("CARGO_BIN_EXE_brunt"));
    let stage = Stage::start(brunt).expect("the demo target starts");
    let all = scripts(&repository("tests/k6")).expect("the corpus can be read");
    let (left, failed) = (Mutex::new(all.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..ABREAST {
            scope.spawn(|| {
                loop {
                    let next = left.lock().expect("no other run panicked").next();
                    let Some(script) = next else { break };
                    if let Some(told) = differs(brunt, script, &stage) {
                        failed.lock().expect("no other run panicked").push(told);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no run panicked");
    let told = format!("{} of {} scripts behave as in k6", all.len() - failed.len(), all.len());
    println!("{told}");
    assert!(failed.is_empty(), "{told}\n{}", failed.join("\n"));
}

#[test]
fn the_page_on_compatibility_is_up_to_date() {
    let page = std::fs::read_to_string(repository("docs/compatibility.md")).expect("it is there");
    let made = table(&repository("tests/k6")).expect("the corpus can be read");
    assert!(page == made, "docs/compatibility.md is stale: run tests/k6/record --table");
}

/// The differences, if there are any.
fn differs(brunt: &Path, script: &Script, stage: &Stage) -> Option<String> {
    let found = script
        .expected()
        .and_then(|answer| Ok(answer.differences(&observe(Engine::Brunt(brunt), script, stage)?)));
    match found {
        Ok(differences) if differences.is_empty() => None,
        Ok(differences) => Some(format!("{}\n  {}", script.id(), differences.join("\n  "))),
        Err(error) => Some(format!("{}\n  {error:#}", script.id())),
    }
}
