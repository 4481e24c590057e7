// AbortController and AbortSignal (WHATWG DOM §3).
(function (web) {
  'use strict';
  const { domException, Event, EventTarget, isObject, refused, token } = web;

  let abortOf, follow, isSignal;
  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason = undefined;
    // The handler that `onabort` was set to.
    #handler = null;
    // The things that end with the signal, each with isOver() and abort(reason); and their number when the list was last tidied.
    #followers = [];
    #tidied = 8;
    static {
      abortOf = (signal, reason) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason = reason === undefined ? domException('this operation was aborted', 'AbortError') : reason;
        for (const each of signal.#followers.splice(0)) each.abort(signal.#reason);
        signal.dispatchEvent(new Event('abort'));
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
    constructor(given) {
      if (given !== token) throw new TypeError('Illegal constructor');
      super();
    }
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
    set onabort(handler) {
      // It has its place among the listeners from the first time on.
      if (this.#handler === null) this.addEventListener('abort', this.#handled);
      this.#handler = typeof handler === 'function' ? handler : null;
    }
    #handled = (event) => { if (this.#handler !== null) Reflect.apply(this.#handler, this, [event]); };
    throwIfAborted() { if (this.#aborted) throw this.#reason; }
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
