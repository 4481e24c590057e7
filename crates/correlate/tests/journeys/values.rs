//! Values of the server, and values that only look so.

use brunt_correlate::{Explanation, MadeKind, Piece, Place, compare};

use crate::laws::lawful;
use crate::shown::{has, shown};
use crate::tape::Tape;

#[test]
fn what_a_server_only_says_back_is_no_source() {
    let mut tape = Tape::new();
    tape.get("/find?q=marblelantern77a9")
        .page(r#"<a href="/find?q=marblelantern77a9&page=2">2</a>"#);
    tape.get("/find?q=marblelantern77a9&page=2").page("<p>");
    let plan = lawful(&tape.0);
    assert!(plan.extractions.is_empty(), "{:#?}", shown(&plan));
}

#[test]
fn short_and_common_values_stay_as_they_are() {
    let mut tape = Tape::new();
    tape.get("/")
        .data(r#"{"lang":"en","size":10,"ok":true,"id":3,"status":"open","version":"v1"}"#);
    tape.json(
        "POST",
        "/v1/orders?lang=en&size=10",
        &[],
        r#"{"quantity":3,"status":"open","ok":true}"#,
    )
    .data("{}");
    let plan = lawful(&tape.0);
    assert!(plan.substitutions.is_empty(), "{:#?}", shown(&plan));
}

#[test]
fn times_and_nonces_of_the_client_are_made() {
    let mut tape = Tape::new();
    tape.get("/poll?_=1764150000123").data("{}");
    tape.json(
        "POST",
        "/pay",
        &[("Idempotency-Key", "5761b1b3-8a43-4ba4-b111-0123456789ab")],
        r#"{"at":"2025-11-26T10:00:00.000Z"}"#,
    );
    tape.data(r#"{"key":"5761b1b3-8a43-4ba4-b111-0123456789ab"}"#);
    tape.get("/pay/status?key=5761b1b3-8a43-4ba4-b111-0123456789ab").data("{}");
    let plan = lawful(&tape.0);
    let kinds: Vec<_> = plan.made.iter().map(|made| made.kind.clone()).collect();
    assert_eq!(kinds, [MadeKind::Milliseconds, MadeKind::Uuid, MadeKind::Timestamp]);
    has(&plan, &["2 Query(0) = <made idempotencyKey>"]);
    assert!(plan.extractions.is_empty());
}

#[test]
fn a_short_state_that_brings_the_browser_back_is_made() {
    let mut tape = Tape::new();
    tape.get("/session/end?post_logout_redirect_uri=http%3A%2F%2Fapp.test%2F&state=pBE_k7bZvE8")
        .redirect("http://app.test/?state=pBE_k7bZvE8");
    tape.get("/?state=pBE_k7bZvE8").page("<p>");
    tape.get("/go?redirect_uri=http%3A%2F%2Fapp.test%2F&state=checkout-step").page("<p>");
    let plan = lawful(&tape.0);
    let kinds: Vec<_> = plan.made.iter().map(|made| made.kind.clone()).collect();
    assert_eq!(kinds, [MadeKind::Base64Url(11)], "{:?}", shown(&plan));
    assert!(plan.suspects.is_empty(), "{:?}", plan.suspects);
}

#[test]
fn keys_and_passwords_are_secrets_and_never_literals() {
    let mut tape = Tape::new();
    tape.send(
        "GET",
        "/a?api_key=a1b2c3d4e5",
        &[("Authorization", "Basic YWRhOnNlY3JldA=="), ("X-Api-Key", "k9j8h7g6f5d4")],
        "",
    )
    .data("{}");
    tape.send("GET", "/b", &[("Cookie", "SESSION=9a8b7c6d5e4f3a2b; theme=dark")], "").data("{}");
    let plan = lawful(&tape.0);
    assert_eq!(plan.secrets.len(), 4, "{:?}", shown(&plan));
    for own in &plan.substitutions {
        let is_long = |piece: &Piece| matches!(piece, Piece::Literal(text) if text.len() > 6);
        assert!(!own.pieces.iter().any(is_long), "{own:?}");
    }
    has(&plan, &["0 Header(0) = Basic <secret authorization>", "1 Cookie(\"theme\") = dark"]);
}

#[test]
fn a_cookie_that_scripts_read_is_a_source() {
    let mut tape = Tape::new();
    tape.get("/").answer(200, &[("Set-Cookie", "XSRF-TOKEN=aB3%2Bc9dGhpc0lzQVRva2Vu; Path=/")], "");
    tape.send("POST", "/save", &[("X-XSRF-TOKEN", "aB3+c9dGhpc0lzQVRva2Vu")], "").data("{}");
    has(
        &lawful(&tape.0),
        &["0 > csrfToken = cookie XSRF-TOKEN|UrlDecode", "1 Header(0) = <csrfToken>"],
    );
}

#[test]
fn literals_of_scripts_are_found_by_the_texts_around_them() {
    let mut tape = Tape::new();
    tape.get("/")
        .page(r#"<script>var config = {"user": {"csrf": "q1W2e3R4t5Z6u7I8"}, page: 3};</script>"#);
    tape.json("POST", "/save", &[("X-CSRF", "q1W2e3R4t5Z6u7I8")], "{}").data("{}");
    let plan = lawful(&tape.0);
    has(&plan, &["1 Header(1) = <csrfToken>"]);
}

#[test]
fn constants_of_cached_scripts_stay_literals() {
    let mut tape = Tape::new();
    tape.get("/app.js").answer(
        200,
        &[("Content-Type", "text/javascript"), ("Cache-Control", "max-age=3600")],
        "const id = 'c1W2e3R4t5Z6u7I8';",
    );
    tape.get("/go?client_id=c1W2e3R4t5Z6u7I8").data("{}");
    let plan = lawful(&tape.0);
    assert!(plan.substitutions.is_empty() && plan.suspects.is_empty(), "{:?}", shown(&plan));
}

#[test]
fn a_coded_value_is_coded_again() {
    let mut tape = Tape::new();
    tape.get("/me").data(r#"{"handle":"u7x9k2m4q8z1"}"#);
    // base64 of "u7x9k2m4q8z1"
    tape.json("POST", "/x", &[], r#"{"blob":"dTd4OWsybTRxOHox"}"#).data("{}");
    has(&lawful(&tape.0), &["1 Json([Key(\"blob\")]) = <blob|Base64Encode>"]);
}

#[test]
fn two_recordings_tell_what_is_not_explained() {
    let record = |token: &str, build: &str| {
        let mut tape = Tape::new();
        tape.get("/").data(&format!(r#"{{"token":"{token}"}}"#));
        tape.send("GET", "/x", &[("X-Token", token), ("X-Device", build)], "").data("{}");
        tape.0
    };
    let found =
        compare(&record("haM7sts9L7OwtR3zBy5dxb", "d1"), &record("zzM7sts9L7OwtR3zBy5dyy", "d2"));
    assert_eq!(found.len(), 2);
    assert!(matches!(found[0].explained, Some(Explanation::Extraction(0))));
    assert_eq!((found[1].place.clone(), found[1].explained), (Place::Header(1), None));
}
