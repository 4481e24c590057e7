//! Requests of all kinds.

use brunt_correlate::plan::{Finder, Made, MadeKind, PathStep, Piece, Place};
use brunt_traffic::{Body, Resource};

use crate::session::{Change as _, Journey, iteration, literal, value};

#[test]
fn a_programs_calls_are_objects_and_names() {
    let mut journey = Journey::new();
    let fetch = Resource::Fetch;
    let made = MadeKind::Uuid;
    journey
        .send(0, "POST", "/anything/login", fetch)
        .answer(200, "application/json", r#"{"url":"tok-1","id":12}"#)
        .body("application/json", r#"{"user":"ada","tags":["a","it's"],"n":1}"#);
    journey
        .send(3200, "POST", "/anything/items/12", fetch)
        .answer(200, "application/json", "{}")
        .body("application/json", r#"{"id":12,"text":"line\nline ${x}","key":"0f"}"#);
    journey.send(3300, "DELETE", "/anything/items/12?x=a%20b&y", fetch).answer(
        200,
        "application/json",
        r#"{"a":1}"#,
    );
    journey.send(3400, "GET", "/status/404", fetch).answer(404, "text/plain", "");
    for exchange in &mut journey.recording.exchanges {
        exchange.sends("accept", "application/json").sends("x-requested-with", "XMLHttpRequest");
    }
    let token =
        journey.extract(0, "token", "tok-1", Finder::Json(vec![PathStep::Key("url".to_owned())]));
    let id = journey.extract(0, "id", "12", Finder::Url);
    journey.recording.exchanges[1].sends("authorization", "Bearer tok-1");
    journey.put(1, Place::Header(6), vec![literal("Bearer "), value(token)]);
    journey.put(1, Place::Json(vec![PathStep::Key("id".to_owned())]), vec![value(id)]);
    journey.put(1, Place::Json(vec![PathStep::Key("key".to_owned())]), vec![Piece::Made(0)]);
    journey.put(1, Place::Segment(2), vec![value(id)]);
    journey.put(2, Place::Segment(2), vec![value(id)]);
    journey.plan.made.push(Made {
        name: "key".to_owned(),
        recorded: "0f".to_owned(),
        kind: made,
        first: 1,
    });
    let script = journey.script("calls");
    insta::assert_snapshot!(iteration(&script), @"");
}

#[test]
fn parts_and_bodies_are_taken_apart() {
    let mut journey = Journey::new();
    let fetch = Resource::Fetch;
    let part = |name: &str, more: &str, body: &str| {
        format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n{body}\r\n")
    };
    let file = |name: &str| format!("; filename=\"{name}\"\r\nContent-Type: image/png");
    let upload = part("a", "", "1") + &part("file", &file("dot ü.png"), "PNG") + "--x--\r\n";
    let twice = part("file", &file("dot.png"), "PNG")
        + &part("file", &file("b.png"), "PNG2")
        + &part("a", "", "ü")
        + "--x--\r\n";
    journey
        .send(0, "POST", "/anything/upload", fetch)
        .body("multipart/form-data; boundary=x", &upload);
    journey
        .send(30, "POST", "/upload/detect", fetch)
        .body("multipart/form-data; boundary=x", &twice);
    journey
        .send(60, "POST", "/anything/form", fetch)
        .body("application/x-www-form-urlencoded", "a=1&a=2&b=x%26y");
    journey
        .send(90, "POST", "/anything/form", fetch)
        .body("application/x-www-form-urlencoded", "a=1&b=2&a=3+4");
    journey.send(120, "PUT", "/anything/xml", fetch).body("text/xml", "<a>\n`${b}`</a>");
    journey
        .send(150, "POST", "/anything/absent", fetch)
        .sends("content-type", "application/pdf")
        .request
        .body = Body::Absent { why: "the HAR file has no bodies".to_owned(), size: Some(9) };
    let script = journey.script("bodies");
    insta::assert_snapshot!(iteration(&script), @"");
    let script = journey.write();
    let paths: Vec<_> = script.files.iter().map(|(path, _)| path.display().to_string()).collect();
    assert_eq!(paths, ["script.js", "bodies/dot ü.png", "bodies/b.png", "bodies/request-6.bin"]);
    let lines: Vec<u32> = script.calls.iter().map(|call| call.line).collect();
    let text = crate::session::text(&script);
    let lines_with_calls: Vec<u32> = (1..)
        .zip(text.lines())
        .filter(|(_, line)| line.contains("http.p"))
        .map(|(n, _)| n)
        .collect();
    assert_eq!(lines, lines_with_calls);
}
