use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use brunt_metrics::{Threshold, ThresholdSet, builtin};

use super::*;
use crate::testing::{PATIENCE, context, frame};

/// A page on any port, with a threshold that holds and one that doesn't.
fn dashboard(arg: &str) -> (Dashboard, Context) {
    let mut context = context(&[]);
    let threshold = |source: &str| Threshold::parse(source, false, None).unwrap();
    context.thresholds = vec![ThresholdSet {
        metric: "http_reqs".into(),
        thresholds: vec![threshold("count>1"), threshold("count>1000")],
    }];
    context.scenarios = vec!["default".into()];
    context.script = "dir/script.js".into();
    context.longest = Duration::from_mins(10);
    (Dashboard::open(&format!("port=0&host=127.0.0.1&{arg}"), &context).unwrap(), context)
}

fn measure(dashboard: &mut Dashboard, context: &Context) {
    let tags: &[(&str, &str)] = &[("group", "::a <b>")];
    let frame = frame(&context.registry, &[(builtin::HTTP_REQS, tags, 3.0)]);
    dashboard.write(&frame).unwrap();
}

/// Asks for a path; the head, and the rest to be read.
fn get(dashboard: &Dashboard, path: &str) -> (String, BufReader<TcpStream>) {
    asked(dashboard, path, "localhost")
}

/// The same, under the name of a host.
fn asked(dashboard: &Dashboard, path: &str, host: &str) -> (String, BufReader<TcpStream>) {
    let address = dashboard.server.as_ref().unwrap().address().strip_prefix("http://").unwrap();
    let address = address.split('/').next().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    (head, reader)
}

fn whole(dashboard: &Dashboard, path: &str) -> String {
    let (mut answer, mut reader) = get(dashboard, path);
    io::Read::read_to_string(&mut reader, &mut answer).unwrap();
    answer
}

/// Reads the stream up to this event; the names of the events on the way, and the data of the last one.
fn up_to(reader: &mut BufReader<TcpStream>, name: &str) -> (Vec<String>, Value) {
    let (mut names, mut data) = (Vec::new(), Value::Null);
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the stream ended after {names:?}");
        if let Some(text) = line.strip_prefix("data: ") {
            data = serde_json::from_str(text).unwrap();
        }
        if let Some(event) = line.trim_end().strip_prefix("event: ") {
            names.push(event.to_owned());
            if event == name {
                return (names, data);
            }
        }
    }
}

#[test]
fn whoever_comes_late_is_told_everything_in_k6s_order() {
    let (mut dashboard, context) = dashboard("");
    measure(&mut dashboard, &context);
    dashboard.flush().unwrap();
    let (head, mut events) = get(&dashboard, "/events");
    assert!(head.contains("content-type: text/event-stream\r\n"), "{head}");
    assert!(head.contains("access-control-allow-origin: *\r\n"), "{head}");
    let (names, snapshot) = up_to(&mut events, "snapshot");
    assert_eq!(
        names,
        ["config", "param", "metric", "start", "metric", "cumulative", "threshold", "snapshot"]
    );
    // http_reqs, http_reqs{group:::a <b>}, time
    assert_eq!(snapshot.as_array().unwrap().len(), 3);
    assert_eq!((&snapshot[0][0], &snapshot[1][0]), (&json!(3), &json!(3)));
    assert_eq!(dashboard.server.as_ref().unwrap().viewers().count(), 1);
    measure(&mut dashboard, &context);
    dashboard.finish().unwrap();
    let (names, _) = up_to(&mut events, "stop");
    assert_eq!(names, ["cumulative", "threshold", "stop"], "a moment is no period");
}

#[test]
fn exceptions_are_told_by_message() {
    let (mut dashboard, context) = dashboard("");
    let (_, mut events) = get(&dashboard, "/events");
    let mut recorder = brunt_metrics::Recorder::new(Arc::clone(&context.registry), 0, false);
    recorder.exception("Error: boom\n\tat default (file:///a.js:1:2)\n");
    recorder.exception("Error: boom\n\tat default (file:///a.js:1:2)\n");
    dashboard.write(&recorder.take_frame()).unwrap();
    dashboard.flush().unwrap();
    let one =
        json!({ "message": "Error: boom", "place": "at default (file:///a.js:1:2)", "count": 2 });
    assert_eq!(up_to(&mut events, "exceptions").1, json!({ "told": [one], "others": 0 }));
}

#[test]
fn thresholds_that_do_not_hold_are_named() {
    let (mut dashboard, context) = dashboard("");
    let (_, mut events) = get(&dashboard, "/events");
    let (_, param) = up_to(&mut events, "param");
    assert_eq!(param["thresholds"], json!({ "http_reqs": ["count>1", "count>1000"] }));
    assert_eq!((&param["endOffset"], &param["period"]), (&json!(600_000), &json!(10_000)));
    measure(&mut dashboard, &context);
    dashboard.flush().unwrap();
    assert_eq!(up_to(&mut events, "threshold").1, json!({ "http_reqs": ["count>1000"] }));
}

#[test]
fn a_viewer_who_goes_away_is_not_waited_for() {
    let (dashboard, _) = dashboard("");
    let viewers = dashboard.server.as_ref().unwrap().viewers();
    let (_, mut events) = get(&dashboard, "/events");
    up_to(&mut events, "start");
    assert_eq!(viewers.count(), 1);
    drop(events);
    assert!(viewers.wait_for_none(PATIENCE));
}

#[test]
fn addresses_are_k6s() {
    let (mut dashboard, context) = dashboard("");
    assert!(get(&dashboard, "/").0.starts_with("HTTP/1.0 307 "));
    assert!(get(&dashboard, "/").0.contains("location: /ui?endpoint=/\r\n"));
    assert!(get(&dashboard, "/ui").0.contains("location: /ui/\r\n"));
    let page = whole(&dashboard, "/ui/");
    assert!(page.contains(r#""mode":"live""#) && page.contains(r#""events":"stream""#), "{page}");
    assert!(whole(&dashboard, "/nothing").ends_with("\r\n\r\n404 page not found\n"));
    measure(&mut dashboard, &context);
    dashboard.flush().unwrap();
    // Without a run there is no run file, of which the report is made.
    assert!(whole(&dashboard, "/report").starts_with("HTTP/1.0 503 "));
}

/// All that has the script, and what was sent and received, in it.
const PAGES: [&str; 7] =
    ["/", "/ui", "/ui/", "/ui/index.html", "/ui/stream", "/ui/alive", "/report"];

#[test]
fn beyond_loopback_the_page_needs_the_token_and_events_are_k6s() {
    for host in ["", "host=0.0.0.0"] {
        let open = Dashboard::open(&format!("port=0&{host}"), &context(&[])).unwrap();
        let address = open.server.as_ref().unwrap().address().to_owned();
        let (_, token) = address.split_once("/?token=").expect("a token in the address");
        for path in PAGES {
            assert!(asked(&open, path, "10.0.0.1:5665").0.starts_with("HTTP/1.0 401 "), "{path}");
            // From this machine, by a name of it, as k6's address is written.
            for name in ["127.0.0.1:5665", "localhost"] {
                assert!(!asked(&open, path, name).0.starts_with("HTTP/1.0 4"), "{path}");
            }
            let known = format!("{path}?token={token}");
            assert!(!asked(&open, &known, "10.0.0.1").0.starts_with("HTTP/1.0 4"), "{path}");
            assert!(asked(&open, &known, "evil.example").0.starts_with("HTTP/1.0 403 "), "{path}");
        }
        let to = format!("location: /ui?endpoint=/&token={token}\r\n");
        assert!(get(&open, &format!("/?token={token}")).0.contains(&to));
        let to = format!("location: /ui/?token={token}\r\n");
        assert!(get(&open, &format!("/ui?endpoint=/&token={token}")).0.contains(&to));
        let page = whole(&open, &format!("/ui/?token={token}"));
        for part in ["stream?token=", "../report?token=", "alive?token="] {
            assert!(page.contains(&format!("{part}{token}")), "{part}");
        }
        assert!(asked(&open, "/events", "x").0.starts_with("HTTP/1.0 200 "));
    }
}

#[test]
fn on_loopback_other_names_are_refused() {
    let (dashboard, _) = dashboard("");
    assert!(!dashboard.server.as_ref().unwrap().address().contains("token"));
    for path in PAGES {
        assert!(asked(&dashboard, path, "evil.example").0.starts_with("HTTP/1.0 403 "), "{path}");
    }
}

#[test]
fn silent_connections_shut_nobody_out() {
    let (dashboard, _) = dashboard("");
    let address = dashboard.server.as_ref().unwrap().address().strip_prefix("http://").unwrap();
    let silent: Vec<_> = (0..100).map(|_| TcpStream::connect(address).unwrap()).collect();
    assert!(whole(&dashboard, "/ui/").contains(r#""mode":"live""#));
    drop(silent);
}

#[test]
fn a_run_without_a_file_has_no_page_and_says_so() {
    let (dashboard, context) = dashboard("");
    context.feed.close();
    assert!(whole(&dashboard, "/ui/").starts_with("HTTP/1.0 503 "));
    assert!(whole(&dashboard, "/report").starts_with("HTTP/1.0 503 "));
}

#[test]
fn the_record_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let lines = path("r.ndjson");
    let (mut dashboard, context) = dashboard(&format!("export=r.html&record={lines}"));
    assert_eq!(dashboard.page().unwrap().export.as_deref(), Some("r.html"));
    measure(&mut dashboard, &context);
    assert_eq!(dashboard.finish().unwrap(), Written::default());
    let names: Vec<String> = std::fs::read_to_string(lines)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].to_string())
        .collect();
    let said =
        ["param", "metric", "start", "metric", "cumulative", "threshold", "snapshot", "stop"];
    assert_eq!(names, said.map(|name| format!("\"{name}\"")));
}

#[test]
fn what_cannot_be_is_said() {
    let (first, context) = dashboard("");
    let port = first.server.as_ref().unwrap().address().rsplit_once(':').unwrap().1.to_owned();
    let taken = Dashboard::open(&format!("port={port}"), &context);
    let said = taken.err().unwrap().to_string();
    assert!(said.contains(&format!("listen :{port}: ")), "{said}");
    let record = Dashboard::open("port=-1&record=/nowhere/at/all", &context);
    assert!(record.err().unwrap().to_string().contains("/nowhere/at/all"));
}

#[test]
fn a_long_test_has_long_periods() {
    let mut context = context(&[]);
    context.longest = Duration::from_hours(24);
    let dashboard = Dashboard::open("port=-1&period=1s", &context).unwrap();
    assert_eq!(dashboard.flush_interval(), Duration::from_secs(30));
}
