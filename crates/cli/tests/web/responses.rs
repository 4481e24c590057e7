//! The response object.

use serde_json::json;

use crate::server::Server;

#[test]
fn the_response_has_k6s_properties_in_k6s_order() {
    let server = Server::start();
    let out = server.run(
        r"
        const r = http.post(B + '/cookies?set=a=1;Path=/x;Max-Age=5;HttpOnly|a=2', 'hi', { headers: { 'x-y': 'z' }, cookies: { q: '1' } });
        out.keys = Object.keys(r);
        out.types = Object.keys(r).map((k) => typeof r[k]);
        out.json = JSON.parse(JSON.stringify(r));
        out.sum = Math.abs(r.timings.duration - r.timings.sending - r.timings.waiting - r.timings.receiving) < 1e-6;
        out.has = ['status' in r, 'nothing' in r, r.hasOwnProperty('json')];
        r.status = 9;
        out.assigned = r.status;
        ",
    );
    assert_eq!(
        out["keys"],
        json!([
            "remote_ip",
            "remote_port",
            "url",
            "status",
            "status_text",
            "proto",
            "headers",
            "cookies",
            "body",
            "timings",
            "tls_version",
            "tls_cipher_suite",
            "ocsp",
            "error",
            "error_code",
            "request",
            "clickLink",
            "html",
            "json",
            "submitForm"
        ])
    );
    let shown = &out["json"];
    assert_eq!(shown["remote_ip"], "127.0.0.1");
    assert_eq!((&shown["status"], &shown["status_text"]), (&json!(200), &json!("200 OK")));
    assert_eq!(shown["proto"], "HTTP/1.1");
    assert_eq!(shown["headers"]["Set-Cookie"], "a=1;Path=/x;Max-Age=5;HttpOnly, a=2");
    assert_eq!(
        shown["cookies"]["a"][0],
        json!({"name": "a", "value": "1", "domain": "", "path": "/x", "http_only": true,
               "secure": false, "max_age": 5, "expires": -6_795_364_578_871_i64})
    );
    assert_eq!(shown["cookies"]["a"][1]["value"], "2");
    let timings: Vec<&String> = shown["timings"].as_object().expect("an object").keys().collect();
    let names = [
        "duration",
        "blocked",
        "looking_up",
        "connecting",
        "tls_handshaking",
        "sending",
        "waiting",
        "receiving",
    ];
    assert_eq!(timings, names);
    assert_eq!(shown["timings"]["looking_up"], 0);
    let request = &shown["request"];
    assert_eq!((&request["method"], &request["body"]), (&json!("POST"), &json!("hi")));
    assert_eq!(request["headers"]["X-Y"], json!(["z"]));
    assert_eq!(request["headers"]["Cookie"], json!(["q=1"]));
    assert_eq!(request["cookies"]["q"], json!([{"name": "q", "value": "1", "replace": false}]));
    assert_eq!(out["sum"], true);
    assert_eq!(out["has"], json!([true, false, true]));
    assert_eq!(out["assigned"], 9);
}

#[test]
fn bodies_follow_status_method_and_response_type() {
    let server = Server::start()
        .canned("latin", b"HTTP/1.1 200 OK\r\n\r\na\xff\xfeb")
        .canned("chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\n")
        .canned("old", "HTTP/1.0 200 OK\r\n\r\nold")
        .canned("hinted", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        .canned("names", "HTTP/1.1 200 OK\r\nx-foo: a\r\nX-FOO: b\r\nEmpty:\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n");
    let out = server.run(
        r"
        out.head = http.head(B + '/echo').body;
        out.none = [204, 304].map((code) => http.get(B + '/status?code=' + code).body);
        out.error = http.get(B + '/status?code=404').body.length > 0;
        out.discarded = http.get(B, { responseType: 'none' }).body;
        const binary = http.get(B + '/canned/latin', { responseType: 'binary' }).body;
        out.binary = [binary instanceof ArrayBuffer, Array.from(new Uint8Array(binary))];
        out.text = http.get(B + '/canned/latin').body;
        const chunked = http.get(B + '/canned/chunked');
        out.chunked = [chunked.body, chunked.headers];
        const old = http.get(B + '/canned/old');
        out.old = [old.proto, old.body];
        out.hinted = http.get(B + '/canned/hinted').body;
        out.names = http.get(B + '/canned/names').headers;
        const bad = http.get(B, { responseType: 'foo' });
        out.bad = [bad.status, bad.body.length, bad.error_code];
        ",
    );
    assert_eq!(out["head"], "");
    assert_eq!(out["none"], json!([null, null]));
    assert_eq!((&out["error"], &out["discarded"]), (&json!(true), &json!(null)));
    assert_eq!(out["binary"], json!([true, [97, 255, 254, 98]]));
    assert_eq!(out["text"], "a\u{fffd}\u{fffd}b");
    assert_eq!(out["chunked"], json!(["abcde", {}]));
    assert_eq!(out["old"], json!(["HTTP/1.0", "old"]));
    assert_eq!(out["hinted"], "x");
    assert_eq!(out["names"], json!({"X-Foo": "a, b", "Empty": "", "Content-Length": "0"}));
    assert_eq!(out["bad"], json!([0, 0, 0]));
}

#[test]
fn discarded_bodies_come_back_when_a_request_asks() {
    let server = Server::start();
    let out = server.run_with(
        "export const options = { discardResponseBodies: true };",
        "out.bodies = [http.get(B).body, http.get(B, { responseType: 'text' }).body.length > 0];",
        |call| call,
    );
    assert_eq!(out.0["bodies"], json!([null, true]));
}

#[test]
fn compressed_bodies_are_decoded_and_broken_ones_fail_with_1701() {
    // printf '{"a":1}' | gzip -n
    const GZIP: [u8; 27] = [
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0x56, 0x4a, 0x54, 0xb2, 0x32, 0xac, 5, 0, 0xef,
        0x91, 0x66, 0x9c, 7, 0, 0, 0,
    ];
    let coded = |coding: &str, body: &[u8]| {
        let mut all = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n").into_bytes();
        all.extend_from_slice(body);
        all
    };
    let server = Server::start()
        .canned("broken", coded("gzip", &GZIP[..12]))
        .canned("unknown", coded("foo", b"plain"))
        .canned("nothing", coded("br", b""));
    let out = server.run(
        r"
        const shown = (name) => { const r = http.get(B + '/canned/' + name); return [r.status, r.body, r.error_code, r.headers['Content-Encoding'] || null]; };
        out.unknown = shown('unknown');
        out.broken = shown('broken');
        out.nothing = shown('nothing');
        out.ignored = http.get(B + '/canned/broken', { responseType: 'none' }).status;
        ",
    );
    assert_eq!(out["unknown"], json!([200, "plain", 0, "foo"]));
    assert_eq!(out["broken"], json!([0, "{", 1000, null]));
    assert_eq!(out["nothing"], json!([200, "", 0, "br"]));
    assert_eq!(out["ignored"], 200);
}
