//! `fetch`, `FormData`, `Blob` and streams against the demo target, over real sockets.

use crate::support::brunt;

/// Runs the body of an async default function once. The arguments of `equal` must be equal.
fn holds(imports: &str, body: &str) {
    let script = format!(
        "{imports}\nimport http from 'k6/http';\nimport exec from 'k6/execution';\n\
         const base = __ENV.DEMO_URL;\n\
         const equal = (found, expected) => {{\n\
           const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];\n\
           if (a !== b) exec.test.abort(`${{a}} is not ${{b}}`);\n\
         }};\n\
         export default async function () {{\n{body}\n}}\n"
    );
    let told = brunt("run --quiet --demo s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{body}\n{}\n{}", told.stdout, told.stderr);
    let mut errors = told.stderr.lines().filter(|line| line.contains("level=error"));
    assert_eq!(errors.next(), None, "{body}");
}

#[test]
fn a_form_goes_out_as_rfc_7578_asks() {
    holds(
        "",
        r"
        const form = new FormData();
        form.append('meta', JSON.stringify({ camera: 7 }));
        form.append('image', new File([new Uint8Array([0, 13, 10, 255])], 'a.png', { type: 'image/png' }));
        form.append('raw', http.file('text', 'r.txt', 'text/plain'));
        const res = http.post(`${base}/upload/detect`, form);
        equal(res.status, 200);
        equal(res.json('parts').map((p) => [p.name, p.filename ?? null, p.bytes]),
          [['meta', null, 12], ['image', 'a.png', 4], ['raw', 'r.txt', 4]]);
        equal(res.json('parts')[1].type, 'image/png');
        // The same form once more, with a boundary of its own.
        equal(http.post(`${base}/upload/detect`, form).status, 200);
        const own = http.post(`${base}/upload/detect`, 'x', { headers: { 'Content-Type': 'multipart/form-data' } });
        equal(own.status, 400);
        equal(http.post(`${base}/upload/detect`, form).status, 200);
        ",
    );
}

#[test]
fn the_polyfill_is_native_behind_its_address() {
    holds(
        "import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';",
        r"
        const form = new FormData();
        form.append('a', 'text');
        form.append('image', http.file(new Uint8Array([1, 2, 3]).buffer, 'i.png', 'image/png'));
        form.append('numbers', { data: [1, 2, 255], filename: 'n.bin' });
        const body = form.body();
        equal([body instanceof ArrayBuffer, form.parts.length], [true, 3]);
        const headers = { 'Content-Type': `multipart/form-data; boundary=${form.boundary}` };
        const res = http.post(`${base}/upload/detect`, body, { headers });
        equal(res.status, 200);
        equal(res.json('parts').map((p) => [p.name, p.filename ?? null, p.type, p.bytes]), [
          ['a', null, 'text/plain', 4],
          ['image', 'i.png', 'image/png', 3],
          ['numbers', 'n.bin', 'application/octet-stream', 3],
        ]);
        form.boundary = 'mine';
        const text = String.fromCharCode(...new Uint8Array(form.body()));
        equal(text.startsWith('--mine\r\nContent-Disposition: form-data; name='), true);
        equal(text.endsWith('\r\n--mine--\r\n'), true);
        ",
    );
}

#[test]
fn fetch_sends_and_receives() {
    holds(
        "",
        r"
        const got = await fetch(`${base}/json`);
        equal([got.status, got.ok, got.statusText, got.redirected, got.type], [200, true, 'OK', false, 'basic']);
        equal(typeof await got.json(), 'object');
        equal(got.k6.timings.duration > 0, true);

        const sent = await fetch(`${base}/anything/x`, { method: 'POST', body: new URLSearchParams({ a: '1 2' }) });
        equal((await sent.text()).includes('a=1+2'), true);

        const to = await fetch(`${base}/redirect/2`);
        equal([to.status, to.redirected], [200, true]);
        const stay = await fetch(`${base}/redirect/2`, { redirect: 'manual' });
        equal([stay.status, stay.redirected], [302, false]);
        equal(await fetch(`${base}/redirect/2`, { redirect: 'error' }).catch((e) => e.name), 'TypeError');

        const missing = await fetch(`${base}/status/404`);
        equal([missing.ok, missing.status], [false, 404]);
        const refused = await fetch('http://127.0.0.1:1/').catch((e) => [e.name, e.message.startsWith('fetch failed: ')]);
        equal(refused, ['TypeError', true]);

        const controller = new AbortController();
        const slow = fetch(`${base}/delay/200`, { signal: controller.signal });
        controller.abort();
        equal(await slow.catch((e) => e.name), 'AbortError');
        equal((await fetch(`${base}/ping`)).status, 200);
        ",
    );
}

#[test]
fn streams_are_bodies() {
    holds(
        "import { ReadableStream } from 'k6/experimental/streams';",
        r"
        let left = 3;
        const source = () => new ReadableStream({
          async pull(controller) {
            await new Promise((resolve) => setTimeout(resolve, 1));
            if (left-- > 0) controller.enqueue(new Uint8Array(100000)); else controller.close();
          },
        });
        const res = await http.asyncRequest('POST', `${base}/sink`, source());
        equal([res.status, res.json('bytes')], [200, 300000]);
        left = 2;
        const waited = http.post(`${base}/sink`, source());
        equal([waited.status, waited.json('bytes')], [200, 200000]);
        left = 1;
        const fetched = await fetch(`${base}/sink`, { method: 'PUT', body: source(), duplex: 'half' });
        equal((await fetched.json()).bytes, 100000);

        const torn = new ReadableStream({ start(c) { c.enqueue('x'); c.error(new Error('torn')); } });
        const failed = await http.asyncRequest('POST', `${base}/sink`, torn);
        equal([failed.status, failed.error.includes('torn')], [0, true]);
        const wrong = ReadableStream.from([{}]);
        equal((await http.asyncRequest('POST', `${base}/sink`, wrong)).status, 0);
        const read = source();
        await read.cancel();
        equal(await http.asyncRequest('POST', `${base}/sink`, read).catch((e) => e.name), 'TypeError');
        equal(http.get(`${base}/ping`).status, 200);
        ",
    );
}

#[test]
fn a_blob_is_a_body_with_a_type() {
    holds(
        "",
        r"
        const blob = new Blob(['ab', new Uint8Array([99])], { type: 'text/x' });
        const res = http.post(`${base}/anything/x`, blob);
        equal(res.status, 200);
        equal(res.body.includes('text/x'), true);
        equal(http.post(`${base}/sink`, blob).json('bytes'), 3);
        ",
    );
}
