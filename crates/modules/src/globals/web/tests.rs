use super::install;
use crate::globals::{text, url};
use crate::harness::{self, all};
use brunt_quickjs::Vm;

fn vm() -> Vm {
    harness::vm(|ctx| {
        text::install(ctx)?;
        url::install(ctx)?;
        install(ctx)
    })
}

/// The result of the body of an async function, as text.
fn later(vm: &Vm, body: &str) -> String {
    let ctx = vm.ctx();
    let source = format!(
        "var out = 'nothing'; (async () => {{ {body} }})().then((v) => {{ out = String(v) }}, (e) => {{ out = 'threw ' + e }})"
    );
    ctx.eval("test.js", &source).expect("the script runs");
    while ctx.run_job().expect("no job is stopped") {}
    harness::text(ctx, "out")
}

fn each(vm: &Vm, cases: &[(&str, &str)]) {
    for (body, expected) in cases {
        assert_eq!(later(vm, body), *expected, "{body}");
    }
}

#[test]
fn what_no_script_uses_costs_accessors_only() {
    let vm = vm();
    let before = vm.memory().allocated;
    harness::text(vm.ctx(), "[typeof Blob, typeof FormData].join()");
    let blobs = vm.memory().allocated - before;
    assert!(blobs < 12 * 1024, "{blobs}");
    assert_eq!(
        harness::text(vm.ctx(), "[typeof fetch, typeof ReadableStream].join()"),
        "function,function"
    );
}

#[test]
fn a_blob_is_its_parts() {
    let vm = vm();
    all(
        &vm,
        &[
            (
                "const b = new Blob(['hé', new Uint8Array([1, 2]), new Blob(['x'])], { type: 'Text/PLAIN' }); [b.size, b.type, String(b)].join()",
                "6,text/plain,[object Blob]",
            ),
            (
                "[new Blob().size, new Blob([], { type: 'é' }).type, new Blob(new Set([1, 23])).size].join()",
                "0,,3",
            ),
            (
                "[b.slice(1, 3).size, b.slice(-3, -1).size, b.slice(4, 2).size, b.slice(0, 99, 'A/B').type].join()",
                "2,2,0,a/b",
            ),
            ("Blob([])", "threw TypeError: the class Blob is made with `new`"),
            (
                "new Blob('text')",
                "threw TypeError: the parts of a Blob must be an array, or another iterable",
            ),
            (
                "new Blob([], { endings: 'x' })",
                "threw TypeError: \"x\" is not a way to treat line endings",
            ),
            ("Blob.prototype.slice.call({})", "threw TypeError: this is not a Blob"),
        ],
    );
    each(
        &vm,
        &[
            ("return await new Blob(['a', 'b\\u20ac'], {}).text()", "ab€"),
            (
                "return await new Blob(['a\\r\\nb\\rc'], { endings: 'native' }).text() === 'a\\nb\\nc'",
                "true",
            ),
            (
                "return [...new Uint8Array(await new Blob(['ab', 'cd']).slice(1, 3).arrayBuffer())]",
                "98,99",
            ),
            ("return [...await new Blob([new Uint16Array([258])]).bytes()]", "2,1"),
            (
                "const u = new Uint8Array([65]); const c = new Blob([u]); u[0] = 66; return await c.text()",
                "A",
            ),
            (
                "let n = 0, c = 0; for await (const part of new Blob(['x'.repeat(70000)]).stream()) { n += part.length; c++ } return [n, c]",
                "70000,2",
            ),
            (
                "return await Blob.prototype.text.call(1).catch((e) => e)",
                "TypeError: this is not a Blob",
            ),
        ],
    );
}

#[test]
fn a_file_is_a_blob_with_a_name() {
    all(
        &vm(),
        &[
            (
                "const f = new File(['abc'], 'a.txt', { type: 'text/plain', lastModified: 5.9 }); [f.name, f.size, f.type, f.lastModified, f instanceof Blob, f instanceof File, String(f)].join()",
                "a.txt,3,text/plain,5,true,true,[object File]",
            ),
            (
                "[Object.getPrototypeOf(File) === Blob, f.slice(1) instanceof File, new File([], 1).name].join()",
                "true,false,1",
            ),
            ("Math.abs(new File([], 'n').lastModified - Date.now()) < 5000", "true"),
            ("new File([])", "threw TypeError: a File is made of parts and a name"),
        ],
    );
}

#[test]
fn a_form_keeps_its_entries_in_order() {
    let vm = vm();
    all(
        &vm,
        &[
            (
                "const d = new FormData(); d.append('a', 1); d.append('b', 'x'); d.append('a', null); [...d].join(';')",
                "a,1;b,x;a,null",
            ),
            ("[d.get('a'), d.getAll('a'), d.has('b'), d.get('no')].join('|')", "1|1,null|true|"),
            ("d.set('a', 2); d.delete('b'); [...d.keys()].join() + [...d.values()].join()", "a2"),
            (
                "const n = []; d.append('z', 3); d.forEach((v, k, o) => n.push(k + v + (o === d))); n.join()",
                "a2true,z3true",
            ),
            (
                "d.append('f', new Blob(['q'], { type: 'a/b' })); const g = d.get('f'); [g instanceof File, g.name, g.type, g.size].join()",
                "true,blob,a/b,1",
            ),
            ("d.set('f', new File(['q'], 'n.txt'), 'other.txt'); d.get('f').name", "other.txt"),
            (
                "d.append('u', new Uint8Array(3), 'u.bin'); d.get('u').name + d.get('u').size",
                "u.bin3",
            ),
            (
                "d.append('x', 'text', 'name.txt')",
                "threw TypeError: an entry with a filename must be a Blob, a File, an ArrayBuffer or made by http.file",
            ),
            ("d.append('x')", "threw TypeError: 2 argument(s) needed, but only 1 given"),
            ("const it = d.entries(); it.next(); d.delete('z'); it.next().value[0]", "f"),
            ("String(d) + String(d.keys())", "[object FormData][object FormData Iterator]"),
        ],
    );
    each(
        &vm,
        &[
            (
                "const d = new FormData(); d.append('a', 'é'); d.append('f', new File(['x\\r\\ny'], 'q\"', { type: 't/x' })); \
              const r = new Response(d); const t = r.headers.get('content-type'); const back = await r.formData(); \
              return [/^multipart\\/form-data; boundary=----BruntFormBoundary\\w{20}$/.test(t), back.get('a'), back.get('f').name, back.get('f').type, (await back.get('f').text()).length]",
                "true,é,q\",t/x,4",
            ),
            (
                "return (await new Response(new URLSearchParams('a=1&b=%20')).formData()).get('b') === ' '",
                "true",
            ),
            (
                "return await new Response('x').formData().catch((e) => e)",
                "TypeError: a body of the content type \"text/plain;charset=UTF-8\" is not a form",
            ),
        ],
    );
}

#[test]
fn streams_flow_and_hold_back() {
    each(
        &vm(),
        &[
            (
                "const s = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close() } }); const got = []; for await (const x of s) got.push(x); return got",
                "1,2",
            ),
            (
                "let pulls = 0; const s = new ReadableStream({ pull(c) { c.enqueue(++pulls) } }, new CountQueuingStrategy({ highWaterMark: 3 })); await null; await null; for (let i = 0; i < 20; i++) await null; return pulls",
                "3",
            ),
            (
                "const s = new ReadableStream({ start(c) { c.error(new RangeError('torn')) } }); return await s.getReader().read().catch((e) => e)",
                "RangeError: torn",
            ),
            (
                "const s = new ReadableStream(); s.getReader(); try { s.getReader() } catch (e) { return e }",
                "TypeError: stream is locked",
            ),
            (
                "let why; const s = new ReadableStream({ cancel(r) { why = r } }); const r = s.getReader(); await r.cancel('enough'); return [why, (await r.read()).done]",
                "enough,true",
            ),
            (
                "const [a, b] = ReadableStream.from(['x', 'y']).tee(); const all = async (s) => { let t = ''; for await (const c of s) t += c; return t }; return await Promise.all([all(a), all(b)])",
                "xy,xy",
            ),
            (
                "const got = []; await ReadableStream.from([1, 2]).pipeTo(new WritableStream({ write(c) { got.push(c) }, close() { got.push('end') } })); return got",
                "1,2,end",
            ),
            (
                "const w = new WritableStream({ write() { throw new Error('full') } }).getWriter(); const e = await w.write(1).catch((e) => e.message); return [e, await w.closed.catch((e) => e.message)]",
                "full,full",
            ),
            (
                "const w = new WritableStream({}, { highWaterMark: 2 }).getWriter(); const before = w.desiredSize; const done = w.write('a'); const during = w.desiredSize; await done; await w.close(); return [before, during, w.desiredSize]",
                "2,1,0",
            ),
            (
                "try { new ReadableStream({ type: 'bytes' }) } catch (e) { return e }",
                "TypeError: streams of the type \"bytes\" are not supported; leave the type out",
            ),
            (
                "try { new ReadableStream({}, { highWaterMark: -1 }) } catch (e) { return e.name }",
                "RangeError",
            ),
            (
                "try { ReadableStream.prototype.getReader.call({}) } catch (e) { return e }",
                "TypeError: this is not a ReadableStream",
            ),
        ],
    );
}

#[test]
fn headers_requests_and_responses_are_those_of_the_standard() {
    each(
        &vm(),
        &[
            (
                "const h = new Headers({ 'X-B': '1', a: ' 2 ' }); h.append('x-b', '3'); h.append('Set-Cookie', 'q=1'); h.append('set-cookie', 'z'); return [...h].join(';')",
                "a,2;set-cookie,q=1;set-cookie,z;x-b,1, 3",
            ),
            (
                "const h = new Headers([['a', 'b']]); try { h.append('no name', '') } catch (e) { return [e, h.get('A'), h.get('c')] }",
                "TypeError: \"no name\" is not the name of a header,b,",
            ),
            (
                "try { new Headers({ [Symbol('x')]: '1' }) } catch (e) { return e.name }",
                "TypeError",
            ),
            (
                "try { new Request('http://a', { signal: {} }) } catch (e) { return e }",
                "TypeError: this is not an AbortSignal",
            ),
            (
                "const r = new Request('HTTP://host/a b', { method: 'post', body: 'é' }); const c = r.clone(); return [r.url, r.method, r.headers.get('content-type'), await c.text(), r.bodyUsed, c.bodyUsed]",
                "http://host/a%20b,POST,text/plain;charset=UTF-8,é,false,true",
            ),
            (
                "try { new Request('/relative') } catch (e) { return e }",
                "TypeError: Failed to parse URL from /relative",
            ),
            (
                "try { new Request('http://a', { body: '' }) } catch (e) { return e }",
                "TypeError: a GET request has no body",
            ),
            (
                "const r = Response.json({ a: [1] }, { status: 201 }); return [r.status, r.ok, r.headers.get('content-type'), (await r.json()).a[0], r.bodyUsed, String(r)]",
                "201,true,application/json,1,true,[object Response]",
            ),
            ("return await new Response('{\"a\":').json().catch((e) => e.name)", "SyntaxError"),
            (
                "const r = new Response(ReadableStream.from([new Uint8Array([104]), new Uint8Array([105])])); const c = r.clone(); return [await r.text(), await c.text()]",
                "hi,hi",
            ),
            (
                "const r = new Response('abc'); const reader = r.body.getReader(); const { value } = await reader.read(); return [value, await r.text().catch((e) => e.name)]",
                "97,98,99,TypeError",
            ),
            (
                "const b = await new Response('abc', { headers: { 'content-type': 'a/b' } }).blob(); return [b.size, b.type]",
                "3,a/b",
            ),
            (
                "return [await new Response().text(), new Response().body, new Response(null, { status: 204 }).bodyUsed]",
                ",,false",
            ),
            ("try { new Response('x', { status: 204 }) } catch (e) { return e.name }", "TypeError"),
            (
                "try { new Response('x', { status: 1000 }) } catch (e) { return e.name }",
                "RangeError",
            ),
        ],
    );
}

#[test]
fn members_are_enumerable_and_iterators_are_entries() {
    let names = "(c) => { const all = []; for (const name in new c()) all.push(name); return all.sort().join() }";
    each(
        &vm(),
        &[
            (
                &format!("return ({names})(FormData)"),
                "append,delete,entries,forEach,get,getAll,has,keys,set,values",
            ),
            (
                &format!("return ({names})(Headers)"),
                "append,delete,entries,forEach,get,getSetCookie,has,keys,set,values",
            ),
            (
                &format!("return ({names})(URLSearchParams)"),
                "append,delete,entries,forEach,get,getAll,has,keys,set,size,sort,toString,values",
            ),
            (
                &format!("return ({names})(Response)"),
                "arrayBuffer,blob,body,bodyUsed,bytes,clone,formData,headers,json,k6,ok,redirected,status,statusText,text,type,url",
            ),
            (&format!("return ({names})(Blob)"), "arrayBuffer,bytes,size,slice,stream,text,type"),
            (
                "return [FormData, Headers, URLSearchParams].map((c) => c.prototype.entries === c.prototype[Symbol.iterator] && c.prototype.entries.name)",
                "entries,entries,entries",
            ),
            (
                "return [FormData, Headers, Response, Blob].map((c) => JSON.stringify(Object.getOwnPropertyDescriptor(c.prototype, Symbol.toStringTag))).join()",
                r#"{"value":"FormData","writable":false,"enumerable":false,"configurable":true},{"value":"Headers","writable":false,"enumerable":false,"configurable":true},{"value":"Response","writable":false,"enumerable":false,"configurable":true},{"value":"Blob","writable":false,"enumerable":false,"configurable":true}"#,
            ),
            ("return Object.keys(new FormData()).length + Object.keys(new Response()).length", "0"),
            ("return Object.keys(Response).sort().join()", "error,json,redirect"),
        ],
    );
}

#[test]
fn events_reach_their_listeners_once_and_in_order() {
    each(
        &vm(),
        &[
            (
                "const t = new EventTarget(), seen = []; const f = () => seen.push('f'); t.addEventListener('x', f); t.addEventListener('x', f); t.addEventListener('x', { handleEvent(e) { seen.push(e.type, e.target === t) } }, { once: true }); t.dispatchEvent(new Event('x')); t.dispatchEvent(new Event('x')); t.removeEventListener('x', f); t.dispatchEvent(new Event('x')); return seen",
                "f,x,true,f",
            ),
            (
                "const t = new EventTarget(); t.addEventListener('x', (e) => e.preventDefault()); return [t.dispatchEvent(new Event('x')), t.dispatchEvent(new Event('x', { cancelable: true }))]",
                "true,false",
            ),
            (
                "const t = new EventTarget(), seen = []; t.addEventListener('x', (e) => { seen.push(1); e.stopImmediatePropagation() }); t.addEventListener('x', () => seen.push(2)); t.dispatchEvent(new Event('x')); return seen",
                "1",
            ),
            (
                "const t = new EventTarget(), c = new AbortController(); let n = 0; t.addEventListener('x', () => n++, { signal: c.signal }); t.dispatchEvent(new Event('x')); c.abort(); t.dispatchEvent(new Event('x')); return n",
                "1",
            ),
            (
                "class Mine extends EventTarget { go() { this.dispatchEvent(new Event('go')) } } const m = new Mine(); let n = 0; m.addEventListener('go', () => n++); m.go(); return [n, m instanceof EventTarget, String(m)]",
                "1,true,[object EventTarget]",
            ),
            (
                "try { new EventTarget().dispatchEvent({ type: 'x' }) } catch (e) { return e.name }",
                "TypeError",
            ),
            ("return new AbortController().signal instanceof EventTarget", "true"),
        ],
    );
}

#[test]
fn an_abort_is_told_once() {
    each(
        &vm(),
        &[
            (
                "const c = new AbortController(); let n = 0; c.signal.onabort = () => n++; c.signal.addEventListener('abort', () => n++); c.abort(); c.abort(); return [n, c.signal.aborted, c.signal.reason.name]",
                "2,true,AbortError",
            ),
            (
                "return AbortSignal.any([new AbortController().signal, AbortSignal.abort('why')]).reason",
                "why",
            ),
            (
                "try { AbortSignal.abort().throwIfAborted() } catch (e) { return e.name }",
                "AbortError",
            ),
        ],
    );
}
