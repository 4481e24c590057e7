//! `fetch`: bodies that come as they come, signals that end them, and what is left unread.

use crate::support::{DemoServer, brunt};

const SCRIPT: &str = r"
import http from 'k6/http';
const { URL: url, FAULTS: faults } = __ENV;
const out = {};
const it = async (name, run) => {
  try { out[name] = String(await run()); } catch (e) { out[name] = `threw ${e}`; }
};
const source = (query, init) => fetch(`${url}/source?${query}`, init);
const size = async (stream) => { let n = 0; for await (const chunk of stream) n += chunk.length; return n; };

export async function setup() {
  await it('text', async () => (await (await source('bytes=100')).text()).length);
  await it('head first', async () => {
    const res = await source('bytes=30000&chunk=10000&delay=50ms');
    const first = await res.body.getReader().read();
    return first.value.length <= 20000 && res.k6.timings.receiving < 90;
  });
  await it('stream', async () => { const res = await source('bytes=3000000'); return [await size(res.body), res.bodyUsed]; });
  for (const coding of ['gzip', 'br', 'deflate', 'zstd']) {
    await it(coding, async () => typeof await (await fetch(`${url}/${coding}`)).json());
    await it(`${coding} of k6`, async () => {
      const res = http.get(`${url}/${coding}`, { responseType: 'stream' });
      return typeof await new Response(res.stream).json();
    });
  }
  await it('abort before the head', async () => {
    const control = new AbortController();
    setTimeout(() => control.abort(), 30);
    await fetch(`${url}/delay/60000`, { signal: control.signal, k6: { tags: { aborted: 'yes' } } });
  });
  await it('abort in the body', async () => {
    const control = new AbortController();
    const res = await source('bytes=10000000&chunk=1000&delay=10ms', { signal: control.signal });
    setTimeout(() => control.abort(), 30);
    await res.text();
  });
  await it('abort in a stream', async () => {
    const control = new AbortController();
    const res = await source('bytes=10000000&chunk=1000&delay=10ms', { signal: control.signal });
    const reader = res.clone().body.getReader();
    await reader.read();
    control.abort(new Error('mine'));
    for (;;) await reader.read();
  });
  await it('time is up', () => fetch(`${url}/delay/60000`, { signal: AbortSignal.timeout(30) }));
  // Nothing waits for a timeout that isn't needed any more: the test would last an hour.
  await it('time enough', async () => (await source('bytes=1', { signal: AbortSignal.timeout(3600000) })).status);
  await it('clone', async () => {
    const res = await source('bytes=2000000');
    const both = await Promise.all([res.clone().arrayBuffer(), res.arrayBuffer()]);
    return both.map((buffer) => buffer.byteLength);
  });
  await it('tee', async () => { const [a, b] = (await source('bytes=50000')).body.tee(); return [await size(a), await size(b)]; });
  await it('pipe', async () => {
    let bytes = 0;
    const sink = new WritableStream({ write(chunk) { bytes += chunk.length; } });
    await (await source('bytes=200000')).body.pipeTo(sink);
    return bytes;
  });
  await it('abort a pipe', async () => {
    const control = new AbortController();
    const sink = new WritableStream({ write() { control.abort(); } });
    await (await source('bytes=200000&chunk=1000&delay=5ms')).body.pipeTo(sink, { signal: control.signal });
  });
  await it('twice', async () => { const res = await source('bytes=5'); await res.text(); await res.text(); });
  await it('nothing', async () => { const res = await fetch(`${url}/status/204`); return [res.body, await res.text()]; });
  await it('head', async () => { const res = await source('bytes=5', { method: 'HEAD' }); return [res.status, res.body]; });
  await it('cancel', async () => { await (await source('bytes=50000000')).body.cancel(); return (await source('bytes=1')).status; });
  await it('many', async () => {
    const all = await Promise.all([1, 2, 3].map((n) => source(`bytes=${n}00000`)));
    return Promise.all(all.map(async (res) => (await res.blob()).size));
  });
  await it('cut', async () => (await fetch(`${faults}/short-body`)).text());
  await it('cut stream', async () => size((await fetch(`${faults}/short-body`)).body));
  await it('refused', () => fetch('http://127.0.0.1:1/'));
  await it('whole', async () => {
    const res = await source('bytes=7', { k6: { responseType: 'text' } });
    return [res.k6.body.length, (await res.text()).length];
  });
  await it('through', async () => {
    const res = await source('bytes=3000000');
    return (await (await fetch(`${url}/sink`, { method: 'POST', body: res.body, duplex: 'half' })).json()).bytes;
  });
  const stream = (...chunks) => new ReadableStream({ start(control) { chunks.forEach((chunk) => control.enqueue(chunk)); control.close(); } });
  const put = (body, more) => fetch(`${url}/sink`, { method: 'PUT', body, duplex: 'half', ...more });
  await it('strings', () => put(stream('abc')));
  await it('buffers', () => put(stream(new Uint8Array(2), new ArrayBuffer(2))));
  await it('bytes', async () => (await (await put(stream(new Uint8Array(2), new Uint8Array(3)))).json()).bytes);
  await it('half', () => put(stream(new Uint8Array(2)), { duplex: undefined }));
  await it('full', () => put(stream(new Uint8Array(2)), { duplex: 'full' }));
  await it('credentials', () => fetch(`${url.replace('://', '://me:secret@')}/sink`));
  await it('batch', () => {
    const all = http.batch([['POST', `${url}/sink`, stream('abc')], ['POST', `${url}/sink`, stream('de')], `${url}/source?bytes=1`]);
    return all.map((res) => res.json('bytes') || res.body);
  });
  return out;
}
export default async function () {
  // One that came to its end is still whole; one that was left is not, and says so.
  if (globalThis.whole !== undefined && (await whole.text()).length !== 2000) throw new Error('not whole');
  if (globalThis.left !== undefined) await left.text().then(() => { throw new Error('whole'); }, () => {});
  globalThis.whole = await source('bytes=2000');
  for (let tries = 0; tries < 1000 && whole.k6.timings.receiving === 0; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  globalThis.left = await source('bytes=100000000');
  // The script does not read these bodies: they come to their end, and are counted, before the iteration is over.
  const unread = { k6: { tags: { unread: 'yes' } } };
  for (let count = 0; count < 3; count += 1) await source('bytes=20000', unread);
  globalThis.kept = await source('bytes=20000&chunk=5000&delay=20ms', unread);
  // This one has no end.
  await source('bytes=1000000000000', { k6: { tags: { unread: 'long' } } });
}
export const options = {
  iterations: 2,
  thresholds: {
    'http_reqs{unread:yes}': ['count==8'],
    'http_reqs{unread:long}': ['count==2'],
    'http_req_failed{unread:yes}': ['rate==0'],
    'http_req_receiving{unread:yes}': ['max>40'],
    'http_req_failed{aborted:yes}': ['rate==1'],
  },
};
export function handleSummary(data) {
  return { stdout: JSON.stringify(data.setup_data) };
}
";

#[test]
fn bodies_of_fetch_come_as_they_come_and_end_when_they_are_told_to() {
    let server = DemoServer::start();
    let told = brunt("run -q s.js")
        .word("-e")
        .word(format!("FAULTS={}", server.faults))
        .word("-e")
        .word(format!("URL={}", server.url))
        .file("s.js", SCRIPT)
        .told();
    assert!(told.code == 0 && !told.stderr.contains("level=error"), "{told:?}");
    let out: serde_json::Value = serde_json::from_str(&told.stdout).expect("the answers");
    for (name, wanted) in [
        ("text", "100"),
        ("head first", "true"),
        ("stream", "3000000,true"),
        ("gzip", "object"),
        ("br", "object"),
        ("deflate", "object"),
        ("zstd", "object"),
        ("gzip of k6", "object"),
        ("br of k6", "object"),
        ("deflate of k6", "object"),
        ("zstd of k6", "object"),
        ("abort before the head", "threw AbortError: this operation was aborted"),
        ("abort in the body", "threw AbortError: this operation was aborted"),
        ("abort in a stream", "threw Error: mine"),
        ("time is up", "threw TimeoutError: the operation timed out"),
        ("time enough", "200"),
        ("clone", "2000000,2000000"),
        ("tee", "50000,50000"),
        ("pipe", "200000"),
        ("abort a pipe", "threw AbortError: this operation was aborted"),
        ("twice", "threw TypeError: the body was read before"),
        ("nothing", ","),
        ("head", "200,"),
        ("cancel", "200"),
        ("many", "100000,200000,300000"),
        ("cut", "threw TypeError: fetch failed: unexpected EOF"),
        ("cut stream", "threw TypeError: fetch failed: unexpected EOF"),
        ("refused", "threw TypeError: fetch failed: dial: connection refused"),
        ("whole", "7,7"),
        ("through", "3000000"),
        ("batch", "3,2,a"),
        (
            "strings",
            "threw TypeError: fetch failed: request body: fetch sends chunks of Uint8Array only",
        ),
        (
            "buffers",
            "threw TypeError: fetch failed: request body: fetch sends chunks of Uint8Array only",
        ),
        ("bytes", "5"),
        ("half", "threw TypeError: a request whose body is a ReadableStream needs duplex: 'half'"),
        ("full", "threw TypeError: \"full\" is no duplex: half"),
    ] {
        assert_eq!(out[name], wanted, "{name} in {}", told.stdout);
    }
    let told = out["credentials"].as_str().expect("an answer");
    assert!(told.starts_with("threw TypeError: a request to http://127.0.0.1:"), "{told}");
    assert!(!told.contains("secret"), "{told}");
}
