//! `--out web-dashboard`: the page while the test runs, the report after it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::support::brunt;

const SCRIPT: &str = "import { check, group, sleep } from 'k6';\n\
    export const options = {\n\
      vus: 1, duration: '2s', thresholds: { checks: ['rate==1'] },\n\
    };\n\
    export default function () {\n\
      group('</script>', () => check(1, { one: (v) => v === 1 }));\n\
      sleep(0.1);\n\
    }\n";

fn get(address: &str, path: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).expect("the page is served");
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket has a timeout");
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").expect("a request");
    BufReader::new(stream)
}

#[test]
fn the_test_is_shown_until_the_last_viewer_goes() {
    let mut call = brunt("run --out web-dashboard=port=0&host=127.0.0.1&period=500ms s.js")
        .file("s.js", SCRIPT);
    let mut running = call.start();
    let line = running.line_with("web dashboard: ");
    let address = line.trim().trim_start_matches("web dashboard: http://").to_owned();
    assert!(running.line().contains("output: -"));
    let mut page = String::new();
    get(&address, "/ui/").read_to_string(&mut page).expect("a page");
    assert!(page.contains(r#""mode":"live""#) && page.contains(r#""events":"stream""#), "{page}");

    let mut names = Vec::new();
    let mut events = get(&address, "/events");
    while names.last().is_none_or(|name| name != "stop") {
        let mut line = String::new();
        assert!(events.read_line(&mut line).expect("text") > 0, "it ended after {names:?}");
        names.extend(line.trim_end().strip_prefix("event: ").map(str::to_owned));
    }
    for name in ["param", "metric", "start", "snapshot", "cumulative", "threshold"] {
        assert!(names.iter().any(|one| one == name), "{name} in {names:?}");
    }
    // The test is over, but we are still looking: so the report can still be had.
    let mut report = String::new();
    get(&address, "/report").read_to_string(&mut report).expect("a report");
    assert!(report.contains(r#"{"mode":"report"}"#) && report.ends_with("</html>\n"), "{report}");
    drop(events);
    let told = running.wait();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("checks_succeeded"), "{told:?}");
}

#[test]
fn a_report_and_a_record_are_written_without_a_server() {
    let script = SCRIPT.replace("rate==1", "rate<1").replace("'2s'", "'1s'");
    let mut call = brunt("run -q s.js")
        .env("K6_WEB_DASHBOARD", "true")
        .env("K6_WEB_DASHBOARD_PORT", "-1")
        .env("K6_WEB_DASHBOARD_PERIOD", "200ms")
        .env("BRUNT_WEB_DASHBOARD_EXPORT", "r.html")
        .env("K6_WEB_DASHBOARD_RECORD", "r.ndjson")
        .file("s.js", &script);
    let told = call.told();
    assert_eq!(told.code, 99, "{told:?}");
    let report = call.read("r.html");
    assert!(report.contains(r#"{"mode":"report"}"#) && report.ends_with("</html>\n"));
    let record = call.read("r.ndjson");
    let find = |name: &str| -> Value {
        let line = record.lines().rfind(|line| line.contains(&format!("\"event\":\"{name}\"")));
        let event: Value = serde_json::from_str(line.expect(name)).expect("JSON");
        event["data"].clone()
    };
    assert_eq!(find("param")["scenarios"][0], "default");
    assert_eq!(find("threshold")["checks"][0], "rate<1");
    let lines = record.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let names: Vec<_> =
        lines.map(|line| line["event"].as_str().expect("a name").to_owned()).collect();
    assert_eq!((names[0].as_str(), names.last().map(String::as_str)), ("param", Some("stop")));
    assert!(names.iter().filter(|name| *name == "snapshot").count() >= 3, "{names:?}");
}

#[test]
fn where_no_file_can_be_made_the_test_goes_on_without_the_page() {
    let mut call =
        brunt("run --quiet --out web-dashboard=port=0&host=127.0.0.1&export=r.html s.js")
            .env("TMPDIR", "/nonexistent")
            .file("s.js", SCRIPT);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("the web dashboard has its events alone"), "{told:?}");
    // The page that was asked for by name is another matter.
    let mut call = brunt("run --quiet --ui=127.0.0.1:0 s.js")
        .env("TMPDIR", "/nonexistent")
        .file("s.js", SCRIPT);
    assert_eq!(call.told().code, 255);
}

#[test]
#[cfg(target_os = "linux")]
fn a_page_that_nobody_can_look_at_costs_no_thread() {
    let script = SCRIPT.replace("sleep(0.1)", "console.log('at work'); sleep(0.1)");
    for (out, expected) in [("port=-1&export=r.html", false), ("port=0&host=127.0.0.1", true)] {
        let mut call = brunt("run --quiet --log-output stdout s.js --out")
            .word(format!("web-dashboard={out}"))
            .file("s.js", &script);
        let mut running = call.start();
        running.line_with("at work");
        let threads = std::fs::read_dir(format!("/proc/{}/task", running.id())).expect("it runs");
        let name = |thread: std::io::Result<std::fs::DirEntry>| {
            std::fs::read_to_string(thread.ok()?.path().join("comm")).ok()
        };
        let is_there = threads.filter_map(name).any(|name| name.trim() == "brunt-page");
        assert_eq!(is_there, expected, "{out}");
        assert_eq!(running.wait().code, 0);
    }
}
