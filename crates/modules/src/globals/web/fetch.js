// fetch, Headers, Request and Response (WHATWG Fetch) on the requests of k6/http.
//
// A body is a Blob (what is known whole; nothing is copied for it), a ReadableStream, or the native source of a response
// that is still coming, of which a stream is made when somebody asks for one.
(function (web) {
  'use strict';
  const { dictionary, isObject, refused, token } = web;
  const { Blob, handled, isDisturbed, isSignal } = web;

  const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

  function nameOf(name) {
    const text = `${name}`;
    if (!TOKEN.test(text)) throw new TypeError(`"${text}" is not the name of a header`);
    return text.toLowerCase();
  }

  function valueOf(value) {
    const text = `${value}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
    if (/[\0\n\r]|[^\0-\xff]/.test(text)) throw new TypeError(`${JSON.stringify(text)} is not a value of a header`);
    return text;
  }

  let linesOf, freeze;
  class Headers {
    // By name in small letters: a list of values.
    #lines = new Map();
    #frozen = false;
    static {
      linesOf = (value) => {
        if (!isObject(value) || !(#lines in value)) throw refused('Headers');
        return value.#lines;
      };
      freeze = (headers) => { headers.#frozen = true; return headers; };
    }
    constructor(init) {
      if (init === undefined) return;
      if (!isObject(init)) throw new TypeError('headers are made of an object, of pairs, or of other Headers');
      if (typeof init[Symbol.iterator] === 'function') {
        for (const pair of init) {
          const [name, value, ...more] = isObject(pair) ? pair : [];
          if (value === undefined || more.length > 0) throw new TypeError('a header is a pair of name and value');
          this.append(name, value);
        }
      } else {
        for (const name of Reflect.ownKeys(init)) {
          if (Object.prototype.propertyIsEnumerable.call(init, name)) this.append(name, init[name]);
        }
      }
    }
    #writable() {
      const lines = linesOf(this);
      if (this.#frozen) throw new TypeError('these headers cannot be changed');
      return lines;
    }
    append(name, value) {
      const lines = this.#writable();
      if (arguments.length < 2) throw new TypeError('append needs a name and a value');
      const [key, text] = [nameOf(name), valueOf(value)];
      const known = lines.get(key);
      if (known === undefined) lines.set(key, [text]); else known.push(text);
    }
    delete(name) { this.#writable().delete(nameOf(name)); }
    get(name) { return linesOf(this).get(nameOf(name))?.join(', ') ?? null; }
    getSetCookie() { return [...(linesOf(this).get('set-cookie') ?? [])]; }
    has(name) { return linesOf(this).has(nameOf(name)); }
    set(name, value) {
      const lines = this.#writable();
      if (arguments.length < 2) throw new TypeError('set needs a name and a value');
      lines.set(nameOf(name), [valueOf(value)]);
    }
    forEach(callback, thisArgument) {
      if (typeof callback !== 'function') throw new TypeError('forEach needs a function');
      for (const [name, value] of this) Reflect.apply(callback, thisArgument, [value, name, this]);
    }
    entries() { return each(linesOf(this), (pair) => pair); }
    keys() { return each(linesOf(this), (pair) => pair[0]); }
    values() { return each(linesOf(this), (pair) => pair[1]); }
  }
  Object.defineProperty(Headers.prototype, Symbol.iterator, {
    value: Headers.prototype.entries, writable: true, configurable: true,
  });

  function sorted(lines) {
    const pairs = [];
    for (const name of [...lines.keys()].sort()) {
      if (name === 'set-cookie') for (const value of lines.get(name)) pairs.push([name, value]);
      else pairs.push([name, lines.get(name).join(', ')]);
    }
    return pairs;
  }

  function* each(lines, part) {
    for (let index = 0, pairs = sorted(lines); index < pairs.length; index += 1, pairs = sorted(lines)) {
      yield part(pairs[index]);
    }
  }

  // ---- bodies

  // { blob, stream, source, used }: what a body is made of, and whether it was consumed; null for none. A response that
  // was aborted is `broken`: { reason }.
  function extract(value, headers) {
    if (value === null || value === undefined) return { body: null, type: '' };
    if (web.isStream(value)) {
      if (value.locked || isDisturbed(value)) throw new TypeError('the stream is locked, or was read from');
      return { body: { stream: value }, type: '' };
    }
    const blob = web.extract(value, headers.get('content-type'));
    if (blob !== null) {
      // A form's own content type, whatever was given by hand, has the boundary.
      if (headers.has('content-type') && /^multipart\/form-data;/.test(blob.type)
        && /^\s*multipart\/form-data\s*$/i.test(headers.get('content-type'))) headers.set('content-type', blob.type);
      return { body: { blob }, type: blob.type };
    }
    return { body: { blob: new Blob([`${value}`]) }, type: 'text/plain;charset=UTF-8' };
  }

  const isUsed = (body) => body !== null && (Boolean(body.used) || (body.stream !== undefined && isDisturbed(body.stream)));
  const isBusy = (body) => isUsed(body) || Boolean(body?.stream?.locked);

  // The body as one Blob; it is used up by this.
  async function whole(body) {
    if (body === null) return new Blob([]);
    if (isBusy(body)) throw new TypeError('the body was read before');
    body.used = true;
    if (body.stream === undefined) return body.source === undefined ? blobOf(body) : collected(body);
    const chunks = [];
    for await (const chunk of body.stream) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('a stream of a body must give chunks of Uint8Array');
      chunks.push(chunk);
    }
    return new Blob(chunks);
  }

  // The rest of a body that is still coming, as a Blob, unless it is aborted.
  function collected(body) {
    return new Promise((resolve, reject) => {
      if (body.broken !== undefined) { reject(body.broken.reason); return; }
      body.reject = reject;
      body.source.collect().then(resolve, reject);
    });
  }

  // A body from the network becomes a Blob when it is first wanted.
  function blobOf(body) {
    body.blob ??= web.received(body.response);
    return body.blob;
  }

  function streamOf(body) {
    if (body === null) return null;
    if (body.stream === undefined) {
      if (body.used) {
        body.stream = new Blob([]).stream();
        handled(body.stream.cancel());
      } else if (body.source === undefined) {
        body.stream = blobOf(body).stream();
      } else {
        body.stream = body.source.stream();
        body.root = body.stream;
        if (body.broken !== undefined) web.breakStream(body.root, body.broken.reason);
      }
    }
    return body.stream;
  }

  function split(body) {
    if (body === null) return null;
    if (isBusy(body)) throw new TypeError('the body was read before and cannot be cloned');
    if (body.stream === undefined && body.source === undefined) return { blob: body.blob, response: body.response };
    const [mine, theirs] = streamOf(body).tee();
    body.stream = mine;
    return { stream: theirs };
  }

  const withBody = (Base) => class extends Base {
    get body() { return streamOf(bodyOf(this)); }
    get bodyUsed() { return isUsed(bodyOf(this)); }
    async arrayBuffer() { return web.bytes(await whole(bodyOf(this))); }
    async blob() {
      const blob = await whole(bodyOf(this));
      return blob.slice(0, blob.size, this.headers.get('content-type') ?? '');
    }
    async bytes() { return new Uint8Array(web.bytes(await whole(bodyOf(this)))); }
    async formData() { return web.parseForm(await whole(bodyOf(this)), this.headers.get('content-type') ?? ''); }
    async json() { return web.json(await whole(bodyOf(this))); }
    async text() { return web.text(await whole(bodyOf(this))); }
  };

  const bodies = new WeakMap();
  function bodyOf(object) {
    const body = bodies.get(object);
    if (body === undefined) throw new TypeError('this is neither a Request nor a Response');
    return body;
  }

  // ---- requests

  const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];

  function methodOf(value) {
    const text = String(value);
    const upper = text.toUpperCase();
    if (!TOKEN.test(text)) throw new TypeError(`"${text}" is not a method`);
    if (['CONNECT', 'TRACE', 'TRACK'].includes(upper)) throw new TypeError(`fetch does not send ${upper} requests`);
    return METHODS.includes(upper) ? upper : text;
  }

  function oneOf(value, known, what) {
    const text = String(value);
    if (!known.includes(text)) throw new TypeError(`"${text}" is no ${what}: ${known.join(', ')}`);
    return text;
  }

  let requestOf;
  class PlainRequest {
    #state;
    static {
      requestOf = (value) => {
        if (!isObject(value) || !(#state in value)) throw refused('Request');
        return value.#state;
      };
    }
    static is(value) { return isObject(value) && #state in value; }
    constructor(input, init) {
      const given = dictionary(init, 'options');
      const from = PlainRequest.is(input) ? input.#state : undefined;
      const state = {
        url: from === undefined ? targetOf(input) : from.url,
        method: given.method === undefined ? from?.method ?? 'GET' : methodOf(given.method),
        redirect: given.redirect === undefined
          ? from?.redirect ?? 'follow' : oneOf(given.redirect, ['follow', 'error', 'manual'], 'way to redirect'),
        credentials: given.credentials === undefined
          ? from?.credentials ?? 'same-origin'
          : oneOf(given.credentials, ['omit', 'same-origin', 'include'], 'choice of credentials'),
        headers: new Headers(given.headers ?? from?.headers),
        signal: given.signal === undefined ? from?.signal ?? null : given.signal,
        k6: given.k6 ?? from?.k6,
      };
      if (state.signal !== null && !isSignal(state.signal)) throw refused('AbortSignal');
      if (given.duplex !== undefined) oneOf(given.duplex, ['half'], 'duplex');
      const bodiless = state.method === 'GET' || state.method === 'HEAD';
      let body = null;
      if (given.body !== undefined && given.body !== null) {
        if (bodiless) throw new TypeError(`a ${state.method} request has no body`);
        // A stream is sent before the answer comes: the script must say that it means that.
        if (given.duplex === undefined && web.isStream(given.body)) {
          throw new TypeError("a request whose body is a ReadableStream needs duplex: 'half'");
        }
        const { body: made, type } = extract(given.body, state.headers);
        body = made;
        if (type !== '' && !state.headers.has('content-type')) state.headers.append('content-type', type);
      } else if (from !== undefined && bodyOf(input) !== null) {
        if (bodiless) throw new TypeError(`a ${state.method} request has no body`);
        const old = bodyOf(input);
        if (isBusy(old)) throw new TypeError('the body of the request was read before');
        body = { ...old };
        old.used = true;
        delete old.stream;
      }
      this.#state = state;
      bodies.set(this, body);
    }
    get method() { return this.#state.method; }
    get url() { return this.#state.url; }
    get headers() { return this.#state.headers; }
    get redirect() { return this.#state.redirect; }
    get credentials() { return this.#state.credentials; }
    get signal() { return this.#state.signal ??= web.abortController().signal; }
    get cache() { return 'default'; }
    get destination() { return ''; }
    get duplex() { return 'half'; }
    get integrity() { return ''; }
    get keepalive() { return false; }
    get mode() { return 'cors'; }
    get referrer() { return 'about:client'; }
    get referrerPolicy() { return ''; }
    clone() {
      const { url, ...state } = requestOf(this);
      const body = split(bodyOf(this));
      const copy = new Request(url, state);
      bodies.set(copy, body);
      return copy;
    }
  }
  class Request extends withBody(PlainRequest) {}

  function urlOf(input) {
    const text = `${input}`;
    const href = web.href(text);
    if (href === undefined) throw new TypeError(`Failed to parse URL from ${text}`);
    return href;
  }

  // The URL and the parameters of a request.
  function targetOf(input) {
    const href = urlOf(input);
    if (/^[^:/?#]+:\/\/[^/?#]*@/.test(href)) {
      const bare = href.replace(/\/\/[^/?#]*@/, '//');
      throw new TypeError(`a request to ${bare} cannot have credentials in its URL: give the header Authorization`);
    }
    return href;
  }

  // ---- responses

  const BODILESS = [101, 103, 204, 205, 304];

  let responseOf;
  class PlainResponse {
    #state;
    static {
      responseOf = (value) => {
        if (!isObject(value) || !(#state in value)) throw refused('Response');
        return value.#state;
      };
    }
    constructor(content, init, given) {
      if (given === token) {
        this.#state = init;
        bodies.set(this, content);
        return;
      }
      const rules = dictionary(init, 'options');
      const status = rules.status === undefined ? 200 : Number(rules.status);
      if (!(status >= 200 && status <= 599)) throw new RangeError(`${rules.status} is not a status of a response`);
      const statusText = rules.statusText === undefined ? '' : String(rules.statusText);
      if (/[^\t\x20-\x7e\x80-\xff]/.test(statusText)) throw new TypeError('the statusText has illegal characters');
      const headers = new Headers(rules.headers);
      const { body, type } = extract(content, headers);
      if (body !== null && BODILESS.includes(status)) throw new TypeError(`a response of status ${status} has no body`);
      if (type !== '' && !headers.has('content-type')) headers.append('content-type', type);
      this.#state = { status: Math.trunc(status), statusText, headers, type: 'default', url: '', redirected: false };
      bodies.set(this, body);
    }
    get type() { return this.#state.type; }
    get url() { return this.#state.url; }
    get redirected() { return this.#state.redirected; }
    get status() { return this.#state.status; }
    get ok() { return this.#state.status >= 200 && this.#state.status <= 299; }
    get statusText() { return this.#state.statusText; }
    get headers() { return this.#state.headers; }
    // The response of k6/http that this one was made of (ours): its timings, its error code; null for others.
    get k6() { return this.#state.k6 ?? null; }
    clone() {
      const state = responseOf(this);
      const body = split(bodyOf(this));
      const headers = new Headers(state.headers);
      return new Response(body, { ...state, headers: state.type === 'basic' ? freeze(headers) : headers }, token);
    }
  }
  class Response extends withBody(PlainResponse) {
    static error() {
      const headers = freeze(new Headers());
      return new Response(null, { status: 0, statusText: '', headers, type: 'error', url: '', redirected: false }, token);
    }
    static json(data, init) {
      const text = JSON.stringify(data);
      if (text === undefined) throw new TypeError('the value is nothing that JSON can say');
      const headers = new Headers(init?.headers);
      if (!headers.has('content-type')) headers.append('content-type', 'application/json');
      return new Response(text, { ...init, headers });
    }
    static redirect(url, status = 302) {
      const location = urlOf(url);
      if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`${status} is not a status of a redirect`);
      const headers = freeze(new Headers([['location', location]]));
      const state = { status, statusText: '', headers, type: 'default', url: '', redirected: false };
      return new Response(null, state, token);
    }
  }

  // ---- fetch

  // `init.k6` (ours) holds params of k6/http: tags, timeout, responseCallback, responseType: 'stream' and the others.
  const fetch = { async fetch(input, init) {
    const request = new Request(input, init);
    const { url, method, headers, redirect, credentials, signal, k6 } = requestOf(request);
    signal?.throwIfAborted();
    const body = bodyOf(request);
    if (isBusy(body)) throw new TypeError('the body of the request was read before');
    const params = { ...k6, headers: Object.fromEntries(headers), throw: false };
    if (redirect !== 'follow') params.redirects = 0;
    if (credentials === 'omit') params.jar = web.newJar();
    const content = body === null ? null : body.stream ?? blobOf(body);
    if (body?.stream !== undefined) web.onlyBytes(body.stream);
    if (body !== null) body.used = true;
    // A response of a kind that was asked for comes whole, at its end.
    const source = k6?.responseType === undefined ? web.source() : undefined;
    const answer = await sent(web.send(method, url, content, params, source), signal, source);
    if (answer.status === 0) throw new TypeError(`fetch failed: ${answer.error}`, { cause: answer });
    if (redirect === 'error' && answer.status >= 300 && answer.status <= 399 && answer.headers.Location !== undefined) {
      throw new TypeError('fetch failed: the server redirects, which the request forbids');
    }
    if (redirect === 'follow' && body?.stream !== undefined && (answer.status === 307 || answer.status === 308)
      && answer.headers.Location !== undefined) {
      throw new TypeError('fetch failed: the server redirects and wants the body again, which came from a stream');
    }
    const made = {
      status: answer.status,
      statusText: answer.status_text.replace(/^\d+ ?/, ''),
      headers: freeze(new Headers(web.headerList(answer))),
      type: 'basic',
      url: urlOf(answer.url).replace(/#.*$/s, ''),
      redirected: redirect === 'follow' && web.isRedirected(answer),
      k6: answer,
    };
    const came = contentOf(answer, method, source);
    if (signal !== null && came?.source !== undefined) web.follow(signal, follower(came));
    return new Response(came, made, token);
  } }.fetch;

  function contentOf(answer, method, source) {
    if (method === 'HEAD' || BODILESS.includes(answer.status)) return null;
    if (source?.hasBody()) return { source };
    if (web.isStream(answer.stream)) return { stream: answer.stream };
    return web.hasBody(answer) ? { response: answer } : null;
  }

  // The thing that a signal ends: the body of a response that is still coming.
  const follower = (body) => ({
    isOver: () => body.source.isOver(),
    abort(reason) {
      body.broken = { reason };
      body.reject?.(reason);
      if (body.root !== undefined) web.breakStream(body.root, reason);
      body.source.abort();
    },
  });

  // The answer, unless the signal comes first: that is a failed request.
  function sent(answer, signal, source) {
    if (signal === null) return answer;
    return new Promise((resolve, reject) => {
      const abort = () => {
        reject(signal.reason);
        source?.abort();
      };
      signal.addEventListener('abort', abort);
      const done = (settle) => (value) => { signal.removeEventListener('abort', abort); settle(value); };
      answer.then(done(resolve), done(reject));
    });
  }

  Object.assign(web, { Headers, Request, Response, fetch });
  for (const made of [Headers, Request, Response]) web.name(made);
})
