// AbortController and AbortSignal (WHATWG DOM §3). A signal knows one event, "abort".
(function (web) {
  'use strict';
  const { dictionary, domException, isObject, refused, token } = web;

  let abortOf, follow, isSignal;
  class AbortSignal {
    #aborted = false;
    #reason = undefined;
    #listeners = [];
    // The handler that `onabort` was set to.
    #handler = null;
    // What ends with the signal, each with isOver() and abort(reason); and as how many there were when it was last tidied.
    #followers = [];
    #tidied = 8;
    static {
      abortOf = (signal, reason) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason = reason === undefined ? domException('this operation was aborted', 'AbortError') : reason;
        for (const each of signal.#followers.splice(0)) each.abort(signal.#reason);
        signal.dispatchEvent({ type: 'abort' });
      };
    }
    static {
      follow = (signal, follower) => {
        if (signal.#aborted) { follower.abort(signal.#reason); return; }
        signal.#followers.push(follower);
        // A signal may outlive any number of requests.
        if (signal.#followers.length > 2 * signal.#tidied) {
          signal.#followers = signal.#followers.filter((each) => !each.isOver());
          signal.#tidied = Math.max(8, signal.#followers.length);
        }
      };
    }
    constructor(given) { if (given !== token) throw new TypeError('Illegal constructor'); }
    static abort(reason) {
      const signal = new AbortSignal(token);
      abortOf(signal, reason);
      return signal;
    }
    static timeout(milliseconds) {
      const signal = new AbortSignal(token);
      const delay = Number(milliseconds);
      if (!(delay >= 0)) throw new TypeError('a timeout is a number of milliseconds');
      web.alarm(() => abortOf(signal, domException('the operation timed out', 'TimeoutError')), delay);
      return signal;
    }
    static any(signals) {
      const joined = new AbortSignal(token);
      const all = [...signals];
      for (const signal of all) if (!isSignal(signal)) throw refused('AbortSignal');
      const first = all.find((signal) => signal.aborted);
      if (first !== undefined) abortOf(joined, first.reason);
      else for (const signal of all) signal.addEventListener('abort', () => abortOf(joined, signal.reason));
      return joined;
    }
    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    get onabort() { return this.#handler; }
    set onabort(handler) { this.#handler = typeof handler === 'function' ? handler : null; }
    throwIfAborted() { if (this.#aborted) throw this.#reason; }
    addEventListener(type, listener, options) {
      if (listener === null || listener === undefined) return;
      if (!isObject(listener)) throw new TypeError('a listener must be a function or an object');
      const known = this.#listeners.some((each) => each.type === String(type) && each.listener === listener);
      const once = isObject(options) && Boolean(options.once);
      if (!known) this.#listeners.push({ type: String(type), listener, once });
    }
    removeEventListener(type, listener) {
      this.#listeners = this.#listeners.filter((each) => each.type !== String(type) || each.listener !== listener);
    }
    dispatchEvent(event) {
      const { type } = dictionary(event, 'an event');
      const shown = Object.assign(Object.create(null), event, { target: this, currentTarget: this });
      if (type === 'abort' && this.#handler) Reflect.apply(this.#handler, this, [shown]);
      for (const each of this.#listeners.filter((candidate) => candidate.type === type)) {
        if (each.once) this.removeEventListener(type, each.listener);
        if (typeof each.listener === 'function') Reflect.apply(each.listener, this, [shown]);
        else each.listener.handleEvent?.(shown);
      }
      return true;
    }
    static {
      isSignal = (value) => isObject(value) && #aborted in value;
    }
  }

  class AbortController {
    #signal = new AbortSignal(token);
    get signal() { return this.#signal; }
    abort(reason) { abortOf(this.#signal, reason); }
  }

  Object.assign(web, { AbortController, AbortSignal, isSignal, follow, abortController: () => new AbortController() });
  for (const made of [AbortController, AbortSignal]) web.name(made);
})
