//! The messages about exceptions, equal log lines, hidden metrics, and losses.
#![expect(
    clippy::large_stack_arrays,
    reason = "threads of the test's servers, with stacks of their own"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::support::brunt;

const THROWING: &str = "export const options = { vus: 3, iterations: 300 };
    export default function () { console.error('said'); throw new Error('boom'); }";

#[test]
fn exceptions_are_counted_in_the_summary_and_equal_ones_are_one_line() {
    for (flags, part) in [("", "count="), ("--log-format raw", "times more)")] {
        let told = brunt(&format!("run -q {flags} s.js")).file("s.js", THROWING).told();
        assert_eq!(told.code, 0, "{}", told.stderr);
        assert!(told.stdout.contains("EXCEPTIONS: 300"), "{}", told.stdout);
        assert!(
            told.stdout.contains("✗ 300× Error: boom\n      at default (file:"),
            "{}",
            told.stdout
        );
        assert!(told.stderr.matches("boom").count() < 20, "{}", told.stderr);
        assert!(told.stderr.contains(part), "{}", told.stderr);
        // Lines of `console` are the script's output.
        assert_eq!(told.stderr.matches("said").count(), 300, "{}", told.stderr);
    }
    let mut run =
        brunt("run -q --log-format json --summary-export e.json s.js").file("s.js", THROWING);
    let told = run.told();
    let lines =
        told.stderr.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let count: u64 = lines
        .filter(|line| line["msg"].as_str().unwrap().contains("boom"))
        .map(|line| line["count"].as_u64().unwrap_or(1))
        .sum();
    assert_eq!(count, 300);
    assert!(!run.read("e.json").contains("boom"));
}

#[test]
fn lateness_is_shown_to_nobody_who_did_not_ask() {
    let script = |thresholds: &str| {
        format!(
            "export const options = {{ thresholds: {{ {thresholds} }}, scenarios: {{ a: {{ executor: 'constant-arrival-rate',
               rate: 10, duration: '1s', preAllocatedVUs: 2 }} }} }};
             export default function () {{}}
             export function handleSummary(data) {{
               return {{ stdout: JSON.stringify(data), 'h.json': JSON.stringify(data) }};
             }}"
        )
    };
    for (flags, thresholds, is_shown) in [
        ("", "", false),
        ("--summary-mode full", "", false),
        ("--lateness-metric", "", true),
        ("", "iteration_lateness: []", true),
        ("", "'iteration_lateness{scenario:a}': ['max>=0']", true),
        ("--new-machine-readable-summary", "", false),
    ] {
        let line = format!(
            "run -q {flags} --out json=o.json --out csv=o.csv --summary-export e.json s.js"
        );
        let mut run = brunt(&line).file("s.js", script(thresholds));
        let told = run.told();
        assert_eq!(told.code, 0, "{}", told.stderr);
        for file in ["h.json", "e.json", "o.json", "o.csv"] {
            let has = run.read(file).contains("iteration_lateness");
            assert_eq!(has, is_shown, "{flags} {thresholds} {file}");
        }
        let plain = script(thresholds).replace("handleSummary", "other");
        let told = brunt(&line).file("s.js", plain).told();
        assert_eq!(told.stdout.contains("iteration_lateness"), is_shown, "{}", told.stdout);
    }
}

#[test]
fn the_export_has_what_handle_summary_did_to_its_data() {
    let run = |summary: &str| {
        let script = format!(
            "export default function () {{}} export function handleSummary(data) {{ {summary} }}"
        );
        let mut run = brunt("run -q --summary-export e.json s.js").file("s.js", script);
        let told = run.told();
        assert_eq!(told.code, 0, "{}", told.stderr);
        let export = std::fs::read_to_string(run.path("e.json")).ok();
        (export.map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap()), told.stderr)
    };
    // Each as k6 1.8.1 does it.
    let changed = "data.metrics.iterations.values.count = 78; data.extra = 1;";
    for result in ["return {};", "", "throw new Error('x');", "return { stdout: 'x' };"] {
        let (export, _) = run(&format!("{changed} {result}"));
        let export = export.unwrap();
        assert_eq!(
            (&export["metrics"]["iterations"]["count"], &export["extra"]),
            (&78.into(), &1.into())
        );
    }
    let (export, _) = run("delete data.metrics.iterations; return {};");
    assert!(export.unwrap()["metrics"].get("iterations").is_none());
    for refused in [
        "return { './k': null };",
        "return 5;",
        "data.root_group = null; return {};",
        "data.metrics.a = undefined; return {};",
        "data.metrics.iterations.values.a = data; return {};",
    ] {
        let (export, said) = run(refused);
        assert!(export.is_none(), "{refused}");
        assert!(said.contains("failed to handle the end-of-test summary"), "{said}");
    }
}

#[test]
fn lines_that_loki_did_not_take_are_counted_and_its_answer_is_bounded() {
    let loki = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = loki.local_addr().expect("an address");
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = loki.accept() {
            let _ = stream.read(&mut [0; 1 << 16]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            // No end.
            while stream.write_all(&[b'x'; 1 << 16]).is_ok() {}
        }
    });
    let script =
        "export default function () { for (let i = 0; i < 20; i++) console.log('line', i); }";
    let told = brunt(&format!("run -q --log-output=loki=http://{address}/push,limit=15 s.js"))
        .file("s.js", script)
        .told();
    assert!(
        told.stderr.contains("20 log lines are not in Loki: 15 did not arrive ("),
        "{}",
        told.stderr
    );
    assert!(told.stderr.contains("5 were above the limit of 15"), "{}", told.stderr);
}

#[test]
fn a_million_values_of_a_tag_are_bounded_and_said() {
    let script = "import { Counter } from 'k6/metrics';
        const many = new Counter('many');
        export default function () { for (let i = 0; i < 100000; i++) many.add(1, { t: String(i) + 'x'.repeat(i % 50 ? 0 : 20000) }); }";
    let told = brunt("run -q s.js").file("s.js", script).told();
    assert!(told.stdout.contains(": 100000 "), "{}", told.stdout);
    // There is room for some each second, which a script without a processor does not fill.
    let is_slow = told.waited > std::time::Duration::from_millis(250);
    assert!(is_slow || told.stderr.contains("(too many values)"), "{}", told.stderr);
    assert!(told.stderr.contains("longer than 16 KiB"), "{}", told.stderr);
}

#[test]
fn secrets_stay_hidden_in_each_form_and_in_names() {
    let script = "import secrets from 'k6/secrets'; import { check, group } from 'k6';
        export default async function () {
          const s = await secrets.get('a');
          console.log(s, encodeURIComponent(s), JSON.stringify({ s }));
          check(1, { ['is ' + s]: () => true });
          group('in ' + s, () => check(1, { b: () => true }));
          throw new Error('with ' + s);
        }";
    let told = brunt("run -q --summary-mode full --secret-source=mock=a=hu%sh\"wörd s.js")
        .file("s.js", script)
        .told();
    for text in [&told.stdout, &told.stderr] {
        assert!(
            !text.contains("hu%sh")
                && !text.contains("hu%25sh")
                && text.contains("SECRET_REDACTED"),
            "{text}"
        );
    }
}
