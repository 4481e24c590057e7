//! Requests that fail: codes, texts, warnings, `throw`.

use serde_json::json;

use crate::server::Server;

const OK: &str = "HTTP/1.1 200 OK\r\n";

#[test]
fn broken_answers_have_k6s_codes_and_never_stop_the_script() {
    let server = Server::start()
        .canned("nothing", "")
        .canned("noise", "garbage\r\n\r\n")
        .canned("status", "HTTP/1.1 abc OK\r\n\r\n")
        .canned("short", format!("{OK}Content-Length: 10\r\n\r\nabc"))
        .canned("long", format!("{OK}Content-Length: 2\r\n\r\nabcdef"))
        .canned("cut", format!("{OK}Transfer-Encoding: chunked\r\n\r\n5\r\nab"))
        .canned("chunk", format!("{OK}Transfer-Encoding: chunked\r\n\r\nzz\r\nab"))
        .canned("half", format!("{OK}Foo: b"))
        .canned("colon", format!("{OK}Foo bar\r\n\r\n"))
        .canned("endless", format!("{OK}{}", "A: b\r\n".repeat(400_000)));
    let (out, told) = server.run_with(
        "",
        r"
        const shown = (r) => [r.status, r.error_code, r.error, r.body, Object.keys(r.headers).length];
        for (const name of ['nothing', 'noise', 'status', 'short', 'long', 'cut', 'chunk', 'half', 'colon', 'endless']) {
          out[name] = shown(http.get(B + '/canned/' + name));
        }
        out.refused = shown(http.get('http://127.0.0.1:1/'));
        out.name = shown(http.get('http://no.such.invalid/'));
        out.timeout = shown(http.get(B + '/hang', { timeout: '50ms' }));
        out.late = [http.get(B + '/hang', { timeout: 30 }).error_code, http.get(B, { timeout: 0 }).error_code, http.get(B, { timeout: -1 }).error_code];
        out.scheme = shown(http.get('ftp://x/y'));
        out.method = shown(http.request('A B', B));
        out.header = shown(http.get(B, { headers: { 'a b': 'c' } }));
        out.smuggled = shown(http.get(B, { headers: { a: 'x\r\ny: 1' } }));
        out.status404 = shown(http.get(B + '/status?code=404')).slice(0, 3);
        ",
        |call| call,
    );
    assert_eq!(out["nothing"], json!([0, 1000, "EOF", null, 0]));
    assert_eq!(out["noise"], json!([0, 1000, "malformed HTTP response \"garbage\"", null, 0]));
    assert_eq!(out["status"], json!([0, 1000, "malformed HTTP status code \"abc\"", null, 0]));
    assert_eq!(out["short"], json!([0, 1000, "unexpected EOF", "abc", 0]));
    assert_eq!(out["long"], json!([200, 0, "", "ab", 1]));
    assert_eq!(out["cut"], json!([0, 1000, "unexpected EOF", "ab", 0]));
    assert_eq!(out["chunk"], json!([0, 1000, "invalid byte in chunk length", "", 0]));
    assert_eq!(out["half"], json!([0, 1000, "unexpected EOF", null, 0]));
    assert_eq!(out["colon"][1], 1000);
    assert_eq!(out["endless"][1], 1000, "{}", out["endless"]);
    assert_eq!(out["refused"], json!([0, 1212, "dial: connection refused", null, 0]));
    assert_eq!(out["name"][1], 1101, "{}", out["name"]);
    assert_eq!(out["timeout"], json!([0, 1050, "request timeout", null, 0]));
    assert_eq!(out["late"], json!([1050, 1050, 1050]));
    assert_eq!(out["scheme"], json!([0, 1000, "unsupported protocol scheme \"ftp\"", null, 0]));
    assert_eq!(out["method"], json!([0, 1000, "net/http: invalid method \"A B\"", null, 0]));
    assert_eq!(
        out["header"],
        json!([0, 1000, "net/http: invalid header field name \"a b\"", null, 0])
    );
    assert_eq!(out["smuggled"][1], 1000);
    assert_eq!(out["status404"], json!([404, 1404, ""]));
    assert_eq!(told.code, 0, "{told:?}");
    assert!(
        told.stderr.contains(
            r#"level=warning msg="Request Failed" error="Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused""#
        ),
        "{}",
        told.stderr
    );
}

#[test]
fn what_is_no_request_gives_an_empty_response_and_a_warning() {
    let server = Server::start();
    let (out, told) = server.run_with(
        "",
        r"
        const shown = (r) => [r.status, r.error_code, r.url, r.body.length, r.request, r.error.slice(0, 12)];
        out.number = shown(http.get(5));
        out.missing = shown(http.get());
        out.bracket = shown(http.get('http://[::1'));
        out.blank = shown(http.get('http://a b/'));
        out.body = shown(http.post(B, 5));
        out.timeout = shown(http.get(B, { timeout: 'soon' }));
        out.tag = shown(http.get(B, { tags: { a: {} } }));
        out.callback = shown(http.get(B, { responseCallback: {} }));
        out.noScheme = http.get('foo').error_code;
        ",
        |call| call,
    );
    for name in ["number", "missing", "bracket", "blank"] {
        assert_eq!(out[name], json!([0, 1020, "", 0, null, "invalid URL:"]), "{name}");
    }
    for name in ["body", "timeout", "tag", "callback"] {
        assert_eq!(
            out[name].as_array().expect("a list")[..5],
            json!([0, 0, "", 0, null]).as_array().expect("one")[..],
            "{name}"
        );
    }
    assert_eq!(out["noScheme"], 1000);
    assert!(told.stderr.contains("Request Failed"), "{}", told.stderr);
    assert!(told.stderr.contains("missing ']' in host"), "{}", told.stderr);
}

#[test]
fn throw_throws_for_failures_and_never_for_statuses() {
    let server = Server::start().canned("short", format!("{OK}Content-Length: 10\r\n\r\nabc"));
    let (out, told) = server.run_with(
        "export const options = { throw: true };",
        r"
        out.refused = tried(() => http.get('http://127.0.0.1:1/'));
        out.url = tried(() => http.get('http://[::1'));
        out.short = tried(() => http.get(B + '/canned/short'));
        out.status = tried(() => http.get(B + '/status?code=500').status);
        out.off = tried(() => http.get('http://127.0.0.1:1/', { throw: false }).status);
        let rejected = '';
        await http.asyncRequest('GET', 'http://127.0.0.1:1/').catch((e) => { rejected = String(e); });
        out.rejected = rejected;
        out.batch = tried(() => http.batch(['http://127.0.0.1:1/', B]));
        ",
        |call| call,
    );
    for name in ["refused", "rejected", "batch"] {
        let text = out[name].as_str().expect("an error");
        assert!(
            text.ends_with(
                "Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused"
            ),
            "{text}"
        );
    }
    assert!(out["url"].as_str().expect("an error").contains("invalid URL"), "{out}");
    assert!(out["short"].as_str().expect("an error").ends_with(": unexpected EOF"), "{out}");
    assert_eq!((&out["status"], &out["off"]), (&json!(500), &json!(0)));
    // Only the request that did not throw is warned of.
    assert_eq!(told.stderr.matches("Request Failed").count(), 1, "{}", told.stderr);
}

#[test]
fn requests_are_not_for_init_code() {
    let server = Server::start();
    let out = server.run_with(
        "const errors = [() => http.get('http://x/'), () => http.batch([]), () => http.cookieJar()]\n\
         .map((f) => { try { f(); return 'none'; } catch (e) { return e.message; } });\n\
         new http.CookieJar(); http.expectedStatuses(200); http.file('x');",
        "out.errors = errors;",
        |call| call,
    );
    for error in out.0["errors"].as_array().expect("a list") {
        assert!(error.as_str().expect("text").contains("in the init context"), "{error}");
    }
}

/// Seen in k6 1.8.1.
#[test]
fn what_is_thrown_names_the_url_until_the_head_has_come() {
    let gzip =
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcbH\xcd\xc9\xc9W(\xcf/\xcaI\x01\0\x85\x11J\x0d\x0b\0\0\0";
    let coded = |body: &[u8]| {
        let head = format!("{OK}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    };
    let server = Server::start()
        .canned("status", "HTTP/1.1 abc OK\r\n\r\n")
        .canned("half", format!("{OK}Foo: b"))
        .canned("nothing", "")
        .canned("short", format!("{OK}Content-Length: 10\r\n\r\nabc"))
        .canned("location", "HTTP/1.1 302 F\r\nLocation: :bad\r\nContent-Length: 0\r\n\r\n")
        .canned("switch", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")
        .canned("nogzip", coded(b"not gzip at all"))
        .canned("cutgzip", coded(&gzip[..gzip.len() - 4]));
    let (out, told) = server.run_with(
        "",
        r"
        for (const name of ['status', 'half', 'nothing', 'short', 'location', 'nogzip', 'cutgzip']) {
          try { http.get(B + '/canned/' + name, { throw: true }); } catch (e) { out[name] = e.message.replace(B, ''); }
        }
        for (const name of ['nogzip', 'cutgzip']) {
          const r = http.get(B + '/canned/' + name);
          out[name + ' told'] = [r.status, r.error_code, r.error, r.body];
        }
        try { http.get(B + '/canned/switch'); } catch (e) { out.switch = String(e); }
        ",
        |call| call,
    );
    let broken = "net/http: HTTP/1.x transport connection broken";
    assert_eq!(
        out["status"],
        json!(format!("Get \"/canned/status\": {broken}: malformed HTTP status code \"abc\""))
    );
    assert_eq!(out["half"], json!(format!("Get \"/canned/half\": {broken}: unexpected EOF")));
    assert_eq!(out["nothing"], json!("Get \"/canned/nothing\": EOF"));
    assert_eq!(out["short"], json!("unexpected EOF"));
    assert_eq!(
        out["location"],
        json!(
            "Get \"/canned/location\": failed to parse Location header \":bad\": parse \":bad\": missing protocol scheme"
        )
    );
    let what = "error decompressing response body";
    assert_eq!(out["nogzip"], json!(format!("{what} (gzip: invalid header)")));
    assert_eq!(
        out["nogzip told"],
        json!([0, 1701, format!("{what} ({what} (gzip: invalid header))"), null])
    );
    assert_eq!(out["cutgzip"], json!("unexpected EOF"));
    assert_eq!(out["cutgzip told"], json!([0, 1000, "unexpected EOF", "hello world"]));
    assert_eq!(
        out["switch"],
        json!("GoError: unsupported response status: 101 Switching Protocols")
    );
    assert!(told.stderr.contains("error=\"unexpected EOF\""), "{}", told.stderr);
}
