use brunt_correlate::{Finder, MadeKind, PathStep, Piece, Place};

use super::*;

const SHOP: &[u8] = include_bytes!("../../tests/postman/shop.json");
const ENVIRONMENT: &[u8] = include_bytes!("../../tests/postman/shop.environment.json");

fn with(collection: &[u8], environments: &[&[u8]]) -> Result<Session, Error> {
    let folder = std::path::Path::new(".");
    read(collection, environments, &Surroundings { folder, variable: &|_| None })
}

fn shop() -> Session {
    with(SHOP, &[ENVIRONMENT]).expect("our own collection")
}

fn pieces(session: &Session, exchange: usize, place: &Place) -> Vec<Piece> {
    let is_it =
        |own: &&brunt_correlate::Substitution| own.exchange == exchange && own.place == *place;
    session.plan.substitutions.iter().find(is_it).map(|own| own.pieces.clone()).unwrap_or_default()
}

fn key(name: &str) -> PathStep {
    PathStep::Key(name.to_owned())
}

fn body(session: &Session, exchange: usize) -> String {
    let bytes = session.recording.exchanges[exchange].request.body.in_memory();
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

#[test]
fn folders_are_steps_in_order() {
    let session = shop();
    let names: Vec<_> = session.recording.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["Account", "Orders", "Form"]);
    assert_eq!(session.recording.exchanges.len(), 5);
    assert_eq!(session.recording.steps[1].at, session.recording.exchanges[1].sent);
}

#[test]
fn what_a_script_takes_is_an_extraction() {
    let session = shop();
    let told: Vec<_> = session
        .plan
        .extractions
        .iter()
        .map(|own| {
            (own.exchange, own.name.as_str(), own.recorded.as_str(), own.source().finder.clone())
        })
        .collect();
    assert_eq!(
        told,
        [
            (0, "token", "eyJ.aa.bb", Finder::Json(vec![key("token")])),
            (0, "first", "41", Finder::Json(vec![key("orders"), PathStep::Index(0), key("id")])),
            (0, "trace", "tr-9", Finder::Header("X-Trace".into())),
        ]
    );
    let bearer =
        [Piece::Literal("Bearer ".into()), Piece::Value { extraction: 0, changes: vec![] }];
    assert_eq!(pieces(&session, 1, &Place::Header(0)), bearer);
    let first = [Piece::Value { extraction: 1, changes: vec![] }];
    assert_eq!(pieces(&session, 1, &Place::Segment(2)), first);
    let variables = Place::Json(vec![key("variables"), key("id")]);
    assert_eq!(pieces(&session, 3, &variables), first);
    let url = session.recording.exchanges[1].request.url.as_str();
    assert_eq!(url, "http://shop.test/api/orders/41?kind=large");
}

#[test]
fn variables_are_inputs_secrets_and_made() {
    let session = shop();
    let inputs: Vec<_> =
        session.plan.inputs.iter().map(|own| (own.name.as_str(), own.recorded.as_str())).collect();
    assert_eq!(inputs, [("user", "ann"), ("count", "3"), ("kind", "large")]);
    let secrets: Vec<_> = session.plan.secrets.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(secrets, ["userPassword", "xKey", "basicCredentials"]);
    assert_eq!(session.plan.made[0].kind, MadeKind::Uuid);
    assert_eq!(pieces(&session, 0, &Place::Header(0)), [Piece::Made(0)]);
    assert_eq!(body(&session, 0), r#"{"user": "ann", "password": "pw-of-ann", "n": 3}"#);
    assert_eq!(pieces(&session, 0, &Place::Json(vec![key("n")])), [Piece::Input(1)]);
    assert_eq!(
        pieces(&session, 2, &Place::Part(0)),
        [Piece::Literal("hello ".into()), Piece::Input(2)]
    );
    assert_eq!(body(&session, 4), "a+b=large+%26+more");
    assert_eq!(
        pieces(&session, 4, &Place::Header(2)),
        [Piece::Literal("Basic ".into()), Piece::Secret(2)]
    );
}

#[test]
fn a_script_says_which_status_is_expected() {
    let session = shop();
    let status = |index: usize| {
        let response = session.recording.exchanges[index].response.as_ref();
        response.map(|response| response.status)
    };
    assert_eq!((status(0), status(1)), (Some(201), Some(200)));
    let notes = session.notes.join("\n");
    assert!(
        notes.contains(
            "Account / Log in: not translated: 3 lines of the test script (lines 4, 9, 10)"
        ),
        "{notes}"
    );
    assert!(notes.contains("invoice.pdf"), "{notes}");
}

#[test]
fn bodies_of_graphql_are_json() {
    let json: Json = serde_json::from_str(&body(&shop(), 3)).unwrap();
    assert_eq!(json["query"], "query { a(k: \"x\") }");
    assert_eq!(json["variables"]["id"], "41");
}

#[test]
fn secrets_are_in_no_note() {
    let session = shop();
    for secret in &session.plan.secrets {
        assert!(session.notes.iter().all(|note| !note.contains(&secret.recorded)));
    }
}

#[test]
fn faults_name_the_request_and_a_remedy() {
    let of = |text: &str| with(text.as_bytes(), &[]).expect_err(text).to_string();
    for (text, part) in [
        ("{", "line 1 column 1"),
        ("[]", "no list \"item\""),
        (r#"{"values":[]}"#, "this is an environment"),
        (r#"{"requests":[]}"#, "version 1"),
        (r#"{"item":[]}"#, "no requests"),
        (
            r#"{"item":[{"name":"A","item":[{"name":"B","request":{"url":"{{host}}/x"}}]}]}"#,
            "A / B: its host is in the variable \"host\"",
        ),
        (r#"{"item":[{"name":"A","request":{"method":"GET"}}]}"#, "A: \"\" is not a URL"),
    ] {
        let error = of(text);
        assert!(error.contains(part), "{text}: {error}");
    }
    let error = with(SHOP, &[b"{}"]).unwrap_err().to_string();
    assert!(error.contains("the environment"), "{error}");
}

#[test]
fn variables_in_variables_end() {
    let text = r#"{"variable":[{"key":"a","value":"{{b}}{{b}}"},{"key":"b","value":"{{a}}{{a}}"}],
        "item":[{"name":"A","request":{"url":"http://a.test/","header":[{"key":"X","value":"{{a}}"}]}}]}"#;
    with(text.as_bytes(), &[]).unwrap();
}

mod laws {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_script_ends(script in "(pm\\.|const |if|test|set|json|[ -~\n]){0,40}") {
            let item = serde_json::json!({"item": [{"name": "A", "request": "http://a.test/{{x}}",
                "event": [{"listen": "test", "script": {"exec": [script]}},
                          {"listen": "prerequest", "script": {"exec": script}}]}]});
            with(item.to_string().as_bytes(), &[]).unwrap();
        }
    }
}
