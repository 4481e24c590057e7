//! Log lines: k6's formats to the letter, wherever they go, however many there are.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

#[expect(dead_code, reason = "this file needs only a part of it")]
#[path = "whole/support.rs"]
mod support;

use self::support::{Told, brunt};

/// One failed request and one exception per run.
const FAILING: &str = "import http from 'k6/http';
    export default () => {
        http.get('http://127.0.0.1:1/');
        throw new TypeError('a \"quoted\" <b>\\nline');
    };";

fn failing(flags: &str) -> Told {
    brunt(&format!("run -q --summary-mode disabled {flags} s.js")).file("s.js", FAILING).told()
}

/// The lines without their times, which are checked.
fn without_times(text: &str) -> Vec<String> {
    let cut = |line: &str| {
        let (time, rest) = line.strip_prefix("time=\"").unwrap().split_once("\" ").unwrap();
        assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
        rest.to_owned()
    };
    text.lines().map(cut).collect()
}

#[test]
fn text_is_logfmt_with_the_fields_sorted() {
    let told = failing("");
    assert_eq!(told.code, 0, "{told:?}");
    let lines = without_times(&told.stderr);
    assert!(lines[0].starts_with(
        "level=warning msg=\"Request Failed\" error=\"Get \\\"http://127.0.0.1:1/\\\": "
    ));
    let exception = &lines[1];
    assert!(
        exception.starts_with(
            r#"level=error msg="TypeError: a \"quoted\" <b>\nline\n\tat default (file:///"#
        ),
        "{exception}"
    );
    let fields =
        r#"executor=per-vu-iterations hint="script exception" scenario=default source=stacktrace"#;
    assert!(exception.ends_with(fields), "{exception}");
    assert!(exception.contains("/s.js:4:"), "{exception}");
    assert_eq!(lines.len(), 2, "{told:?}");
}

#[test]
fn json_is_an_object_per_line_with_html_escaped() {
    let told = failing("--log-format json");
    let lines: Vec<Value> =
        told.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [warning, exception] = &lines[..] else { panic!("{told:?}") };
    assert_eq!((&warning["level"], &warning["msg"]), (&"warning".into(), &"Request Failed".into()));
    assert!(warning["time"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
    assert_eq!(exception["hint"], "script exception");
    assert!(told.stderr.contains("\\u003cb\\u003e"), "{told:?}");
    let keys: Vec<&str> = exception.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["executor", "hint", "level", "msg", "scenario", "source", "time"]);
}

#[test]
fn raw_is_the_message_alone() {
    let told = failing("--log-format=raw");
    assert!(
        told.stderr.starts_with(
            "Request Failed\nTypeError: a \"quoted\" <b>\nline\n\tat default (file:///"
        )
    );
}

#[test]
fn log_lines_go_where_they_are_sent() {
    let told = failing("--log-output none");
    assert_eq!((told.stdout.as_str(), told.stderr.as_str()), ("", ""));
    let told = failing("--log-output stdout");
    assert_eq!((told.stdout.lines().count(), told.stderr.as_str()), (2, ""), "{told:?}");

    let line = "run -q --summary-mode disabled --log-output file=all.log,level=error s.js";
    let mut call = brunt(line).file("s.js", FAILING).file("all.log", "before\n");
    let told = call.told();
    assert_eq!((told.stdout.as_str(), told.stderr.as_str()), ("", ""));
    let log = call.read("all.log");
    assert!(log.starts_with("before\ntime=\"") && log.contains("level=error"), "{log}");
    assert!(!log.contains("level=warning"), "{log}");

    let line = "run -q --summary-mode disabled --log-output file=new.log s.js";
    let mut call = brunt(line).file("s.js", FAILING);
    call.told();
    assert_eq!(call.read("new.log").lines().count(), 2);
    let mode = std::fs::metadata(call.path("new.log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let told = brunt("run -q --summary-mode disabled s.js")
        .file("s.js", FAILING)
        .env("K6_LOG_FORMAT", "json")
        .env("K6_LOG_OUTPUT", "stdout")
        .told();
    assert!(told.stdout.starts_with('{') && told.stderr.is_empty(), "{told:?}");
}

#[test]
fn wrong_destinations_are_refused() {
    for (flags, said) in [
        ("--log-output syslog", "unsupported log output 'syslog'"),
        ("--log-output loki=http://127.0.0.1:1,x=y", "unknown loki config key x"),
        ("--log-output file=", "needs a path"),
        ("--log-output file=x,level=loud", "unknown log level 'loud'"),
        ("--log-output file=nowhere/x.log", "nowhere/x.log"),
        ("--console-output nowhere/x.log", "nowhere/x.log"),
    ] {
        let told = failing(flags);
        assert_eq!(told.code, 255, "{told:?}");
        assert!(told.stderr.contains(said), "{told:?}");
    }
}

#[test]
fn a_flood_of_warnings_is_written_or_counted_and_stops_nothing() {
    let script = "import http from 'k6/http';
        export const options = { vus: 20, duration: '2s' };
        export default () => { http.get('http://127.0.0.1:1/'); };";
    let mut call = brunt("run -q --summary-export s.json s.js").file("s.js", script);
    let told = call.told();
    assert_eq!(told.code, 0, "{}", told.stdout);
    let summary: Value = serde_json::from_str(&call.read("s.json")).unwrap();
    let requests = summary["metrics"]["http_reqs"]["count"].as_u64().unwrap();
    assert!(requests > 1000, "{requests}");
    // Equal ones of a second are one line and a number.
    let times = |line: &str| {
        let (_, after) = line.split_once(" count=")?;
        after.split(' ').next()?.parse::<u64>().ok()
    };
    let failed = told.stderr.lines().filter(|line| line.contains("Request Failed"));
    let written: u64 = failed.map(|line| times(line).unwrap_or(1)).sum();
    let dropped = told.stderr.lines().find_map(|line| {
        let (before, _) = line.split_once(" log lines were dropped")?;
        Some(before.rsplit('"').next()?.parse::<u64>().unwrap())
    });
    assert_eq!(written + dropped.unwrap_or(0), requests);
}

#[test]
fn a_fatal_error_is_told_once_with_its_place() {
    let told =
        brunt("run -q s.js").file("s.js", "export default function () {\n  let x = ;\n}").told();
    assert_eq!(told.code, 107, "{told:?}");
    assert!(told.error().contains("s.js:2:11"), "{told:?}");
    assert!(told.stderr.contains("  let x = ;\n"), "{told:?}");
    let json = brunt("run -q --log-format json s.js").file("s.js", "throw new Error('no')").told();
    assert_eq!(json.code, 107);
    let lines: Result<Vec<Value>, _> = json.stderr.lines().map(serde_json::from_str).collect();
    assert_eq!(lines.expect("nothing but JSON").len(), 1, "{json:?}");
}

#[test]
fn what_scripts_say_is_marked_and_goes_by_level() {
    let script = "export const options = { iterations: 1 };
        export default () => {
            console.log('plain', 1, true);
            console.info({ a: 1, b: 'x' });
            console.warn('two\\nlines');
            console.error('say \"it\"');
            console.debug('hidden');
            console.log('');
        };";
    let told = brunt("run -q --summary-mode disabled s.js").file("s.js", script).told();
    assert_eq!(
        without_times(&told.stderr),
        [
            "level=info msg=\"plain 1 true\" source=console",
            "level=info msg=\"{ a: 1, b: \\\"x\\\" }\" source=console",
            "level=warning msg=\"two\\nlines\" source=console",
            "level=error msg=\"say \\\"it\\\"\" source=console",
            "level=info source=console",
        ]
    );
    let told = brunt("run -q -v --summary-mode disabled s.js").file("s.js", script).told();
    assert!(told.stderr.contains("level=debug msg=hidden source=console\n"), "{told:?}");

    let line = "run -q --summary-mode disabled --console-output said.log s.js";
    let mut call = brunt(line).file("s.js", script);
    assert_eq!(call.told().stderr, "");
    let said = call.read("said.log");
    assert_eq!(without_times(&said)[0], "level=info msg=\"plain 1 true\"");
}
