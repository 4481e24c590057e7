//! The verdict on a run: found, named, told wherever it is told, and in nothing that is k6's alone. How often it is right is
//! measured by `bench/scripts/verdict`.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::support::{DemoServer, Told, brunt};

/// Asks the target again and again, and hands on the data of the summary.
const SCRIPT: &str = "import http from 'k6/http';
import { sleep } from 'k6';
export default function () { http.get(`${__ENV.TARGET}/`); sleep(0.1); }
export function handleSummary(data) { return { 'data.json': JSON.stringify(data) }; }";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn names(verdict: &Value) -> Vec<&str> {
    let findings = verdict["findings"].as_array().expect("a list of findings");
    findings.iter().map(|finding| finding["name"].as_str().expect("a name")).collect()
}

/// Runs with few open files.
fn starved(target: &str, flags: &str, options: &str, folder: &std::path::Path) -> (i32, String) {
    let script = format!("export const options = {{ {options} }};\n{SCRIPT}");
    std::fs::write(folder.join("s.js"), script).expect("a file for the test");
    let line =
        format!("ulimit -n 60; exec \"$0\" run -q {flags} -u 100 -d 2s -e TARGET={target} s.js");
    let ran = Command::new("sh")
        .args(["-c", &line, env!("CARGO_BIN_EXE_brunt")])
        .current_dir(folder)
        .env_clear()
        .output()
        .expect("there is a shell");
    let code = ran.status.code().unwrap_or(-1);
    (code, String::from_utf8_lossy(&ran.stderr).into_owned())
}

#[test]
fn a_run_without_open_files_says_so_everywhere() {
    let demo = DemoServer::start();
    let folder = tempfile::tempdir().expect("a folder");
    let (code, stderr) = starved(&demo.url, "--strict --out run=a.brunt", "", folder.path());
    assert_eq!(code, 98, "{stderr}");
    assert!(stderr.contains("finding=out-of-files"), "{stderr}");
    assert!(stderr.contains("requests met \\\"too many open files"), "{stderr}");
    let data = std::fs::read_to_string(folder.path().join("data.json")).expect("data");
    let data = json(&data);
    assert_eq!(data["verdict"]["level"], "invalid", "{}", data["verdict"]);
    assert!(names(&data["verdict"]).contains(&"out-of-files"));

    let path = folder.path().join("a.brunt");
    let sql = rusqlite::Connection::open(&path).expect("a database");
    let text = |query: &str| sql.query_row(query, [], |row| row.get::<_, String>(0)).expect(query);
    assert_eq!(text("SELECT level FROM verdict"), "invalid");
    assert_eq!(text("SELECT level FROM finding WHERE name = 'out-of-files'"), "invalid");
    let report = |format: &str| {
        let told = brunt("report").word(&path).words(&format!("--format {format}")).told();
        assert_eq!(told.code, 0, "{told:?}");
        told.stdout
    };
    assert!(report("text").contains("✗ out-of-files (invalid, "));
    assert!(report("markdown").contains("- `out-of-files` (invalid, "));
    assert!(report("junit").contains("name=\"verdict\""));
    assert!(names(&json(&report("json"))["verdict"]).contains(&"out-of-files"));
    let told = brunt("runs").word(folder.path()).told();
    assert!(told.stdout.contains("finished, invalid"), "{told:?}");
    let told = brunt("runs --json").word(folder.path()).told();
    assert_eq!(json(&told.stdout)[0]["trust"], "invalid");
}

#[test]
fn only_strict_changes_the_exit_code_and_thresholds_come_first() {
    let demo = DemoServer::start();
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(starved(&demo.url, "", "", folder.path()).0, 0);
    let judged = "thresholds: { http_req_failed: ['rate<0.01'] }";
    let (code, stderr) = starved(&demo.url, "--strict", judged, folder.path());
    assert_eq!(code, 99, "{stderr}");
}

/// Six seconds, in which hardly anything is measured.
fn six_seconds(flags: &str, options: &str) -> (Told, Value, String) {
    let demo = DemoServer::start();
    let script = format!("export const options = {{ {options} }};\n{SCRIPT}");
    let line = format!("run -q {flags} --summary-export e.json -d 6s -e TARGET={} s.js", demo.url);
    let mut run = brunt(&line).file("s.js", script);
    let told = run.told();
    let data = json(&run.read("data.json"));
    // Other tests may take the CPU meanwhile, which is found, too.
    let is_refused = flags.contains("--strict") && data["verdict"]["level"] == "invalid";
    assert_eq!(told.code, if is_refused { 98 } else { 0 }, "{told:?}");
    (told, data, run.read("e.json"))
}

#[test]
fn numbers_on_few_samples_are_doubtful_and_k6s_file_does_not_tell() {
    let options = "thresholds: { http_req_duration: ['p(99)<60000', 'med<60000'] }";
    let (told, data, export) = six_seconds("--strict", options);
    assert!(names(&data["verdict"]).contains(&"too-few-samples"), "{}", data["verdict"]);
    assert!(told.stderr.contains("finding=too-few-samples"), "{}", told.stderr);
    let export = json(&export);
    let keys: BTreeSet<&str> =
        export.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, BTreeSet::from(["metrics", "root_group"]));
}

#[test]
fn the_newer_summary_tells_the_verdict() {
    let (_, data, export) = six_seconds("--new-machine-readable-summary", "");
    assert!(["ok", "doubtful", "invalid"].contains(&data["verdict"]["level"].as_str().unwrap()));
    assert!(json(&export)["verdict"]["findings"].is_array());
}

#[test]
fn outputs_get_metrics_about_the_generator_and_summaries_do_not() {
    let demo = DemoServer::start();
    let line = "run -q --out json=o.json --out csv=o.csv --out run=a.brunt --summary-export e.json -d 2500ms";
    let run = |flags: &str, options: &str| {
        let script = format!("export const options = {{ {options} }};\n{SCRIPT}");
        let mut run = brunt(line)
            .words(flags)
            .words(&format!("-e TARGET={} s.js", demo.url))
            .file("s.js", script);
        let told = run.told();
        assert_eq!(told.code, 0, "{told:?}");
        let has = |file: &str| run.read(file).contains("generator_");
        (has("o.json"), has("o.csv"), has("data.json"), has("e.json"))
    };
    assert_eq!(run("", ""), (true, true, false, false));
    assert_eq!(run("--no-generator-metrics", ""), (false, false, false, false));
    // Asked for, they are where all metrics are.
    let judged = "thresholds: { 'generator_memory': ['value>1000000'] }";
    assert_eq!(run("", judged), (true, true, true, true));
}

#[test]
fn a_threshold_may_judge_the_verdict() {
    let demo = DemoServer::start();
    let folder = tempfile::tempdir().expect("a folder");
    let options = "thresholds: { verdict: [{ threshold: 'value<2', exitCode: 21 }] }";
    let flags = "--summary-export e.json --out run=a.brunt";
    let (code, stderr) = starved(&demo.url, flags, options, folder.path());
    assert_eq!(code, 21, "{stderr}");
    let told = brunt("report").word(folder.path().join("a.brunt")).told();
    assert!(told.stdout.contains("✗ 'value<2 exitCode=21' value=2"), "{told:?}");
    assert!(stderr.contains("thresholds on metrics 'verdict' have been crossed"), "{stderr}");
    let mut fine = brunt("run -q --no-color s.js").file(
        "s.js",
        "
        export const options = { thresholds: { verdict: ['value<2', 'value==0'] } };
        export default function () {}",
    );
    let told = fine.told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("✓ 'value==0' value=0"), "{told:?}");
    // A metric of the script keeps its name.
    let mut own = brunt("run -q --no-color s.js").file(
        "s.js",
        "
        import { Trend } from 'k6/metrics';
        const verdict = new Trend('verdict');
        export const options = { thresholds: { verdict: ['max==7'] } };
        export default function () { verdict.add(7) }",
    );
    let told = own.told();
    assert_eq!(told.code, 0, "{told:?}");
}
