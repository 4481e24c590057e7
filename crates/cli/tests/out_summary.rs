//! The end of a test, as people and programs read it: the same as k6's, but for what is listed here.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::fmt::Write as _;

use serde_json::Value;

#[expect(dead_code, reason = "this file needs only a part of it")]
#[path = "whole/support.rs"]
mod support;

use self::support::{Told, brunt, repository};

const SCRIPT: &str = include_str!("k6/summary.js");

/// Numbers become `N`, times `T`, blanks within a line one blank, `kB` `B`: what is left is the same in
/// every run. So were k6's answers masked.
fn masked(text: &str) -> String {
    let mut out = String::new();
    for line in text.split('\n') {
        let body = line.trim_start_matches(' ');
        let mut masked = " ".repeat(line.len() - body.len());
        let mut rest = body;
        let mut before = ' ';
        while let Some(c) = rest.chars().next() {
            let is_start = c.is_ascii_digit() && !before.is_alphanumeric() && before != '_';
            let length = rest.find(|c: char| !"0123456789.hmsnµ".contains(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(if is_start { length } else { c.len_utf8() });
            let goes_on = after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            match word {
                word if is_start && !goes_on => {
                    masked.push(if word.contains(char::is_alphabetic) { 'T' } else { 'N' });
                }
                " " if before == ' ' => {}
                word => masked.push_str(word),
            }
            before = word.chars().next_back().unwrap_or(' ');
            rest = after;
        }
        out.push_str(&masked.trim_end().replace("N kB", "N B"));
        out.push('\n');
    }
    out.pop();
    out
}

fn summary(mode: &str) -> Told {
    brunt(&format!(
        "run --quiet --demo --no-routes --show-failures 0 --summary-mode {mode} summary.js"
    ))
    .file("summary.js", SCRIPT)
    .told()
}

#[test]
fn the_summary_is_laid_out_as_k6_lays_it_out() {
    let modes = [
        ("compact", include_str!("k6/summary.compact.txt")),
        ("full", include_str!("k6/summary.full.txt")),
        ("legacy", include_str!("k6/summary.legacy.txt")),
    ];
    std::thread::scope(|scope| {
        for (mode, expected) in modes {
            scope.spawn(move || {
                let told = summary(mode);
                assert_eq!(told.code, 99, "{told:?}");
                assert_eq!(masked(&told.stdout), expected, "{mode}");
                let error = told.error();
                let crossed = "thresholds on metrics 'http_req_duration, my_counter, my_rate' have \
                               been crossed";
                assert!(error.contains(crossed), "{error}");
            });
        }
    });
}

#[test]
fn progress_in_a_pipe_is_a_line_each_second_and_the_summary_stands_before_the_last() {
    let script = "import { sleep } from 'k6';
        export const options = { scenarios: {
            a: { executor: 'constant-vus', vus: 2, duration: '1500ms', gracefulStop: '2s' },
            bee: { executor: 'per-vu-iterations', vus: 1, iterations: 3, startTime: '100ms' },
        } };
        export default () => sleep(0.1);";
    let told = brunt("run s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    let lines: Vec<&str> = told.stdout.lines().collect();
    let at = |part: &str| {
        let found = lines.iter().position(|line| line.contains(part));
        found.unwrap_or_else(|| panic!("no {part:?} in {}", told.stdout))
    };
    // As k6: `running`, one line per scenario, an empty line before each block.
    let first = at("running (00m01.");
    assert_eq!(lines[first - 1], "");
    assert!(lines[first + 1].starts_with("a      [ "), "{}", lines[first + 1]);
    assert!(lines[first + 1].contains("% ] 2 VUs  1."), "{}", lines[first + 1]);
    let done = lines[first + 2];
    assert!(done.starts_with("bee  ✓ [ 100% ] 1 VUs  00m00."), "{done}");
    assert!(done.ends_with("s/10m0s  3/3 iters, 3 per VU"), "{done}");
    let results = at("  █ TOTAL RESULTS ");
    assert_eq!(&lines[results - 2..results], ["", ""]);
    assert!(first < results);
    let last = lines.iter().rposition(|line| line.starts_with("running (")).unwrap();
    assert_eq!(lines[last..].len(), 3);
    assert!(last > results && lines[last].contains(", 0/3 VUs, "), "{}", told.stdout);
    assert_eq!(&lines[last - 4..last], ["", "", "", ""]);
    assert_eq!(lines[last + 1].trim_end(), "a    ✓ [ 100% ] 2 VUs  1.5s");
}

#[test]
fn quiet_and_disabled_leave_nothing_but_what_was_asked_for() {
    let script = "export default () => {}";
    let quiet = brunt("run -q s.js").file("s.js", script).told();
    assert!(quiet.stdout.starts_with("\n\n  █ TOTAL RESULTS \n\n"), "{quiet:?}");
    assert!(quiet.stdout.ends_with("B/s\n\n\n\n"), "{quiet:?}");
    let silent = brunt("run -q --summary-mode disabled s.js").file("s.js", script).told();
    assert_eq!((silent.stdout.as_str(), silent.code), ("", 0));
    let silent = brunt("run -q --no-summary s.js").file("s.js", script).told();
    assert_eq!((silent.stdout.as_str(), silent.code), ("", 0));
}

#[test]
fn a_judged_part_that_saw_nothing_is_listed_below_its_whole() {
    let script = "export const options = { thresholds: { 'http_reqs{a:b}': ['count<5'] } };
        export default () => {}";
    let told = brunt("run -q s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    let text = masked(&told.stdout);
    assert!(
        text.contains("http_reqs............: N N/s\n      { a:b }............: N N/s"),
        "{text}"
    );
}

#[test]
fn the_summary_export_is_k6s_old_shape() {
    let mut call = brunt("run -q --demo --summary-export out.json s.js").file("s.js", SCRIPT);
    call.told();
    let export: Value = serde_json::from_str(&call.read("out.json")).unwrap();
    assert!(call.read("out.json").starts_with("{\n    \"root_group\": {\n        \""));
    let metrics = &export["metrics"];
    let keys = |value: &Value| {
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys.join(" ")
    };
    assert_eq!(keys(&export), "metrics root_group");
    assert_eq!(keys(&metrics["my_trend"]), "avg max med min p(90) p(95)");
    assert_eq!(keys(&metrics["my_counter"]), "count rate thresholds");
    assert_eq!(keys(&metrics["my_rate"]), "fails passes thresholds value");
    assert_eq!(keys(&metrics["my_gauge"]), "max min thresholds value");
    // `true` means crossed.
    assert_eq!(metrics["my_counter"]["thresholds"]["count>1"], false);
    assert_eq!(metrics["my_rate"]["thresholds"]["rate>0.9"], true);
    assert_eq!(metrics["my_rate"]["value"], 4.0 / 6.0);
    assert_eq!(metrics["http_req_failed{nope:1}"]["value"], 0);
    let outer = &export["root_group"]["groups"]["outer"];
    assert_eq!(outer["path"], "::outer");
    assert_eq!(outer["checks"]["never holds"]["fails"], 4);
    assert_eq!(outer["groups"]["in ner"]["checks"]["holds"]["passes"], 2);
    // No group, as in k6: setup() checked nothing.
    assert_eq!(export["root_group"]["groups"]["setup"], Value::Null);
}

#[test]
fn the_newer_shape_is_for_the_file_and_the_function() {
    let script = "import { check } from 'k6';
        import { Trend } from 'k6/metrics';
        const t = new Trend('tt', true);
        export const options = { summaryTrendStats: ['avg', 'p(90)', 'count'], thresholds: { tt: ['max<9'] } };
        export default () => { check(1, { yes: () => true, no: () => false }); t.add(5); };
        export const handleSummary = (data) => ({ stdout: JSON.stringify(data) });";
    let line = "run -q --new-machine-readable-summary --summary-export out.json s.js";
    let mut call = brunt(line).file("s.js", script);
    let told = call.told();
    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
    for text in [told.stdout, call.read("out.json")] {
        let data: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(data["version"], "1.0.0");
        assert_eq!(data["config"]["script"], script);
        assert_eq!(data["config"]["execution"], "local");
        assert!(data["config"]["duration"].as_f64().unwrap() > 0.0);
        assert_eq!(data["metadata"]["k6_version"], "2.2.0");
        let checks = &data["results"]["checks"];
        assert_eq!(
            checks["results"][1],
            serde_json::json!({ "name": "no", "passes": 0, "fails": 1 })
        );
        let metrics = data["results"]["metrics"].as_array().unwrap();
        let t = metrics.iter().find(|metric| metric["name"] == "tt").unwrap();
        let values = serde_json::json!({
            "avg": 5, "max": null, "med": null, "min": null, "p90": 5, "p95": null
        });
        assert_eq!(
            (&t["type"], &t["contains"], &t["values"]),
            (&"trend".into(), &"time".into(), &values)
        );
    }
}

/// The run of a script whose `handleSummary` does `body`.
fn handled(body: &str) -> Told {
    let mut script = String::from(
        "import { check } from 'k6';
        export const options = { thresholds: { checks: ['rate>0'] } };
        export const setup = () => ({ a: [1, null] });
        export default () => { check(1, { fine: () => true }); };\n",
    );
    write!(script, "export function handleSummary(data) {{ {body} }}").unwrap();
    brunt("run -q s.js").file("s.js", script).told()
}

#[test]
fn handle_summary_decides_what_is_shown_and_never_the_exit_code() {
    let cases = [
        // Body of `handleSummary`, whether the usual text is shown, text on stdout or stderr.
        ("return { stdout: 'out\\n' };", false, "out\n"),
        ("return { stderr: 'err\\n' };", false, "err\n"),
        ("return Promise.resolve({ stdout: 'later\\n' });", false, "later\n"),
        ("return { stdout: new Uint8Array([79, 75]).buffer };", false, "OK"),
        ("return {};", false, ""),
        ("return;", true, ""),
        ("return null;", true, ""),
        ("throw new Error('not today');", true, "not today"),
        // A fault beside it is told, and takes nothing away.
        ("Promise.reject(new Error('x')); return { stdout: 'still\\n' };", false, "still\n"),
        ("setTimeout(() => { throw 1 }, 1); return { stdout: 'still\\n' };", false, "still\n"),
        ("return { stdout: 5 };", false, "summary object stdout: invalid type int64, it"),
        ("return 5;", false, "handleSummary() should return a map with string keys"),
        ("return ['x'];", false, "handleSummary() should return a map with string keys"),
        ("return { stdout: 'first', 'x.txt': 5 };", false, "x.txt"),
        ("return { stdout: JSON.stringify(data.setup_data) };", false, "{\"a\":[1,null]}"),
        (
            "return { stdout: JSON.stringify(data.metrics.checks.thresholds) };",
            false,
            "{\"rate>0\":{\"ok\":true}}",
        ),
        (
            "return { stdout: JSON.stringify(data.root_group.checks[0]) };",
            false,
            "\"path\":\"::fine\",\"id\":\"",
        ),
        ("return { stdout: `${Object.keys(data)} ${__VU}` };", false, " 0"),
    ];
    std::thread::scope(|scope| {
        for (body, usual, said) in cases {
            scope.spawn(move || {
                let told = handled(body);
                assert_eq!(told.code, 0, "{body}: {told:?}");
                assert_eq!(told.stdout.contains("TOTAL RESULTS"), usual, "{body}: {told:?}");
                let all = format!("{}{}", told.stdout, told.stderr);
                assert!(all.contains(said), "{body}: {told:?}");
                assert!(usual || !said.is_empty() || all.is_empty(), "{body}: {told:?}");
            });
        }
    });
}

#[test]
fn one_bad_path_does_not_stop_the_others() {
    let script = "export default () => {};
        export const handleSummary = () =>
            ({ 'nowhere/x': 'a', 'here.txt': 'written', stdout: 'shown\\n' });";
    let mut call = brunt("run -q s.js").file("s.js", script);
    let told = call.told();
    assert_eq!((told.code, told.stdout.as_str()), (0, "shown\n"), "{told:?}");
    assert!(told.error().contains("nowhere/x"), "{told:?}");
    assert_eq!(call.read("here.txt"), "written");
}

#[test]
fn the_readme_shows_what_the_study_prints() {
    let readme = std::fs::read_to_string(repository("README.md")).unwrap();
    for line in ["  █ REQUESTS", "    GET /nocache/{id} ", "default ✓ [ 100% ] 0/5 VUs"] {
        assert!(readme.contains(line), "{line}");
    }
}
