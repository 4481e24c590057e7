//! Every script in `examples/` does what its first lines say, against the embedded demo target.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

#[expect(dead_code, reason = "this file needs only a part of it")]
#[path = "whole/support.rs"]
mod support;

use self::support::{Told, brunt, repository};

/// So many run at once: each wants a core of its own.
const AT_ONCE: usize = 2;

/// A script, what stands behind it on the command line, and how it must end.
struct Example {
    name: &'static str,
    more: &'static str,
    code: i32,
}

const fn example(name: &'static str) -> Example {
    Example { name, more: "", code: 0 }
}

const EXAMPLES: &[Example] = &[
    Example { name: "caching.js", more: "-e SHORT=1", code: 0 },
    Example { name: "thresholds-abort.js", more: "-e FAIL=0.9", code: 99 },
    example("thresholds-abort.js"),
    example("stale-reads.js"),
    example("scenarios.js"),
    example("ramping-arrival.js"),
    example("groups-and-checks.js"),
    example("async.js"),
    example("basic-auth.js"),
    example("batch.js"),
    example("compression.js"),
    example("cookies.js"),
    example("custom-metrics.js"),
    example("form.js"),
    example("get.js"),
    example("modules/main.js"),
    example("post-json.js"),
    example("redirects.js"),
    example("setup-teardown.js"),
    example("shared-array.js"),
    example("summary.js"),
    example("typescript.ts"),
    example("upload.js"),
];

fn run(example: &Example) -> Told {
    let script = repository("examples").join(example.name);
    brunt(&format!("run --quiet --demo {}", example.more)).word(&script).told()
}

#[test]
fn every_example_ends_as_it_says() {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(example) = EXAMPLES.get(next.fetch_add(1, Relaxed)) {
                    let told = run(example);
                    if told.code != example.code {
                        wrong.lock().unwrap().push((example.name, told));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_script_in_examples_is_run_and_is_in_the_readme() {
    let folder = repository("examples");
    let mut there = BTreeSet::new();
    for (inside, prefix) in [(folder.clone(), ""), (folder.join("modules"), "modules/")] {
        for entry in std::fs::read_dir(inside).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_script = matches!(
                Path::new(&name).extension().and_then(|end| end.to_str()),
                Some("js" | "ts")
            );
            // Of the modules only the entry is a test.
            if is_script && (prefix.is_empty() || name == "main.js") {
                there.insert(format!("{prefix}{name}"));
            }
        }
    }
    let run: BTreeSet<String> = EXAMPLES.iter().map(|example| example.name.to_owned()).collect();
    assert_eq!(there, run);
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for name in there {
        assert!(readme.contains(&format!("]({name})")), "{name} is not in examples/README.md");
    }
}

#[test]
fn the_caching_study_shows_its_shape_and_warns_of_names_with_spaces() {
    let script = repository("examples/caching.js");
    let mut call = brunt("run --quiet --demo -e SHORT=1 --summary-export summary.json").word(script);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("level=warning"), "{}", told.stderr);
    for name in ["No cache duration", "Answers from a cache"] {
        assert!(told.stderr.contains(name) && told.stdout.contains(name), "{told:?}");
    }
    let summary: serde_json::Value = serde_json::from_str(&call.read("summary.json")).unwrap();
    let median = |name: &str| summary["metrics"][name]["med"].as_f64().unwrap();
    let (none, redis) = (median("No cache duration"), median("Redis duration"));
    assert!(none > 4.0 * redis, "none {none}, redis {redis}");
    for name in ["Memory cache duration", "Lazy cache duration", "Dictionary duration"] {
        let memory = median(name);
        assert!(redis > memory + 20.0, "redis {redis}, {name} {memory}");
    }
}
