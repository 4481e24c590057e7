//! Exports of Chrome without cookies and `Authorization`.

use brunt_traffic::{Recording, har};
use serde_json::{Value, json};

const TOKEN: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmVkLWJ5LXVz";

fn entry(second: u32, method: &str, url: &str, kind: &str, body: &str, answer: &Value) -> Value {
    json!({
        "startedDateTime": format!("2026-11-26T10:00:{second:02}.000Z"),
        "time": 100,
        "_resourceType": kind,
        "request": {
            "method": method, "url": url, "httpVersion": "h2", "headers": [], "queryString": [],
            "cookies": [], "headersSize": -1, "bodySize": body.len(),
            "postData": { "mimeType": "application/json", "text": body },
        },
        "response": {
            "status": 200, "statusText": "", "httpVersion": "h2", "cookies": [], "redirectURL": "",
            "headers": [{ "name": "Content-Type", "value": "application/json" }],
            "content": { "size": 1, "mimeType": "application/json", "text": answer.to_string() },
            "headersSize": -1, "bodySize": -1,
        },
        "cache": {}, "timings": { "send": 0, "wait": 100, "receive": 0 },
    })
}

fn read(entries: &[Value]) -> Recording {
    let file = json!({ "log": {
        "version": "1.2", "creator": { "name": "WebInspector", "version": "537.36" },
        "pages": [], "entries": entries,
    }});
    har::read(file.to_string().as_bytes()).expect("a HAR file")
}

fn bearers(recording: &Recording) -> Vec<Option<&str>> {
    recording.exchanges.iter().map(|own| own.request.headers.get("authorization")).collect()
}

#[test]
fn calls_after_a_token_get_their_header_back() {
    let login = r#"{"user":"ada","password":"p"}"#;
    let recording = read(&[
        entry(0, "GET", "https://shop.test/api/news", "fetch", "", &json!({})),
        entry(
            1,
            "POST",
            "https://shop.test/login",
            "fetch",
            login,
            &json!({"data":{"token":TOKEN}}),
        ),
        entry(2, "GET", "https://api.shop.test/orders", "fetch", "", &json!({})),
        entry(3, "GET", "https://shop.test/logo", "image", "", &json!({})),
        entry(4, "GET", "https://other.test/orders", "fetch", "", &json!({})),
        entry(
            5,
            "POST",
            "https://shop.test/renew",
            "fetch",
            "{}",
            &json!({"access_token":"0123456789abcdefXYZ"}),
        ),
        entry(6, "GET", "https://shop.test/orders", "fetch", "", &json!({})),
    ]);
    let first = format!("Bearer {TOKEN}");
    let found = bearers(&recording);
    assert_eq!(
        found,
        [None, None, Some(first.as_str()), None, None, None, Some("Bearer 0123456789abcdefXYZ")]
    );
    let (why, count) = recording.left_out.last().expect("it is told");
    assert!(why.contains("Authorization: Bearer") && *count == 2, "{why} {count}");
}

#[test]
fn an_export_with_secrets_is_left_as_it_is() {
    let login = r#"{"user":"ada","password":"p"}"#;
    let mut call = entry(2, "GET", "https://shop.test/orders", "fetch", "", &json!({}));
    call["request"]["headers"] = json!([{ "name": "Cookie", "value": "sid=1" }]);
    let recording = read(&[
        entry(1, "POST", "https://shop.test/login", "fetch", login, &json!({"access_token":TOKEN})),
        call,
    ]);
    assert_eq!(bearers(&recording), [None, None]);
}

#[test]
fn a_token_with_a_header_of_its_own_is_no_bearer() {
    let login = r#"{"user":"ada","password":"p"}"#;
    let mut call = entry(2, "GET", "https://shop.test/orders", "fetch", "", &json!({}));
    call["request"]["headers"] = json!([{ "name": "X-Session-Token", "value": TOKEN }]);
    let recording = read(&[
        entry(1, "POST", "https://shop.test/login", "fetch", login, &json!({"access_token":TOKEN})),
        call,
    ]);
    assert_eq!(bearers(&recording), [None, None]);
}
