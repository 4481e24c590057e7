//! Redirects.

use serde_json::json;

use crate::server::{Server, plain};

#[test]
fn methods_bodies_and_headers_change_on_their_way_as_in_k6() {
    let server = Server::start();
    let out = server.run(
        r"
        for (const code of [301, 302, 303, 307, 308]) {
          for (const method of ['POST', 'HEAD']) {
            const r = http.request(method, B + '/r?redirect=' + code, method === 'HEAD' ? null : 'abc', { headers: { 'Content-Type': 'text/x', 'X-A': 'b', Cookie: 'm=1' }, cookies: { p: '1' } });
            out[method + code] = r.body;
            out.request = r.request;
            out.url = r.url.slice(B.length);
          }
        }
        ",
    );
    for code in ["301", "302", "303"] {
        assert_eq!(
            plain(&server, &out[format!("POST{code}")]),
            format!(
                "GET /echo HTTP/1.1|Host: HOST|User-Agent: UA|Cookie: p=1|\
                 Referer: http://HOST/r?redirect={code}|X-A: b||"
            )
        );
    }
    for code in ["307", "308"] {
        assert_eq!(
            plain(&server, &out[format!("POST{code}")]),
            format!(
                "POST /echo HTTP/1.1|Host: HOST|User-Agent: UA|Content-Length: 3|Content-Type: text/x|\
                 Cookie: p=1|Referer: http://HOST/r?redirect={code}|X-A: b||abc"
            )
        );
    }
    assert_eq!(out["HEAD302"], "");
    assert_eq!(out["request"]["method"], "HEAD");
    assert_eq!(out["request"]["url"], format!("{}/r?redirect=308", server.url));
    assert_eq!(out["request"]["headers"]["Cookie"], json!(["m=1; p=1"]));
    assert_eq!(out["url"], "/echo");
}

#[test]
fn so_many_are_followed_and_a_warning_comes_only_when_nobody_set_the_limit() {
    let server = Server::start();
    let body = r"
        const status = (left, params) => http.get(B + '/r?redirect=302&left=' + left, params).status;
        out.got = [status(10), status(11), status(3, { redirects: 2 }), status(3, { redirects: 3 }), status(1, { redirects: 0 })];
        ";
    let (out, told) = server.run_with("", body, |call| call);
    assert_eq!(out["got"], json!([200, 302, 302, 200, 302]));
    assert_eq!(told.stderr.matches("Stopped after 11 redirects").count(), 1, "{}", told.stderr);
    let (out, told) = server.run_with("", body, |call| call.word("--max-redirects").word("1"));
    assert_eq!(out["got"], json!([302, 302, 302, 200, 302]));
    assert!(!told.stderr.contains("Stopped"), "{}", told.stderr);
}

#[test]
fn locations_of_every_kind_are_understood() {
    let server = Server::start();
    let out = server.run(
        r"
        const to = (where) => { const r = http.get(B + '/r?redirect=302&to=' + where); return [r.status, r.url.replace(B, ''), r.error_code]; };
        out.got = [to('../echo'), to(B + '/echo'), to(B.replace('http:', '') + '/echo'), to('/echo#x'), to('ftp://x/'), to('http://%zz/'), to('http://127.0.0.1:1/')];
        const none = http.get(B + '/status?code=302');
        out.none = [none.status, none.body.length > 0];
        ",
    );
    assert_eq!(
        out["got"],
        json!([
            [200, "/echo", 0],
            [200, "/echo", 0],
            [200, "/echo", 0],
            [200, "/echo", 0],
            [0, "ftp://x/", 1000],
            [0, "/r?redirect=302&to=http://%zz/", 1000],
            [0, "http://127.0.0.1:1/", 1212]
        ])
    );
    assert_eq!(out["none"], json!([302, true]));
}

#[test]
fn credentials_stay_with_their_host() {
    let server = Server::start();
    let out = server.run(
        r"
        const there = B.replace('127.0.0.1', 'localhost') + '/echo';
        const auth = { headers: { Authorization: 'Bearer q', 'X-A': 'b' } };
        const has = (r) => [/Authorization/.test(r.body), /X-A: b/.test(r.body)];
        out.same = has(http.get(B + '/r?redirect=302', auth));
        out.other = has(http.get(B + '/r?redirect=302&to=' + there, auth));
        out.referer = (http.get(B.replace('//', '//u:p@') + '/r?redirect=302').body.match(/Referer: (.*)\r/) || [])[1].replace(B, '');
        ",
    );
    assert_eq!(out["same"], json!([true, true]));
    assert_eq!(out["other"], json!([false, true]));
    assert_eq!(out["referer"], "/r?redirect=302");
}
