//! `--ui` and `brunt view`: the page of a run while it goes on, and of run files.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::support::{Running, brunt};

const SCRIPT: &str = "import http from 'k6/http';\n\
    import { sleep } from 'k6';\n\
    export const options = { scenarios: { one: { executor: 'constant-vus', vus: 2, duration: '8s', gracefulStop: '1s' } } };\n\
    export default function () {\n\
      http.get(`${__ENV.DEMO_URL}/status/200`);\n\
      sleep(0.05);\n\
    }\n";

/// Ends a test by the REST API.
const STOP: &str =
    "{\"data\":{\"type\":\"status\",\"id\":\"default\",\"attributes\":{\"stopped\":true}}}";

/// Sends a request; the answer, as it comes.
fn ask(address: &str, line: &str, headers: &str, body: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).expect("the page is served");
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket has a timeout");
    let host =
        if headers.contains("Host: ") { String::new() } else { format!("Host: {address}\r\n") };
    let length = body.len();
    write!(stream, "{line} HTTP/1.0\r\n{host}{headers}Content-Length: {length}\r\n\r\n{body}")
        .expect("a request");
    BufReader::new(stream)
}

/// Status and body of the answer.
fn told(address: &str, line: &str, headers: &str, body: &str) -> (u16, String) {
    let mut answer = String::new();
    ask(address, line, headers, body).read_to_string(&mut answer).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), body.to_owned())
}

/// The next event of a stream: its name, its number, its data.
fn event(stream: &mut BufReader<TcpStream>) -> (String, String, String) {
    let (mut name, mut id, mut data) = (String::new(), String::new(), String::new());
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).expect("text") > 0, "the stream ended");
        let line = line.trim_end();
        match line.split_once(':') {
            Some(("event", value)) => value.trim().clone_into(&mut name),
            Some(("id", value)) => value.trim().clone_into(&mut id),
            Some(("data", value)) => value.trim().clone_into(&mut data),
            _ if line.is_empty() && !name.is_empty() => return (name, id, data),
            _ => {}
        }
    }
}

/// The bytes of a part.
fn document(data: &str) -> Vec<u8> {
    let packed = STANDARD.decode(data).expect("base64");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("gzip");
    assert!(bytes.starts_with(b"BRNP\x01"));
    bytes
}

/// Whether a part begins with: forget all that came before.
fn is_reset(data: &str) -> bool {
    document(data)[5] == 3
}

/// The place of the page, without scheme and path.
fn place(running: &mut Running) -> (String, String) {
    let line = running.line_with("page: http://");
    let (_, address) = line.trim().split_once("http://").expect("an address");
    let (address, path) = address.split_once('/').expect("a path");
    (address.to_owned(), path.to_owned())
}

#[test]
fn who_comes_late_or_was_away_gets_everything_that_was_missed() {
    let mut call =
        brunt("run --demo --no-color --ui=127.0.0.1:0 --out run=a.brunt s.js").file("s.js", SCRIPT);
    let mut running = call.start();
    let (address, path) = place(&mut running);
    assert_eq!(path, "", "there is no token on loopback");
    let (status, page) = told(&address, "GET /", "", "");
    assert_eq!(status, 200);
    assert!(page.contains(r#""mode":"live""#) && page.contains(r#""stop":true"#), "{page}");

    let mut first = ask(&address, "GET /events", "Accept: text/event-stream\r\n", "");
    let (name, id, data) = event(&mut first);
    assert_eq!(name, "part");
    assert!(is_reset(&data) && id.starts_with("1-"), "{id}");
    let (_, second, data) = event(&mut first);
    assert!(!is_reset(&data));
    // It comes late: all so far, then the same parts as the others.
    let mut late = ask(&address, "GET /events", "", "");
    let (_, _, data) = event(&mut late);
    assert!(is_reset(&data));
    // It was away since the first part.
    let mut back = ask(&address, "GET /events", &format!("Last-Event-ID: {id}\r\n"), "");
    let (_, missed, data) = event(&mut back);
    assert_eq!(missed, second);
    assert!(!is_reset(&data));
    let json = format!("Content-Type: application/json\r\nOrigin: http://{address}\r\n");
    assert_eq!(told(&address, "POST /note", &json, "{\"text\":\"a <b>note\"}").0, 200);
    assert_eq!(told(&address, "POST /note", &json, "{}").0, 400);

    for stream in [&mut first, &mut late, &mut back] {
        while event(stream).0 != "end" {}
    }
    // The test is over, but somebody is still looking: the page can be had as a file.
    let (status, report) = told(&address, "GET /report.html", "", "");
    assert_eq!(status, 200);
    assert!(report.contains(r#"{"mode":"report"}"#) && report.ends_with("</html>\n"));
    drop((first, late, back));
    let told = running.wait();
    assert_eq!(told.code, 0, "{told:?}");
    let file = rusqlite::Connection::open(call.path("a.brunt")).expect("a database");
    let of = |query: &str| file.query_row(query, [], |row| row.get::<_, String>(0)).expect(query);
    assert_eq!(of("SELECT text FROM event WHERE kind = 'note'"), "a <b>note");
    assert_eq!(of("SELECT state FROM run"), "finished");
    assert_eq!(of("PRAGMA journal_mode"), "delete", "it is one plain file");
}

#[test]
fn other_sites_and_names_are_refused_and_the_run_can_be_stopped() {
    let script = SCRIPT.replace("'8s'", "'10m'");
    let mut call = brunt("run --demo --no-color --ui=127.0.0.1:0 s.js").file("s.js", script);
    let mut running = call.start();
    let (address, _) = place(&mut running);
    let port = address.rsplit_once(':').expect("a port").1;
    for headers in [
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\nOrigin: http://evil.example:{port}\r\n"),
        "Origin: http://evil.example\r\n".to_owned(),
        "Origin: null\r\n".to_owned(),
    ] {
        for line in ["GET /", "GET /events", "GET /report.html", "PATCH /v1/status", "POST /note"] {
            let body = if line.starts_with("PATCH") { STOP } else { "" };
            assert_eq!(told(&address, line, &headers, body).0, 403, "{line} {headers}");
        }
    }
    assert_eq!(told(&address, "PUT /", "", "").0, 405);
    assert_eq!(told(&address, "GET /v1/metrics", "", "").0, 404);
    let (status, answer) = told(&address, "GET /v1/status", "", "");
    assert!(status == 200 && answer.contains("\"stopped\":false"), "{answer}");
    let headers = format!("Origin: http://{address}\r\n");
    assert_eq!(told(&address, "PATCH /v1/status", &headers, STOP).0, 200);
    assert_eq!(running.wait().code, 103);
}

#[test]
fn beyond_loopback_a_token_is_needed() {
    let mut call = brunt("run --demo --no-color --ui=0.0.0.0:0 -d 10m s.js").file("s.js", SCRIPT);
    let mut running = call.start();
    let (address, path) = place(&mut running);
    let token = path.strip_prefix("?token=").expect("a token");
    for path in ["/", "/events", "/report.html", "/v1/status", "/?token=0", "/note"] {
        assert_eq!(told(&address, &format!("GET {path}"), "", "").0, 401, "{path}");
    }
    let (status, page) = told(&address, &format!("GET /?token={token}"), "", "");
    assert!(status == 200 && page.contains(&format!("events?token={token}")));
    let mut stream = ask(&address, &format!("GET /events?token={token}"), "", "");
    assert!(is_reset(&event(&mut stream).2));
    drop(stream);
    let status = format!("PATCH /v1/status?token={token}");
    assert_eq!(told(&address, &status, "", STOP).0, 200);
    assert_eq!(running.wait().code, 103);
}

#[test]
fn a_signal_leaves_browsers_the_time_to_fetch_the_report() {
    let mut call = brunt("run --demo --no-color --ui=127.0.0.1:0 -d 10m s.js").file("s.js", SCRIPT);
    let mut running = call.start();
    let (address, _) = place(&mut running);
    let mut stream = ask(&address, "GET /events", "", "");
    assert!(is_reset(&event(&mut stream).2));
    running.signal("INT");
    while event(&mut stream).0 != "end" {}
    let over = std::time::Instant::now();
    let (status, report) = told(&address, "GET /report.html", "", "");
    assert!(status == 200 && report.ends_with("</html>\n"));
    let mut rest = String::new();
    // It is cut off when the process ends.
    drop(stream.read_to_string(&mut rest));
    assert!(over.elapsed() > Duration::from_secs(1), "{:?}", over.elapsed());
    assert_eq!(running.wait().code, 105);
}

#[test]
fn who_only_keeps_a_connection_is_not_waited_for_for_ever() {
    let mut call = brunt("run --demo --no-color --ui=127.0.0.1:0 -d 1s s.js")
        .words("--out web-dashboard=port=0&host=127.0.0.1")
        .file("s.js", SCRIPT);
    let mut running = call.start();
    let (address, _) = place(&mut running);
    let dashboard = running.line_with("web dashboard: http://");
    let dashboard = dashboard.trim().trim_start_matches("web dashboard: http://");
    // None of them is ever read.
    let silent = [
        ask(&address, "GET /events", "", ""),
        ask(dashboard, "GET /events", "", ""),
        ask(dashboard, "GET /ui/stream", "", ""),
    ];
    assert_eq!(running.wait().code, 0);
    drop(silent);
}

#[test]
fn the_address_with_its_token_stays_out_of_the_log() {
    let mut call = brunt("run --quiet --demo -d 1s --ui=0.0.0.0:0 --log-output file=log.txt s.js")
        .file("s.js", SCRIPT.replace("sleep(0.05)", "console.log('logged')"));
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("the page of the run is at http://127.0.0.1:"), "{told:?}");
    let log = call.read("log.txt");
    assert!(log.contains("logged") && !log.contains("token"), "{log}");
}

#[test]
fn the_variable_may_say_yes_or_no() {
    for (value, is_there) in [("true", true), ("1", true), ("false", false), ("0", false)] {
        let mut call =
            brunt("run --demo --no-color -d 1s s.js").env("BRUNT_UI", value).file("s.js", SCRIPT);
        let told = call.told();
        assert_eq!(told.code, 0, "{told:?}");
        assert_eq!(told.stdout.contains("page: http://127.0.0.1:"), is_there, "{value} {told:?}");
    }
}

#[test]
fn an_address_that_is_taken_is_told_before_the_test() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address");
    let told = brunt("run --quiet")
        .word(format!("--ui={address}"))
        .word("s.js")
        .file("s.js", SCRIPT)
        .told();
    assert_eq!(told.code, 106, "{told:?}");
    assert!(told.stderr.contains("--ui: the page can't be served"), "{told:?}");
}

#[test]
fn run_files_are_viewed_until_ctrl_c() {
    let mut run = brunt("run --quiet --demo -d 1s --out run=a.brunt s.js").file("s.js", SCRIPT);
    assert_eq!(run.told().code, 0);
    let file = run.path("a.brunt");
    let copy = run.path("<b>.brunt");
    std::fs::copy(&file, &copy).expect("a copy");
    for files in [&[&file][..], &[&file, &copy]] {
        let mut call = files.iter().fold(brunt("view --no-open"), crate::support::Brunt::word);
        let mut running = call.start();
        let line = running.line();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/');
        let (status, page) = told(address, "GET /", "", "");
        assert_eq!(status, 200);
        if files.len() == 1 {
            assert!(page.contains(r#"{"mode":"report"}"#));
        } else {
            assert!(
                page.contains("<a href=\"/runs/1\">") && page.contains("&lt;b&gt;.brunt"),
                "{page}"
            );
            assert!(told(address, "GET /runs/1", "", "").1.contains(r#"{"mode":"report"}"#));
            assert_eq!(told(address, "GET /runs/2", "", "").0, 404);
        }
        assert_eq!(told(address, "GET /", "Host: evil.example\r\n", "").0, 403);
        running.signal("INT");
        assert_eq!(running.wait().code, 0);
    }
    let told = brunt("view --no-open s.js").file("s.js", SCRIPT).told();
    assert_eq!(told.code, 255, "{told:?}");
    assert!(told.stderr.contains("is no run file"), "{told:?}");
    assert_eq!(brunt("view").told().code, 255);
}
