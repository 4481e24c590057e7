use brunt_correlate::{Piece, Place};
use brunt_traffic::Body;

use super::*;

fn with(text: &str, folder: &std::path::Path) -> Result<Session, Error> {
    let variable = |name: &str| match name {
        "HOST" => Some("http://shop.test".to_owned()),
        "API_TOKEN" => Some("t0ps3cret".to_owned()),
        "ID" => Some("17".to_owned()),
        _ => None,
    };
    read(text, &Surroundings { folder, variable: &variable })
}

fn session(text: &str) -> Session {
    with(text, std::path::Path::new(".")).expect(text)
}

/// Method, URL, and the body as text of each request.
fn told(session: &Session) -> Vec<(String, String, String)> {
    let tell = |exchange: &brunt_traffic::Exchange| {
        let request = &exchange.request;
        let body = request.body.in_memory().unwrap_or(b"(file)");
        let body = String::from_utf8_lossy(body).into_owned();
        (request.method.clone(), request.url.to_string(), body)
    };
    session.recording.exchanges.iter().map(tell).collect()
}

fn one(text: &str) -> (String, String, String) {
    told(&session(text)).remove(0)
}

fn fault(text: &str) -> String {
    with(text, std::path::Path::new(".")).expect_err(text).to_string()
}

fn header(session: &Session, name: &str) -> String {
    session.recording.exchanges[0].request.headers.get(name).unwrap_or("(none)").to_owned()
}

#[test]
fn a_command_of_a_page_is_read_with_its_prompt_and_comment() {
    let got = one("# list\n$ curl -sSL shop.test/items?a=1 | jq . # all\n");
    assert_eq!(got, ("GET".into(), "http://shop.test/items?a=1".into(), String::new()));
}

#[test]
fn chrome_for_bash() {
    let text = r#"curl 'https://shop.test/api/items' \
  -H 'accept: application/json' \
  -H 'content-type: application/json' \
  -b 'theme=dark; session=5f8a' \
  -H 'authority;' \
  --data-raw $'{"name":"Zo\u00eb\'s \ud83d\ude00","id":7}' \
  --compressed ;
curl 'https://shop.test/api/items/7' -X 'DELETE' --insecure"#;
    let session = session(text);
    let told = told(&session);
    assert_eq!(told[0].0, "POST");
    assert_eq!(told[0].2, r#"{"name":"Zoë's 😀","id":7}"#);
    assert_eq!(told[1].0, "DELETE");
    assert_eq!(header(&session, "accept-encoding"), "gzip, deflate, br, zstd");
    assert!(session.notes.iter().any(|note| note.contains("insecureSkipTLSVerify")));
    let cookies: Vec<_> =
        session.plan.substitutions.iter().map(|own| (&own.place, &own.pieces)).collect();
    assert_eq!(cookies[0], (&Place::Cookie("theme".into()), &vec![Piece::Literal("dark".into())]));
    assert_eq!(cookies[1], (&Place::Cookie("session".into()), &vec![Piece::Secret(0)]));
    assert_eq!(session.plan.secrets[0].recorded, "5f8a");
}

#[test]
fn chrome_for_cmd() {
    let text = "curl ^\"https://shop.test/api?x=1^&y=2^\" ^\r\n  -H ^\"content-type: application/json^\" ^\r\n  --data-raw ^\"^{^\\^\"name^\\^\":^\\^\"a^&b ^%^PATH^% ^\\^\\n^\\^\",^\\^\"n^\\^\":1^}^\" &\r\ncurl ^\"https://shop.test/b^\"\r\n";
    let session = session(text);
    let told = told(&session);
    assert_eq!(told[0].1, "https://shop.test/api?x=1&y=2");
    assert_eq!(told[0].2, r#"{"name":"a&b %PATH% \n","n":1}"#);
    assert_eq!(told[1].1, "https://shop.test/b");
}

#[test]
fn older_chrome_for_cmd() {
    let text = "curl \"https://shop.test/api\" ^\n  -H \"content-type: application/json\" ^\n  --data-raw \"{\\\"a\\\":\\\"b c\\\"}\" ^\n  --compressed\n";
    assert_eq!(one(text).2, r#"{"a":"b c"}"#);
}

#[test]
fn data_is_joined_and_moved_to_the_query() {
    let got = one("curl -d a=1 --data-urlencode 'q=x y&z' http://a.test/");
    assert_eq!(got.2, "a=1&q=x%20y%26z");
    let got = one("curl -G -d a=1 --data-urlencode 'q=x y' 'http://a.test/?z=0#top'");
    assert_eq!((got.0.as_str(), got.1.as_str()), ("GET", "http://a.test/?z=0&a=1&q=x%20y"));
    let got = one("curl --url-query k=v -I http://a.test/");
    assert_eq!((got.0.as_str(), got.1.as_str()), ("HEAD", "http://a.test/?k=v"));
    let session = session("curl --json '{\"a\":' --json '1}' http://a.test/");
    assert_eq!(told(&session)[0].2, "{\"a\":1}");
    assert_eq!(header(&session, "accept"), "application/json");
}

#[test]
fn short_flags_may_stick_together() {
    let got = one("curl -sXPUT -Hx:y -da=b http://a.test/");
    assert_eq!((got.0.as_str(), got.2.as_str()), ("PUT", "a=b"));
}

#[test]
fn next_begins_another_request() {
    let session =
        session("curl -d x http://a.test/1 --next -H 'A: b' http://a.test/2 http://a.test/3");
    let urls: Vec<_> =
        told(&session).into_iter().map(|(method, url, _)| method + " " + &url).collect();
    assert_eq!(urls, ["POST http://a.test/1", "GET http://a.test/2", "GET http://a.test/3"]);
}

#[test]
fn files_are_parts_and_bodies() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a;b.csv"), "x,y\n").unwrap();
    std::fs::write(folder.path().join("note.txt"), "hello").unwrap();
    let text = "curl -F 'doc=@\"a;b.csv\";type=text/x-csv;filename=z.csv' -F 'note=<note.txt' -F 'k=v;w' http://a.test/";
    let session = with(text, folder.path()).unwrap();
    let body = &told(&session)[0].2;
    assert!(
        body.contains(
            "name=\"doc\"; filename=\"z.csv\"\r\nContent-Type: text/x-csv\r\n\r\nx,y\n\r\n"
        )
    );
    assert!(body.contains("name=\"note\"\r\n\r\nhello\r\n"));
    assert!(body.contains("name=\"k\"\r\n\r\nv;w\r\n"));
    assert!(header(&session, "content-type").starts_with("multipart/form-data; boundary="));
    let session = with("curl --data-binary @note.txt http://a.test/", folder.path()).unwrap();
    let body = &session.recording.exchanges[0].request.body;
    assert!(matches!(body, Body::File { size: 5, .. }), "{body:?}");
    let session = with("curl -T note.txt http://a.test/x", folder.path()).unwrap();
    assert_eq!(told(&session)[0].0, "PUT");
    let error = with("curl\\\n -F a=@gone http://a.test/", folder.path()).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("\"gone\""), "{error}");
}

#[test]
fn variables_are_inputs_and_secrets() {
    let text = "export KIND=big\ncurl \"$HOST/items/$ID?kind=${KIND}&n=${N:-3}\" -H \"Authorization: Bearer $API_TOKEN\" -d '{\"id\": '$ID'}' -H 'content-type: application/json'";
    let session = session(text);
    let request = &session.recording.exchanges[0].request;
    assert_eq!(request.url.as_str(), "http://shop.test/items/17?kind=big&n=3");
    let of = |place: &Place| {
        let found = session.plan.substitutions.iter().find(|own| own.place == *place);
        found.map(|own| own.pieces.clone()).unwrap_or_default()
    };
    let names: Vec<_> = session.plan.inputs.iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names, ["id", "kind", "n"]);
    assert_eq!(of(&Place::Segment(1)), [Piece::Input(0)]);
    assert_eq!(of(&Place::Query(1)), [Piece::Input(2)]);
    assert_eq!(of(&Place::Header(0)), [Piece::Literal("Bearer ".into()), Piece::Secret(0)]);
    assert_eq!(
        of(&Place::Json(vec![brunt_correlate::PathStep::Key("id".into())])),
        [Piece::Input(0)]
    );
    assert_eq!(session.plan.secrets[0].name, "apiToken");
}

#[test]
fn literal_secrets_are_lifted() {
    let session = session(
        "curl -u ann:pw 'http://a.test/?api_key=k1' -d '{\"user\":\"ann\",\"password\":\"pw\"}' -H 'content-type: application/json'",
    );
    let names: Vec<_> = session.plan.secrets.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["apiKey", "basicCredentials", "password"]);
    assert!(session.notes.iter().all(|note| !note.contains("k1")));
}

#[test]
fn a_text_may_stand_behind_the_command() {
    let text = "curl -X POST http://a.test/ -H 'content-type: application/json' -d @- <<EOF\n{\"id\": \"$ID\"}\nEOF\ncurl http://a.test/2\n";
    let session = session(text);
    assert_eq!(told(&session)[0].2, "{\"id\": \"17\"}");
    assert_eq!(session.recording.exchanges.len(), 2);
}

#[test]
fn markdown_is_read_in_its_fences() {
    let session = session(
        "Call it:\n\n```sh\nnpm start &\ncurl http://a.test/1\n```\nand don't curl that.\n",
    );
    assert_eq!(session.recording.exchanges.len(), 1);
    assert_eq!(session.recording.left_out, [("commands that are not curl".to_owned(), 1)]);
}

#[test]
fn faults_name_their_line_and_a_remedy() {
    for (text, part) in [
        ("curl \\\n --frobnicate http://a.test", "line 2: --frobnicate is no flag"),
        ("curl -s", "has no URL"),
        ("curl -?", "-? is no flag"),
        ("curl http://a.test -H", "-H has no value"),
        ("curl -H nocolon http://a.test", "no colon"),
        ("curl 'http://a.test", "a ' has no end"),
        ("curl $BASE/x", "the variable BASE, which has no value"),
        ("curl http://a.test/$(date)", "is not run"),
        ("curl http://a.test/[1-3]", "pattern"),
        ("curl ftp://a.test/", "\"ftp\" is not a scheme"),
        ("curl http://a.test -K flags", "reads a file of flags"),
        ("Invoke-WebRequest -Uri http://a.test", "PowerShell"),
        ("wget http://a.test", "no curl command"),
        ("curl -d @- http://a.test", "standard input"),
        ("curl http://", "is not a URL"),
    ] {
        let error = fault(text);
        assert!(error.contains(part), "{text}: {error}");
    }
}

mod laws {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_ends_in_an_error_or_a_session(text in "(curl )?[ -~\n\\\\'\"$^@{}<]{0,80}") {
            let _ = with(&text, std::path::Path::new("/nonexistent"));
        }

        #[test]
        fn what_is_quoted_for_bash_comes_back(body in "[^\u{0}\r\u{F0000}-\u{10FFFF}]{0,40}") {
            let quoted = body.replace('\'', "'\\''");
            let got = one(&format!("curl http://a.test/ --data-raw '{quoted}'"));
            prop_assert_eq!(got.2, body);
        }
    }
}
