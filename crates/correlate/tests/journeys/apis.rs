//! Applications that speak JSON, and those that speak through sockets.

use brunt_correlate::MadeKind;
use brunt_traffic::Side;

use crate::laws::lawful;
use crate::shown::has;
use crate::tape::Tape;

const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x1Y2z3A4b5C6d7E8";
const JWT2: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.q9W8e7R6t5Z4u3I2";

#[test]
fn tokens_are_renewed_and_ids_come_from_what_created_them() {
    let bearer = format!("Bearer {JWT}");
    let second = format!("Bearer {JWT2}");
    let mut tape = Tape::new();
    tape.json("POST", "/api/login", &[], r#"{"username":"ada","password":"s3cret-Word"}"#);
    tape.data(&format!(r#"{{"accessToken":"{JWT}","refreshToken":"r1x9dGhpc0lzQVRva2Vu1"}}"#));
    tape.json(
        "POST",
        "/api/orders",
        &[("Authorization", &bearer)],
        r#"{"reference":"Lamp order"}"#,
    );
    tape.data(r#"{"order":{"id":42,"count":42}}"#);
    tape.send("GET", "/api/orders", &[("Authorization", &bearer)], "")
        .data(r#"[{"id":41},{"id":42}]"#);
    tape.json("POST", "/api/refresh", &[], r#"{"refreshToken":"r1x9dGhpc0lzQVRva2Vu1"}"#);
    tape.data(&format!(r#"{{"accessToken":"{JWT2}","refreshToken":"r2x9dGhpc0lzQVRva2Vu1"}}"#));
    tape.send("GET", "/api/orders/42", &[("Authorization", &second)], "");
    tape.answer(
        200,
        &[("ETag", "\"9f8e7d6c5b4a\""), ("Content-Type", "application/json")],
        r#"{"id":42}"#,
    );
    tape.json(
        "PUT",
        "/api/orders/42",
        &[("Authorization", &second), ("If-Match", "\"9f8e7d6c5b4a\"")],
        r#"{"id":42}"#,
    )
    .data("{}");
    let plan = lawful(&tape.0);
    has(
        &plan,
        &[
            "0 > accessToken = json .accessToken",
            "0 > refreshToken = json .refreshToken",
            "1 > orderId = json .order.id",
            "1 Header(1) = Bearer <accessToken>",
            "3 > accessToken = json .accessToken",
            "4 Segment(2) = <orderId>",
            "4 > etag = header ETag",
            "5 Header(2) = <etag>",
            "5 Json([Key(\"id\")]) = <orderId>",
        ],
    );
    assert_eq!(plan.inputs.len(), 2, "{:?}", plan.inputs);
    assert_eq!(plan.secrets.len(), 1);
}

#[test]
fn what_a_browser_made_for_oauth_is_made_anew() {
    let mut tape = Tape::new();
    let auth = "/auth?client_id=spa&state=bUxxLjo9DdB6FKlayQsj7Q&nonce=ysnrYRxNgs6OTJ6Kdp4X1A&code_challenge=\
        E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
    tape.get(auth).redirect("/callback?code=3hZ4R9PhH0MYv0l3m8sW&state=bUxxLjo9DdB6FKlayQsj7Q");
    tape.get("/callback?code=3hZ4R9PhH0MYv0l3m8sW&state=bUxxLjo9DdB6FKlayQsj7Q").page("<p>in");
    tape.post(
        "/token",
        &[
            ("grant_type", "authorization_code"),
            ("code", "3hZ4R9PhH0MYv0l3m8sW"),
            ("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        ],
    );
    tape.data("{}");
    let plan = lawful(&tape.0);
    has(
        &plan,
        &[
            "0 Query(1) = <made state>",
            "0 Query(2) = <made nonce>",
            "0 Query(3) = <made codeChallenge>",
            "1 > code = url|Parameter(\"code\")",
            "2 Field(1) = <code>",
            "2 Field(2) = <made codeVerifier>",
        ],
    );
    assert!(plan.made.iter().any(|made| matches!(made.kind, MadeKind::PkceChallenge(_))));
}

#[test]
fn a_code_that_is_only_in_a_location_keeps_the_script_from_following() {
    let mut tape = Tape::new();
    tape.get("/auth").redirect("/callback?code=3hZ4R9PhH0MYv0l3m8sW");
    tape.get("/callback?code=3hZ4R9PhH0MYv0l3m8sW").redirect("/home");
    tape.get("/home").page("<p>in");
    tape.post("/token", &[("code", "3hZ4R9PhH0MYv0l3m8sW")]).data("{}");
    let plan = lawful(&tape.0);
    has(&plan, &["0 > code = header Location|Parameter(\"code\")", "3 Field(0) = <code>"]);
    assert_eq!(plan.folded, [None, None, Some(1), None]);
}

#[test]
fn cursors_and_global_ids_of_graphql_are_found() {
    let query = |variables: &str| {
        format!(
            r#"{{"operationName":"Notes","query":"query Notes {{ a }}","variables":{variables}}}"#
        )
    };
    let mut tape = Tape::new();
    tape.json("POST", "/graphql", &[], &query("{}"));
    tape.data(r#"{"data":{"notes":{"edges":[{"cursor":"Y3Vyc29yOjE6MDJmOQ=="},{"cursor":"Y3Vyc29yOjI6MDJmOQ=="}],"pageInfo":{"endCursor":"Y3Vyc29yOjI6MDJmOQ=="}}}}"#);
    tape.json("POST", "/graphql", &[], &query(r#"{"after":"Y3Vyc29yOjI6MDJmOQ=="}"#)).data("{}");
    tape.json("POST", "/graphql", &[], &query(r#"{"input":{"title":"Lamp note","clientMutationId":"5761b1b3-8a43-4ba4-b111-0123456789ab"}}"#));
    tape.data(r#"{"data":{"addNote":{"id":"Tm90ZTo1NDY="}}}"#);
    tape.json("POST", "/graphql", &[], &query(r#"{"id":"Tm90ZTo1NDY="}"#)).data("{}");
    let plan = lawful(&tape.0);
    has(
        &plan,
        &[
            "0 > after = json .data.notes.pageInfo.endCursor",
            "2 > id = json .data.addNote.id",
            "3 Json([Key(\"variables\"), Key(\"id\")]) = <id>",
            "2 Json([Key(\"variables\"), Key(\"input\"), Key(\"clientMutationId\")]) = <made clientMutationId>",
        ],
    );
}

#[test]
fn a_socket_gives_and_takes_values() {
    let mut tape = Tape::new();
    tape.json("POST", "/session", &[], "{}").data(r#"{"token":"haM7sts9L7OwtR3zBy5dxb"}"#);
    tape.get("/ws?token=haM7sts9L7OwtR3zBy5dxb").answer(101, &[], "");
    tape.message(Side::Client, r#"{"op":"hello","token":"haM7sts9L7OwtR3zBy5dxb"}"#);
    tape.message(Side::Server, r#"{"op":"welcome","conn":"4b5bd66a-328f-414d-a190-c246d8aaaaaa"}"#);
    tape.message(
        Side::Client,
        r#"{"op":"say","conn":"4b5bd66a-328f-414d-a190-c246d8aaaaaa","text":"Hello all"}"#,
    );
    has(
        &lawful(&tape.0),
        &[
            "1 Query(0) = <token>",
            "1 MessageJson(0, [Key(\"token\")]) = <token>",
            "1 > conn = message 0 json .conn",
            "1 MessageJson(2, [Key(\"conn\")]) = <conn>",
            "1 MessageJson(2, [Key(\"text\")]) = <input text>",
        ],
    );
}

#[test]
fn an_element_is_told_by_what_the_user_typed() {
    let mut tape = Tape::new();
    tape.json("POST", "/api/todos", &[], r#"{"title":"Buy lamps"}"#).data("{}");
    tape.get("/api/todos").data(r#"[{"id":5,"title":"Other"},{"id":9,"title":"Buy lamps"}]"#);
    tape.send("DELETE", "/api/todos/9", &[], "").answer(204, &[], "");
    has(
        &lawful(&tape.0),
        &["1 > todoId = json [title=<input title>].id", "2 Segment(2) = <todoId>"],
    );
}
