// EventSource (WHATWG HTML §9.2): server-sent events, on fetch. Beyond the standard: `init.headers`, `init.method`, `init.body`
// and `init.tags`. A connection that ends is opened again, as in browsers, until close() is called.
(function (web) {
  'use strict';
  const { AbortController, dictionary, domException, fetch, href } = web;
  const failed = (url) => { throw domException(`Failed to parse URL from ${url}`, 'SyntaxError'); };

  const TYPES = ['open', 'message', 'error'];
  // The most letters of a line, or of the data of one event; and the times between two attempts.
  const TEXT_MAX = 64 * 1024 * 1024;
  const RETRY = 3000;
  const RETRY_MAX = 24 * 60 * 60 * 1000;
  // So long is read without a look at the timers, in milliseconds.
  const TURN = 10;
  // The memory that a line takes beside its letters.
  const LINE_COST = 32;
  const { clearTimeout, setTimeout, TextDecoder } = globalThis;

  const originOf = (url) => url.replace(/^([^:/?#]+:\/\/)(?:[^/?#]*@)?([^/?#]*).*$/s, '$1$2');

  class EventSource {
    #url;
    #init;
    #state = 0;
    #listeners = [];
    #handlers = { open: null, message: null, error: null };
    #controller;
    #last = '';
    #retry = RETRY;
    #timer;
    #wake;
    static CONNECTING = 0;
    static OPEN = 1;
    static CLOSED = 2;
    constructor(url, init) {
      if (arguments.length === 0) throw new TypeError('EventSource needs a URL');
      this.#url = href(`${url}`) ?? failed(`${url}`);
      this.#init = dictionary(init, 'options');
      this.#run();
    }
    get url() { return this.#url; }
    get readyState() { return this.#state; }
    get withCredentials() { return Boolean(this.#init.withCredentials); }
    get lastEventId() { return this.#last; }
    close() {
      this.#state = 2;
      this.#controller?.abort();
      clearTimeout(this.#timer);
      this.#wake?.();
    }
    addEventListener(type, listener, options) {
      const known = (each) => each.type === String(type) && each.listener === listener;
      if (listener === null || listener === undefined || this.#listeners.some(known)) return;
      this.#listeners.push({ type: String(type), listener, once: Boolean(options?.once) });
    }
    removeEventListener(type, listener) {
      this.#listeners = this.#listeners.filter((each) => each.type !== String(type) || each.listener !== listener);
    }
    dispatchEvent(event) {
      const handler = this.#handlers[event.type];
      if (typeof handler === 'function') handler.call(this, event);
      for (const each of this.#listeners.filter((one) => one.type === event.type)) {
        if (each.once) this.removeEventListener(each.type, each.listener);
        if (typeof each.listener === 'function') each.listener.call(this, event);
        else each.listener.handleEvent(event);
      }
      return true;
    }
    #fire(type, more) { this.dispatchEvent({ type, target: this, timestamp: Date.now(), ...more }); }
    async #run() {
      while (this.#state !== 2) {
        const error = await this.#connect();
        if (this.#state === 2) return;
        this.#state = error.isFinal ? 2 : 0;
        this.#fire('error', { error: error.message, status: error.status });
        if (this.#state === 2) return;
        await new Promise((resolve) => {
          this.#wake = resolve;
          this.#timer = setTimeout(resolve, this.#retry);
        });
      }
    }
    // Connects and reads to the end. Gives why it ended.
    async #connect() {
      const { method, body, tags, timeout } = this.#init;
      const headers = { Accept: 'text/event-stream', 'Cache-Control': 'no-store', ...this.#init.headers };
      if (this.#last !== '') headers['Last-Event-ID'] = this.#last;
      this.#controller = new AbortController();
      let answer;
      try {
        // Events may come for as long as the test lasts: only the script says when it takes too long.
        const k6 = { timeout: timeout ?? '24h', ...(tags === undefined ? {} : { tags }) };
        answer = await fetch(this.#url, { method, body, headers, signal: this.#controller.signal, k6 });
      } catch (e) {
        return { message: e instanceof Error ? e.message : String(e), isFinal: e instanceof TypeError && e.cause === undefined };
      }
      if (this.#state === 2) return {};
      const type = answer.headers.get('content-type') ?? '';
      if (answer.status !== 200 || !/^text\/event-stream\s*(;|$)/i.test(type)) {
        this.#controller.abort();
        const message = answer.status === 200
          ? `the server answers with "${type}", not with text/event-stream` : `the server answers with status ${answer.status}`;
        return { message, status: answer.status, isFinal: answer.status !== 503 };
      }
      this.#state = 1;
      this.#fire('open', { status: answer.status });
      const reader = answer.body.getReader();
      let since = Date.now();
      for (const parse = this.#parser(originOf(answer.url)); this.#state !== 2;) {
        let piece;
        try {
          piece = await reader.read();
        } catch (e) {
          return { message: e instanceof Error ? e.message : String(e) };
        }
        // A stream that always has more would leave the script's timers no turn.
        if (Date.now() - since > TURN) {
          await new Promise((resolve) => { setTimeout(resolve, 0); });
          since = Date.now();
        }
        if (piece.done) return { message: 'the server has ended the stream' };
        if (!parse(piece.value)) {
          this.#controller.abort();
          return { message: `an event is longer than ${TEXT_MAX} characters`, isFinal: true };
        }
      }
      return {};
    }
    // Takes bytes and fires what they say.
    #parser(origin) {
      const decoder = new TextDecoder();
      // The pieces of the line that has not ended, and how long they are: each is looked at once.
      let begun = [], begunSize = 0;
      let data = [], size = 0, type = '', id, afterCr = false, before;
      const line = (each) => {
        if (each === '') {
          if (id !== undefined) this.#last = id;
          if (data.length > 0) {
            const now = web.sseEvent(this.#url, before);
            before = now;
            this.#fire(type === '' ? 'message' : type, { data: data.join('\n'), lastEventId: this.#last, origin });
          }
          data = [];
          size = 0;
          type = '';
          return;
        }
        const colon = each.indexOf(':');
        const field = colon < 0 ? each : each.slice(0, colon);
        const value = colon < 0 ? '' : each.slice(each[colon + 1] === ' ' ? colon + 2 : colon + 1);
        if (field === 'data') { data.push(value); size += value.length + LINE_COST; }
        else if (field === 'event') type = value;
        else if (field === 'id') { if (!value.includes('\0')) id = value; }
        else if (field === 'retry' && /^\d+$/.test(value)) this.#retry = Math.min(Number(value), RETRY_MAX);
      };
      return (bytes) => {
        const text = decoder.decode(bytes, { stream: true });
        const breaks = /\r\n?|\n/g;
        // The LF of a CR LF that was cut in two.
        let from = afterCr && text[0] === '\n' ? 1 : 0;
        if (text !== '') afterCr = text.endsWith('\r');
        breaks.lastIndex = from;
        for (let found; this.#state !== 2 && (found = breaks.exec(text)) !== null;) {
          begun.push(text.slice(from, found.index));
          const whole = begun.length === 1 ? begun[0] : begun.join('');
          begun = [];
          begunSize = 0;
          from = breaks.lastIndex;
          line(whole);
          if (size > TEXT_MAX) return false;
        }
        if (from < text.length) {
          // The text of a comment is dropped; that it is one, is kept.
          const piece = text.slice(from);
          const isComment = (begun[0] ?? piece)[0] === ':';
          if (!isComment || begun.length === 0) {
            begun.push(isComment ? ':' : piece);
            begunSize += isComment ? 1 : piece.length + LINE_COST;
          }
        }
        return begunSize + size <= TEXT_MAX;
      };
    }
    static {
      for (const type of TYPES) {
        Object.defineProperty(this.prototype, `on${type}`, {
          get() { return this.#handlers[type]; },
          set(handler) { this.#handlers[type] = typeof handler === 'function' ? handler : null; },
          enumerable: true,
          configurable: true,
        });
      }
      Object.assign(this.prototype, { CONNECTING: 0, OPEN: 1, CLOSED: 2 });
    }
  }

  Object.assign(web, { EventSource });
  web.name(EventSource);
})
