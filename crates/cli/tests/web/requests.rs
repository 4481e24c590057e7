//! The bytes of requests on the wire.

use crate::server::{Server, plain};

#[test]
fn heads_and_bodies_are_those_of_k6() {
    let server = Server::start();
    let out = server.run(
        r"
        const E = B + '/echo';
        const b = (r) => r.body;
        out.get = b(http.get(E));
        out.post = b(http.post(E));
        out.text = b(http.post(E, 'h\u00e9llo'));
        out.bytes = b(http.put(E, new Uint8Array([65, 66]).buffer));
        out.form = b(http.post(E, { b: 'x y&=+', a: [1, 2, 'z'], n: null, u: undefined, t: true, f: 1.5, big: 1e21, g: 1234567.5 }));
        out.typed = b(http.post(E, { a: 1 }, { headers: { 'content-type': 'text/x' } }));
        out.del = b(http.del(E, 'gone'));
        out.patch = b(http.patch(E));
        out.options = b(http.options(E));
        out.verbatim = b(http.request('get', E));
        out.brew = b(http.request('BREW', E, 'pot'));
        out.headers = b(http.get(E, { headers: { 'x-a': 1, 'X-A': 2, 'x-null': null, host: 'foo.example', 'user-agent': 'me', 'content-length': 5, Accept: '*/*' } }));
        out.bare = b(http.get(E, { headers: { 'User-Agent': '' } }));
        out.basic = b(http.get(E.replace('//', '//us%40er:p%3Aw@')));
        out.query = b(http.get(E + '?a=b c&d=\u00e9#frag'));
        ",
    );
    for (name, wanted) in [
        ("get", "GET /echo HTTP/1.1|Host: HOST|User-Agent: UA||"),
        ("post", "POST /echo HTTP/1.1|Host: HOST|User-Agent: UA|Content-Length: 0||"),
        ("text", "POST /echo HTTP/1.1|Host: HOST|User-Agent: UA|Content-Length: 6||h\u{e9}llo"),
        ("bytes", "PUT /echo HTTP/1.1|Host: HOST|User-Agent: UA|Content-Length: 2||AB"),
        (
            "form",
            "POST /echo HTTP/1.1|Host: HOST|User-Agent: UA|Content-Length: 73|\
             Content-Type: application/x-www-form-urlencoded||\
             a=1&a=2&a=z&b=x+y%26%3D%2B&big=1e%2B21&f=1.5&g=1.2345675e%2B06&n=&t=true&u=",
        ),
        (
            "typed",
            "POST /echo HTTP/1.1|Host: HOST|User-Agent: UA|Content-Length: 3|Content-Type: text/x||a=1",
        ),
        ("del", "DELETE /echo HTTP/1.1|Host: HOST|User-Agent: UA|Content-Length: 4||gone"),
        ("patch", "PATCH /echo HTTP/1.1|Host: HOST|User-Agent: UA|Content-Length: 0||"),
        ("options", "OPTIONS /echo HTTP/1.1|Host: HOST|User-Agent: UA||"),
        ("verbatim", "get /echo HTTP/1.1|Host: HOST|User-Agent: UA||"),
        ("brew", "BREW /echo HTTP/1.1|Host: HOST|User-Agent: UA|Content-Length: 3||pot"),
        (
            "headers",
            "GET /echo HTTP/1.1|Host: foo.example|User-Agent: UA|Accept: */*|X-A: 2|X-Null: null||",
        ),
        ("bare", "GET /echo HTTP/1.1|Host: HOST||"),
        (
            "basic",
            "GET /echo HTTP/1.1|Host: HOST|User-Agent: UA|Authorization: Basic dXNAZXI6cDp3||",
        ),
        ("query", "GET /echo?a=b c&d=\u{e9} HTTP/1.1|Host: HOST|User-Agent: UA||"),
    ] {
        let got = plain(&server, &out[name]);
        // The length of the form is counted by the server already.
        let (got, wanted) = if name == "form" {
            let cut = |text: &str| text.split_once("||").expect("a body").1.to_owned();
            (cut(&got), cut(wanted))
        } else {
            (got, wanted.to_owned())
        };
        assert_eq!(got, wanted, "{name}");
    }
}

#[test]
fn an_object_with_a_file_is_sent_as_multipart() {
    let server = Server::start();
    let out = server.run(
        r"
        const E = B + '/echo';
        out.raw = http.post(E, { f: http.file('abc', 'f.txt', 'text/plain'), a: '1', n: 5, ar: [1, 2] }).body;
        const f = http.file('abc');
        out.file = [/^\d{19}$/.test(f.filename), f.content_type, f.data];
        out.wrong = tried(() => http.file(5));
        ",
    );
    let raw = plain(&server, &out["raw"]);
    let boundary =
        raw.split("boundary=").nth(1).expect("a boundary").split('|').next().expect("it");
    assert!(raw.contains("|Content-Type: multipart/form-data; boundary="), "{raw}");
    for part in [
        "Content-Disposition: form-data; name=\"f\"; filename=\"f.txt\"|Content-Type: text/plain||abc|",
        "Content-Disposition: form-data; name=\"a\"||1|",
        "Content-Disposition: form-data; name=\"n\"||5|",
        "Content-Disposition: form-data; name=\"ar\"||1|",
        "Content-Disposition: form-data; name=\"ar\"||2|",
    ] {
        assert!(raw.contains(&format!("--{boundary}|{part}--{boundary}")), "{part} in {raw}");
    }
    assert_eq!(out["file"], serde_json::json!([true, "application/octet-stream", "abc"]));
    assert!(
        out["wrong"].as_str().expect("an error").contains("invalid type int64, expected string"),
        "{out}"
    );
}

#[test]
fn compression_shows_on_the_wire_and_not_in_the_request_object() {
    let server = Server::start();
    let (out, told) = server.run_with(
        "",
        r"
        const E = B + '/echo';
        const r = http.post(E, 'abc', { compression: 'gzip, br' });
        out.coded = /Content-Encoding: gzip, br\r\n/.test(r.body);
        out.shown = r.request.body;
        out.own = http.post(E, 'abc', { compression: 'gzip', headers: { 'Content-Encoding': 'mine' } }).request.headers['Content-Encoding'];
        const bad = http.post(E, 'abc', { compression: 'foo' });
        out.bad = [bad.status, bad.error, bad.url];
        out.without = http.get(E, { compression: 'foo' }).status;
        ",
        |call| call,
    );
    assert_eq!(out["coded"], true, "{out}");
    assert_eq!(out["shown"], "abc");
    assert_eq!(out["own"][0], "mine");
    assert_eq!((&out["bad"][0], &out["without"]), (&0.into(), &0.into()));
    assert!(out["bad"][1].as_str().expect("text").contains("unknown compression algorithm foo"));
    assert!(told.stderr.contains("Content-Encoding"), "{}", told.stderr);
}

#[test]
fn urls_are_shown_as_they_are_sent() {
    let server = Server::start();
    let out = server.run(
        r"
        const shown = (url) => { const r = http.get(url); return [r.url, r.request.url, r.body.split(' ')[1]].map((u) => u.replace(B, '')); };
        out.path = shown(B + '/echo/\u00e9 x|y');
        out.query = shown(B + '/echo?q=\u00e9|').slice(0, 2);
        const template = http.url`${B}/echo/${null}a${undefined}`;
        out.template = [template.url, template.name].map((u) => u.replace(B, ''));
        ",
    );
    let path = "/echo/%C3%A9%20x%7Cy";
    assert_eq!(out["path"], serde_json::json!([path, path, path]));
    assert_eq!(out["query"], serde_json::json!(["/echo?q=\u{e9}|", "/echo?q=\u{e9}|"]));
    assert_eq!(out["template"], serde_json::json!(["/echo/a", "${}/echo/${}a${}"]));
}

#[test]
fn the_agent_can_be_changed_and_left_out() {
    let server = Server::start();
    let agent = |flag: &str| {
        let body = "out.agent = (http.get(B).body.match(/User-Agent: (.*)\\r/) || [])[1];";
        server.run_with("", body, |call| call.word("--user-agent").word(flag)).0
    };
    assert_eq!(agent("robot/1")["agent"], "robot/1");
    assert_eq!(agent(""), serde_json::json!({}));
}

#[test]
fn the_module_can_be_patched_and_imported_by_name() {
    let server = Server::start();
    let out = server.run_with(
        "import { get } from 'k6/http';\nimport * as all from 'k6/http';",
        r"
        out.named = get(B).status;
        out.star = all.get(B).status;
        const original = http.get;
        http.get = (url, params) => original(url + '/patched', params);
        out.patched = http.get(B).url.endsWith('/patched');
        http.get = original;
        out.names = Object.keys(http).filter((k) => typeof http[k] === 'function').sort();
        out.constants = [http.TLS_1_3, http.OCSP_STATUS_GOOD, http.OCSP_REASON_REMOVE_FROM_CRL];
        ",
        |call| call,
    );
    let out = out.0;
    assert_eq!((&out["named"], &out["star"]), (&200.into(), &200.into()));
    assert_eq!(out["patched"], true);
    assert_eq!(
        out["names"],
        serde_json::json!([
            "CookieJar",
            "asyncRequest",
            "batch",
            "cookieJar",
            "del",
            "expectedStatuses",
            "file",
            "get",
            "head",
            "options",
            "patch",
            "post",
            "put",
            "request",
            "setResponseCallback",
            "url"
        ])
    );
    assert_eq!(out["constants"], serde_json::json!(["tls1.3", "good", "remove_from_crl"]));
}
