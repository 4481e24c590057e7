//! `res.json()`.

use serde_json::json;

use crate::server::Server;

fn answer(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n\r\n{body}")
}

#[test]
fn json_is_parsed_once_and_selected_from_by_gjson_paths() {
    let server = Server::start().canned(
        "json",
        answer(
            r#"{"b":1,"a.b":2,"n":null,"rooms":[{"name":"attic","floor":3,"has":["bed","lamp"]},
               {"name":"cellar","floor":-1},{"name":"study","floor":2}],"é":"ü"}"#,
        ),
    );
    let out = server.run(
        r#"
        const r = http.get(B + '/canned/json');
        out.keys = Object.keys(r.json());
        r.json().added = 1;
        out.kept = r.json().added;
        const paths = ['b', 'a\\.b', 'n', 'nothing', 'rooms.#', 'rooms.1.name', 'rooms.#.floor', 'rooms.#(floor<3)#.name', 'rooms.#(name%"a*").floor', 'rooms.#(has.#(=="bed"))#.name', 'rooms.@reverse.0.name', 'rooms|0|floor', '{b,"x":rooms.0.floor}', '[b,n]', 'rooms.0.@keys', 'rooms.#.has|@flatten', '!"x"', 'é', 'b.c', 'rooms.9'];
        out.found = paths.map((path) => { const found = r.json(path); return found === undefined ? 'undefined' : found; });
        "#,
    );
    assert_eq!(out["keys"], json!(["b", "a.b", "n", "rooms", "é"]));
    assert_eq!(out["kept"], 1);
    assert_eq!(
        out["found"],
        json!([
            1, 2, null, "undefined", 3, "cellar", [3, -1, 2], ["cellar", "study"], 3, ["attic"],
            "study", 3, {"b": 1, "x": 3}, [1, null], ["name", "floor", "has"], ["bed", "lamp"], "x",
            "ü", "undefined", "undefined"
        ])
    );
}

#[test]
fn what_is_no_json_throws_with_its_place_and_selects_nothing() {
    let bodies = [
        ("brace", "{bad", "line 1, character 2 , error: invalid character 'b'"),
        ("empty", "", "line 1, character 0 , error: unexpected end of JSON input"),
        ("open", "{\"a\":1", "line 1, character 6 , error: unexpected end of JSON input"),
        ("lines", "{\"a\":\n\n  x}", "line 3, character 3 , error: invalid character 'x'"),
        ("after", "{\"a\":1}x", "line 1, character 8 , error: invalid character 'x'"),
        ("comma", "[1,]", "line 1, character 4 , error: invalid character ']'"),
    ];
    let mut server = Server::start();
    for (name, body, _) in bodies {
        server = server.canned(name, answer(body));
    }
    let out = server.run(
        r"
        for (const name of ['brace', 'empty', 'open', 'lines', 'after', 'comma']) {
          const r = http.get(B + '/canned/' + name);
          out[name] = [tried(() => r.json()), r.json('a') === undefined];
        }
        out.null = tried(() => http.get('http://127.0.0.1:1/').json());
        ",
    );
    for (name, _, wanted) in bodies {
        let text = out[name][0].as_str().expect("an error");
        assert!(text.contains("cannot parse json due to an error at "), "{text}");
        assert!(text.contains(wanted), "{name}: {text}");
        assert_eq!(out[name][1], true, "{name}");
    }
    assert!(out["null"].as_str().expect("an error").contains("body is null"), "{out}");
}
