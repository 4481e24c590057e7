//! `http.batch` and `http.asyncRequest`.

use serde_json::json;

use crate::server::Server;

#[test]
fn a_batch_has_the_shape_of_what_was_asked() {
    let server = Server::start();
    let out = server.run(
        r"
        const E = B + '/echo';
        const lines = (r) => r.body.split(' ')[0] + ' ' + r.body.split('\r\n\r\n')[1];
        out.list = http.batch([E, ['post', E, 'x'], { method: 'put', url: E, body: { q: 1 } }, { url: E, body: 'lost' }, http.url`${E}?${1}`]).map(lines);
        const named = http.batch({ a: E, b: ['DELETE', E, null, { tags: { t: '1' } }] });
        out.named = [Object.keys(named), lines(named.b)];
        out.empty = [http.batch([]), http.batch({})];
        out.wrong = [() => http.batch(), () => http.batch([E], [E]), () => http.batch('x'), () => http.batch(null)].map((f) => typeof tried(f));
        out.refused = http.batch(['http://127.0.0.1:1/', E]).map((r) => r.status);
        ",
    );
    assert_eq!(out["list"], json!(["GET ", "post x", "PUT q=1", "GET ", "GET "]));
    assert_eq!(out["named"], json!([["a", "b"], "DELETE "]));
    assert_eq!(out["empty"], json!([[], {}]));
    assert_eq!(out["wrong"], json!(["string", "string", "string", "string"]));
    assert_eq!(out["refused"], json!([0, 200]));
}

#[test]
fn one_bad_entry_and_nothing_is_sent() {
    let server = Server::start();
    let (out, told) = server.run_with(
        "",
        r"
        const shown = (r) => r && [r.status, r.error_code, r.error.length > 0];
        for (const [name, bad] of Object.entries({ number: 5, url: 'http://[::1', body: ['POST', B, 5], bare: ['GET'], none: { method: 'GET' } })) {
          const r = http.batch([B, bad, B]);
          out[name] = [r.length, shown(r[0]), shown(r[1]), r[2] === undefined];
        }
        out.keys = Object.keys(http.batch({ a: B, b: 5, c: B }));
        ",
        |call| call,
    );
    for (name, code) in [("number", 1020), ("url", 1020), ("body", 0), ("bare", 0), ("none", 0)] {
        assert_eq!(out[name], json!([3, [0, 0, false], [0, code, true], true]), "{name}");
    }
    assert_eq!(out["keys"], json!(["a", "b"]));
    assert_eq!(server.connections(), 1, "the report's");
    assert_eq!(told.stderr.matches("level=warning").count(), 6, "{}", told.stderr);
}

#[test]
fn a_batch_runs_at_once_within_its_limits() {
    let most = |options: &str| {
        let top = format!("export const options = {{ {options} }};");
        let body = "out.n = http.batch(Array(12).fill(B + '/slow')).length;";
        let server = Server::start();
        assert_eq!(server.run_with(&top, body, |call| call).0["n"], 12);
        server.most_at_once()
    };
    assert_eq!(most(""), 6);
    assert_eq!(most("batchPerHost: 3"), 3);
    assert_eq!(most("batch: 4, batchPerHost: 0"), 4);
}

#[test]
fn async_requests_overlap_and_settle_like_promises() {
    let server = Server::start();
    let out = server.run(
        r"
        const all = await Promise.all(Array(10).fill(0).map(() => http.asyncRequest('GET', B + '/slow')));
        out.statuses = all.map((r) => r.status).every((status) => status === 200);
        out.failed = (await http.asyncRequest('GET', 'http://127.0.0.1:1/')).error_code;
        out.invalid = (await http.asyncRequest('GET', 5)).error_code;
        const order = [];
        const request = http.asyncRequest('GET', B).then(() => order.push('response'));
        Promise.resolve().then(() => order.push('micro'));
        order.push('sync');
        await request;
        out.order = order;
        let reason = '';
        try { await http.asyncRequest('GET', 'http://127.0.0.1:1/', null, { throw: true }); } catch (e) { reason = String(e); }
        out.reason = reason.includes('connection refused');
        ",
    );
    assert_eq!(server.most_at_once(), 10);
    assert_eq!(
        out,
        json!({"statuses": true, "failed": 1212, "invalid": 1020,
               "order": ["sync", "micro", "response"], "reason": true})
    );
}

#[test]
fn an_iteration_ends_when_its_last_async_request_has() {
    let server = Server::start();
    let out = server.run_with(
        "export const options = { iterations: 2 };\nlet late = 0;",
        "if (__ITER === 0) { http.asyncRequest('GET', B + '/slow').then((r) => { late = r.status; }); return; }\n\
         out.late = late;",
        |call| call,
    );
    assert_eq!(out.0["late"], 200);
}
