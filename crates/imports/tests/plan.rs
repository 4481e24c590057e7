//! The laws of plans, on everything that is read: the recorded texts of a substitution's pieces, joined, are the recorded text of
//! its place.

use std::path::Path;

use brunt_correlate::{PathStep, Piece, Place};
use brunt_imports::access_log::{self, Options};
use brunt_imports::{Session, Surroundings, curl, postman};
use brunt_traffic::Request;
use proptest::prelude::*;
use serde_json::Value as Json;

fn decoded(text: &str) -> String {
    let pair = format!("a={}", text.replace('&', "%26").replace('+', "%2B").replace('#', "%23"));
    let mut url = url::Url::parse("http://a.test/").expect("a URL");
    url.set_query(Some(&pair));
    url.query_pairs().map(|(_, value)| value.into_owned()).collect()
}

/// The text of a place; nothing if there is no such place.
fn text(request: &Request, place: &Place) -> Option<String> {
    let body = || request.body.in_memory().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    match place {
        Place::Segment(index) => request.url.path_segments()?.nth(*index).map(decoded),
        Place::Query(index) => {
            request.url.query_pairs().nth(*index).map(|(_, value)| value.into_owned())
        }
        Place::Header(index) => request.headers.0.get(*index).map(|(_, value)| value.clone()),
        Place::Cookie(name) => {
            let all = request.headers.all("cookie").flat_map(|own| own.split(';'));
            let pairs = all.filter_map(|pair| pair.trim().split_once('='));
            pairs.filter(|(own, _)| own == name).map(|(_, value)| value.to_owned()).next()
        }
        Place::Field(index) => {
            let mut url = url::Url::parse("http://a.test/").expect("a URL");
            url.set_query(Some(&body()?));
            url.query_pairs().nth(*index).map(|(_, value)| value.into_owned())
        }
        Place::Part(index) => {
            let body = body()?;
            let boundary = body.split("\r\n").next()?.to_owned();
            let part = body.split(&boundary).nth(index + 1)?;
            part.split_once("\r\n\r\n").map(|(_, own)| own.trim_end_matches("\r\n").to_owned())
        }
        Place::Json(path) => {
            let json: Json = serde_json::from_str(&body()?).ok()?;
            let at = path.iter().try_fold(&json, |at, step| match step {
                PathStep::Key(key) => at.get(key),
                PathStep::Index(index) => at.get(index),
                PathStep::Where { .. } => None,
            })?;
            Some(at.as_str().map_or_else(|| at.to_string(), str::to_owned))
        }
        Place::Body => body(),
        _ => None,
    }
}

#[track_caller]
fn holds(session: &Session) {
    let plan = &session.plan;
    for own in &plan.substitutions {
        let pieces = own.pieces.iter().map(|piece| match piece {
            Piece::Literal(text) => text.as_str(),
            Piece::Value { extraction, .. } => {
                assert!(
                    plan.extractions[*extraction].exchange < own.exchange,
                    "before it is there"
                );
                plan.extractions[*extraction].recorded.as_str()
            }
            Piece::Made(index) => plan.made[*index].recorded.as_str(),
            Piece::Input(index) => plan.inputs[*index].recorded.as_str(),
            Piece::Secret(index) => plan.secrets[*index].recorded.as_str(),
        });
        let joined: String = pieces.collect();
        let request = &session.recording.exchanges[own.exchange].request;
        assert_eq!(text(request, &own.place).as_deref(), Some(joined.as_str()), "{own:?}");
    }
}

fn of_curl(text: &str) -> Session {
    let variable = |name: &str| Some(format!("{}/&=+ %ü", name.to_lowercase()));
    let surroundings = Surroundings { folder: Path::new("/nonexistent"), variable: &variable };
    curl::read(text, &surroundings).expect(text)
}

#[test]
fn pieces_are_the_texts_of_their_places() {
    let surroundings = Surroundings { folder: Path::new("/nonexistent"), variable: &|_| None };
    let collection = include_bytes!("postman/shop.json");
    let environment = include_bytes!("postman/shop.environment.json");
    let session = postman::read(collection, &[environment], &surroundings).expect("our own");
    assert!(session.plan.substitutions.len() > 10);
    holds(&session);
    let log = b"192.0.2.1 - - [26/Nov/2026:10:00:00 +0000] \"GET /a/b%2Fc?x=1&token=a%2Bb+c HTTP/1.1\" 200 12\n";
    let options = Options { base: "http://a.test/v1".parse().ok(), ..Options::default() };
    holds(&access_log::session(&log[..], &options).expect("a log").0);
}

#[test]
fn a_form_that_a_browser_copied_has_its_parts() {
    let session = of_curl(
        "curl 'http://a.test/' -H 'content-type: multipart/form-data; boundary=----x' --data-raw $'------x\\r\\nContent-Disposition: form-data; name=\"user\"\\r\\n\\r\\nann\\r\\n------x\\r\\nContent-Disposition: form-data; name=\"password\"\\r\\n\\r\\nhunter2\\r\\n------x\\r\\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\\r\\n\\r\\n\\r\\n------x--\\r\\n'",
    );
    holds(&session);
    let [own] = session.plan.substitutions.as_slice() else { unreachable!("one: {session:?}") };
    assert_eq!((&own.place, &session.plan.secrets[0].recorded[..]), (&Place::Part(1), "hunter2"));
}

#[test]
fn values_are_encoded_as_their_places_want() {
    let session = of_curl(
        "curl \"http://a.test/x/$MY_TOKEN/$ID?k=$MY_TOKEN&i=$ID\" -b \"sid=$MY_TOKEN\" -d \"a=1\" --data-urlencode \"b=$MY_TOKEN\"",
    );
    holds(&session);
    let secret = "my_token/&=+ %ü";
    assert_eq!(session.plan.secrets[0].recorded, secret);
    let url = &session.recording.exchanges[0].request.url;
    assert_eq!(
        url.query_pairs().next().map(|(_, value)| value.into_owned()).as_deref(),
        Some(secret)
    );
}

proptest! {
    #[test]
    fn pieces_are_the_texts_of_any_places(
        words in prop::collection::vec("[a-z%&=+/? \"{}:,;$]{0,6}(\\$(A|B_KEY|\\{C:-[a-z]{0,3}\\}))?[a-z]{0,2}", 5),
        kind in prop::sample::select(vec!["application/json", "text/plain", "application/x-www-form-urlencoded"]),
    ) {
        let quoted: Vec<String> = words.iter().map(|word| word.replace('"', "\\\"")).collect();
        let [path, query, header, cookie, body] = quoted.as_slice() else { unreachable!("five words") };
        // A variable as the name of a cookie is left as it is: a second cookie would have one.
        let cookie = cookie.replace(';', ",");
        let text = format!(
            "curl -g \"http://a.test/{path}?q={query}&token={query}\" -H \"X: {header}\" -H \"Authorization: Bearer {header}\" -b \"c={cookie}\" -H 'Content-Type: {kind}' --data-raw \"{body}\"\n\
             curl -g http://a.test --json \"{{\\\"a\\\": [\\\"$A\\\", $B_KEY], \\\"password\\\": \\\"x\\\"}}\"",
        );
        let variable = |name: &str| Some(format!("{}/&=+ %", name.to_lowercase())).filter(|_| name != "C");
        let surroundings = Surroundings { folder: Path::new("/nonexistent"), variable: &variable };
        if let Ok(session) = curl::read(&text, &surroundings) {
            holds(&session);
        }
    }
}
