// The types of globals: what must compile, and behind `@ts-expect-error` what must not.

/** Exactly this type. */
function is<T>() {
  return <U>(_value: U & (([T] extends [U] ? ([U] extends [T] ? unknown : never) : never))) => {};
}

export function basics() {
  console.log('a', { b: 1 });
  // @ts-expect-error: the console has no tables
  console.table([]);
  is<string>()(btoa(atob('YQ==')));
  is<{ a: number }>()(structuredClone({ a: 1 }));
  is<string | null>()(new URL('?a=b', 'http://a.test').searchParams.get('a'));
  // @ts-expect-error: a URL has no such part
  new URL('http://a.test').domain;
  is<string>()(new TextDecoder('utf-8', { fatal: true }).decode(new TextEncoder().encode('x')));
  clearTimeout(setTimeout(() => {}, 10));
  // @ts-expect-error: a handler is a function
  setInterval('f()', 10);
  is<string>()(__ENV.HOME!);
  // @ts-expect-error: there is no page
  document.title;
}

export async function bodies() {
  const file = new File([new Uint8Array(1), 'x'], 'a.bin', { type: 'image/png' });
  is<string>()(await file.slice(0, 1).text());
  const form = new FormData();
  form.append('file', file, 'b.bin');
  form.set('bytes', new ArrayBuffer(1));
  is<File | string | null>()(form.get('file'));
  // @ts-expect-error: numbers are no values of forms
  form.append('n', 1);

  const response = await fetch('http://a.test', {
    method: 'POST',
    body: form,
    headers: { 'X-Run': '7' },
    signal: AbortSignal.timeout(1000),
    k6: { tags: { name: 'upload' }, timeout: '10s' },
  });
  is<number>()(response.k6.timings.waiting);
  is<string | null>()(response.headers.get('x'));
  is<string[]>()(response.headers.getSetCookie());
  for await (const bytes of response.body!) is<number>()(bytes.length);
  // @ts-expect-error: an option is misspelt
  fetch('http://a.test', { k6: { tag: {} } });
  // @ts-expect-error: there is no cache
  fetch('http://a.test', { cache: 'no-store' });
  is<Response>()(Response.json({ a: 1 }));
  // @ts-expect-error: it has not been sent
  Response.json({ a: 1 }).k6.timings;
  is<string>()(new Request('http://a.test').method);
}

export function streams() {
  const [one, two] = ReadableStream.from(['a', 'b']).tee();
  is<Promise<{ done: false; value: string } | { done: true; value: undefined }>>()(one.getReader().read());
  two.pipeTo(new WritableStream<string>());
  // @ts-expect-error: it is a stream of texts
  two.pipeTo(new WritableStream<number>());
}

export function events() {
  const prices = new EventSource('http://a.test', { headers: { Authorization: 'x' }, tags: { feed: 'prices' } });
  prices.onmessage = (event) => is<string>()(event.data);
  prices.onerror = (event) => is<number | undefined>()(event.status);
  prices.addEventListener('tick', (event) => is<string>()(event.lastEventId));
  // @ts-expect-error: it cannot be sent to
  prices.send('x');

  const target = new EventTarget();
  target.addEventListener('x', (event) => is<string>()(event.type), { once: true });
  is<boolean>()(target.dispatchEvent(new Event('x')));
  const controller = new AbortController();
  controller.abort(new Error('enough'));
  is<boolean>()(controller.signal.aborted);
}

export async function keys() {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']);
  is<ArrayBuffer>()(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, new Uint8Array(1)));
  is<CryptoKey>()(await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt']));
  // @ts-expect-error: there is no such use of a key
  crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['read']);
  // @ts-expect-error: keys are not wrapped
  crypto.subtle.wrapKey();
  is<string>()(crypto.randomUUID());
}
