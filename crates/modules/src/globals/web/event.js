// Event and EventTarget (WHATWG DOM §2). There is no tree here: an event has one target and doesn't bubble anywhere.
(function (web) {
  'use strict';
  const { dictionary, domException, isObject } = web;

  let begin, finish, isStopped, isEvent, muted;
  class Event {
    #type; #bubbles; #cancelable; #composed;
    #target = null;
    #current = null;
    #prevented = false;
    #stopped = false;
    // A listener that promised not to prevent anything runs.
    #passive = false;
    #time = Date.now();
    constructor(type, options) {
      if (arguments.length === 0) throw new TypeError('an event needs a type');
      const given = dictionary(options, 'the options of an event');
      this.#type = String(type);
      this.#bubbles = Boolean(given.bubbles);
      this.#cancelable = Boolean(given.cancelable);
      this.#composed = Boolean(given.composed);
    }
    get type() { return this.#type; }
    get target() { return this.#target; }
    get srcElement() { return this.#target; }
    get currentTarget() { return this.#current; }
    get eventPhase() { return this.#current === null ? 0 : 2; }
    get bubbles() { return this.#bubbles; }
    get cancelable() { return this.#cancelable; }
    get composed() { return this.#composed; }
    get defaultPrevented() { return this.#prevented; }
    get returnValue() { return !this.#prevented; }
    get isTrusted() { return false; }
    get timeStamp() { return this.#time; }
    composedPath() { return this.#current === null ? [] : [this.#current]; }
    preventDefault() { if (this.#cancelable && !this.#passive) this.#prevented = true; }
    stopPropagation() {}
    stopImmediatePropagation() { this.#stopped = true; }
    static {
      isEvent = (value) => isObject(value) && #type in value;
      isStopped = (event) => event.#stopped;
      muted = (event, passive) => { event.#passive = passive; };
      begin = (event, target) => {
        if (event.#current !== null) throw domException('the event is being dispatched', 'InvalidStateError');
        event.#target = event.#current = target;
      };
      finish = (event) => { event.#current = null; event.#stopped = false; };
    }
  }
  const PHASES = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 };
  for (const [name, value] of Object.entries(PHASES)) {
    for (const of of [Event, Event.prototype]) Object.defineProperty(of, name, { value, enumerable: true });
  }

  const captures = (options) => Boolean(isObject(options) ? options.capture : options);

  class EventTarget {
    // { type, listener, capture, once, passive, removed }
    #listeners = [];
    addEventListener(type, listener, options) {
      const { once, passive, signal } = isObject(options) ? options : {};
      if (signal !== undefined && !web.isSignal?.(signal)) throw web.refused('AbortSignal');
      if (listener === null || listener === undefined) return;
      if (!isObject(listener)) throw new TypeError('a listener must be a function or an object');
      if (signal?.aborted) return;
      const [name, capture] = [String(type), captures(options)];
      if (this.#find(name, listener, capture) !== undefined) return;
      this.#listeners.push({ type: name, listener, capture, once: Boolean(once), passive: Boolean(passive), removed: false });
      signal?.addEventListener('abort', () => this.removeEventListener(name, listener, capture), { once: true });
    }
    removeEventListener(type, listener, options) {
      const found = this.#find(String(type), listener, captures(options));
      if (found === undefined) return;
      found.removed = true;
      this.#listeners = this.#listeners.filter((each) => each !== found);
    }
    dispatchEvent(event) {
      if (!isEvent(event)) throw web.refused('Event');
      begin(event, this);
      for (const each of this.#listeners.filter((candidate) => candidate.type === event.type)) {
        if (isStopped(event)) break;
        if (each.removed) continue;
        if (each.once) this.removeEventListener(each.type, each.listener, each.capture);
        muted(event, each.passive);
        try {
          if (typeof each.listener === 'function') Reflect.apply(each.listener, this, [event]);
          else each.listener.handleEvent(event);
        } catch (error) {
          // The others still hear of it; the mistake is reported like an unhandled rejection.
          Promise.reject(error);
        }
        muted(event, false);
      }
      finish(event);
      return !event.defaultPrevented;
    }
    #find(type, listener, capture) {
      return this.#listeners.find((each) => each.type === type && each.listener === listener && each.capture === capture);
    }
  }

  Object.assign(web, { Event, EventTarget });
  for (const made of [Event, EventTarget]) web.name(made);
})
