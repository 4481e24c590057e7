//! `brunt convert` as a user has it: a source becomes files, which then run against the demo target.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Brunt, DemoServer, brunt};

/// Converts a file, and gives the folder with what came of it. `line` is behind `convert`.
fn converted(line: &str, source: (&str, &str)) -> Brunt {
    let mut folder = brunt(&format!("convert {line} --out out")).file(source.0, source.1);
    let told = folder.told();
    assert_eq!(told.code, 0, "{told:?}");
    folder
}

/// Runs files of a folder in another one; each request must succeed.
fn runs(from: &Brunt, names: &[&str], line: &str) {
    let copy = |to: Brunt, name: &&str| to.file(name, from.read(&format!("out/{name}")));
    let told = names.iter().fold(brunt(line), copy).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("checks_failed......: 0.00%"), "{told:?}");
}

/// No secret is in the files that may be shared, and the file of secrets is for its owner alone.
fn keeps_secrets(folder: &Brunt, names: &[&str]) {
    for name in names {
        let text = folder.read(&format!("out/{name}"));
        assert!(!text.contains("hush"), "{name}: {text}");
    }
    let about = std::fs::metadata(folder.path("out/secrets.env")).expect("there are secrets");
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
    assert!(folder.read("out/secrets.env").contains("hush"));
}

#[test]
fn commands_that_a_browser_copies_run_and_keep_their_secrets() {
    let server = DemoServer::start();
    let text = r#"curl 'URL/anything/items?q=a%20b&api_key=hush1' \
  -H 'accept: */*' -H 'authorization: Bearer hush2' -H 'x-session: hush3' \
  -b 'connect.sid=s%3Ahush4; lang=de; laravel_session=hush5' --compressed ;
curl 'URL/anything/login' -X 'POST' -H 'content-type: application/json' \
  --data-raw $'{"user":"ada","password":"hush6","note":"it\'s \u00e4"}' ;
curl 'URL/anything/keys' -H 'content-type: application/json' --data-raw '{"password":"hush7\nhush8"}'
"#;
    let folder = converted("a.sh", ("a.sh", &text.replace("URL", &server.url)));
    keeps_secrets(&folder, &["script.js"]);
    assert!(folder.read("out/script.js").contains("it's ä"));
    assert!(folder.read("out/secrets.env").contains(r#"="hush7\nhush8""#), "of several lines");
    runs(&folder, &["script.js", "secrets.env"], "run script.js");
}

#[test]
fn a_collection_sends_the_token_that_its_script_takes() {
    let server = DemoServer::start();
    let text = r#"{"info": {"name": "Shop", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
      "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}"}]},
      "variable": [{"key": "base", "value": "URL"}, {"key": "password", "value": "hush1"}],
      "item": [
        {"name": "Log in", "request": {"auth": {"type": "noauth"}, "method": "POST", "url": "{{base}}/anything/login",
          "body": {"mode": "raw", "raw": "{\"id\": \"{{$guid}}\", \"password\": \"{{password}}\"}", "options": {"raw": {"language": "json"}}}},
         "event": [{"listen": "test", "script": {"exec": ["pm.response.to.have.status(200);",
           "pm.environment.set('token', pm.response.json().json.id);"]}}]},
        {"name": "Me", "request": {"method": "GET", "url": "{{base}}/bearer"}}]}"#;
    let folder = converted("a.json", ("a.json", &text.replace("URL", &server.url)));
    keeps_secrets(&folder, &["script.js"]);
    let script = folder.read("out/script.js");
    assert!(script.contains("Authorization: `Bearer ${token}`"), "{script}");
    runs(&folder, &["script.js", "secrets.env"], "run script.js");
}

#[test]
fn a_document_that_shows_a_command_becomes_a_client() {
    let server = DemoServer::start();
    let text = "openapi: 3.1.0
info:
  title: Pets
  version: '1'
  description: |
    curl http://pets.test/pets
paths:
  /anything/pets/{pet-id}:
    get:
      operationId: get-pet
      parameters: [{name: pet-id, in: path, required: true, schema: {type: integer}}]
      responses: {'200': {description: fine}}
";
    let line = format!("a.yaml --base {}", server.url);
    let folder = converted(&line, ("a.yaml", text));
    runs(&folder, &["script.ts", "client.ts", "data.json"], "run script.ts");
}

#[test]
fn a_har_file_is_told_by_its_content() {
    let server = DemoServer::start();
    let text = r#"{"log": {"entries": [{"request": {"method": "GET", "url": "URL/anything/a", "headers": []},
        "response": {"status": 200, "headers": [], "content": {}}}]}}"#;
    let text = text.replace("URL", &server.url);
    let mut folder = brunt("convert - --out out").stdin(format!("\u{feff}{text}"));
    let told = folder.told();
    assert_eq!(told.code, 0, "{told:?}");
    runs(&folder, &["script.js"], "run script.js");
}

#[test]
fn a_log_becomes_an_attack_with_its_timing() {
    let server = DemoServer::start();
    let line = |second: u32| {
        format!(
            "192.0.2.1 - - [26/Nov/2026:10:00:0{second} +0000] \"GET /anything/a?token=hush HTTP/1.1\" 200 1 \"-\" \"x\"\n"
        )
    };
    let log = format!("{}no request\n{}{}", line(0), line(0), line(1));
    let folder = converted(&format!("a.log --base {}", server.url), ("a.log", &log));
    let targets = folder.read("out/targets.txt");
    assert_eq!(targets.matches("GET http://").count(), 3, "{targets}");
    assert!(!targets.contains("hush"), "{targets}");
    let mut attack =
        brunt("attack -lazy -targets=targets.txt -pacer=file:pace.txt -output=results.bin")
            .file("targets.txt", targets)
            .file("pace.txt", folder.read("out/pace.txt"));
    let told = attack.told();
    assert_eq!(told.code, 0, "{told:?}");
    let results = std::fs::read(attack.path("results.bin")).expect("there are results");
    let told = brunt("report results.bin").file("results.bin", results).told();
    let totals = told.stdout.lines().next().unwrap_or_default();
    assert!(totals.contains(" 3, "), "{told:?}");
    assert!(told.stdout.contains("200:3"), "{told:?}");
}

#[test]
fn wrong_input_is_named_with_its_place() {
    let har = r#"{"log": {"entries": [{"request": {"url": "http://a.test/"}, "response": {"#;
    for (line, name, content, expected) in [
        ("a.har", "a.har", "", "a.har is empty"),
        ("a.har", "a.har", har, "a.har:1:73: the file ends in the middle of entry 1"),
        ("a.txt", "a.txt", "hello", "a.txt is in no format that brunt knows"),
        ("b.har", "a.har", "", "b.har can't be read"),
        ("a.sh --from pdf", "a.sh", "", "invalid value"),
        (
            "a.sh",
            "a.sh",
            "\ncurl --no-such-flag http://a.test/",
            "line 2: --no-such-flag is no flag",
        ),
        ("a.sh --only a.test", "a.sh", "curl http://a.test/", "belong to HAR files"),
        ("a.yaml", "a.yaml", "swagger: '2.0'\n", "Swagger 2.0"),
        ("a.sh --out a.sh", "a.sh", "curl http://a.test/", "a.sh is a file"),
    ] {
        let told = brunt(&format!("convert {line}")).file(name, content).told();
        assert_eq!(told.code, 255, "{line}: {told:?}");
        assert!(told.error().contains(expected), "{line}: {told:?}");
    }
    let log = "192.0.2.1 - - [26/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n";
    let mut twice = brunt("convert a.log --base http://a.test --out out")
        .file("a.log", log)
        .file("out/pace.txt", "mine");
    let told = twice.told();
    assert!(told.error().contains("out/pace.txt is there already"), "{told:?}");
    let left = std::fs::read_dir(twice.path("out")).expect("a folder").count();
    assert_eq!(left, 1, "no draft is left");
}
