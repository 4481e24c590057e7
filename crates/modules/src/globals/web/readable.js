// Readable streams (WHATWG Streams §4), with default controllers: streams of bytes as a type of their own are refused.
//
// Called once in each VM that uses streams, with the object that the parts of this folder share: what one part needs of
// another is a property of it. State lies in private fields, so that the brand of an object can't be forged.
(function (web) {
  'use strict';
  const { dictionary, isObject, refused, token } = web;

  // A list that gives back its first element without moving the others each time.
  class Queue {
    #items = [];
    #head = 0;
    get length() { return this.#items.length - this.#head; }
    push(item) { this.#items.push(item); }
    first() { return this.#items[this.#head]; }
    shift() {
      const item = this.#items[this.#head];
      this.#items[this.#head++] = undefined;
      if (this.#head > 32 && this.#head * 2 > this.#items.length) {
        this.#items = this.#items.slice(this.#head);
        this.#head = 0;
      }
      return item;
    }
    clear() { this.#items = []; this.#head = 0; }
  }

  // A queue of chunks with their sizes (§8.1).
  class Chunks {
    #queue = new Queue();
    total = 0;
    get length() { return this.#queue.length; }
    push(value, size) {
      size = Number(size);
      if (!(size >= 0) || size === Infinity) {
        throw new RangeError(`the size of a chunk must be a finite number that is not negative, not ${size}`);
      }
      this.#queue.push({ value, size });
      this.total += size;
    }
    first() { return this.#queue.first().value; }
    shift() {
      const { value, size } = this.#queue.shift();
      this.total = this.#queue.length === 0 ? 0 : Math.max(0, this.total - size);
      return value;
    }
    clear() { this.#queue.clear(); this.total = 0; }
  }

  // A promise with its other end. `handled` keeps a rejection from being reported as unhandled.
  function deferred() {
    const made = {};
    made.promise = new Promise((resolve, reject) => { made.resolve = resolve; made.reject = reject; });
    return made;
  }
  const handled = (promise) => { promise.then(undefined, () => {}); return promise; };
  function resolved(value) {
    const made = deferred();
    made.resolve(value);
    return made;
  }
  function rejected(reason) {
    const made = deferred();
    made.reject(reason);
    handled(made.promise);
    return made;
  }

  // Calls and makes a promise of what comes back, or is thrown.
  function attempt(run) {
    try { return Promise.resolve(run()); } catch (error) { return Promise.reject(error); }
  }

  // A member that must be a function if it is there.
  function method(object, name) {
    const found = object[name];
    if (found !== undefined && typeof found !== 'function') throw new TypeError(`${name} must be a function`);
    return found;
  }

  function highWaterMark(strategy, otherwise) {
    if (strategy.highWaterMark === undefined) return otherwise;
    const mark = Number(strategy.highWaterMark);
    if (!(mark >= 0)) throw new RangeError('highWaterMark must be a non-negative number');
    return mark;
  }

  function sizeOf(strategy) {
    const size = method(strategy, 'size');
    return size === undefined ? () => 1 : (chunk) => size(chunk);
  }

  let stateOf, readerOf, controllerOf;
  const streamState = (value) => stateOf(value) ?? (() => { throw refused('ReadableStream'); })();
  const readerState = (value) => readerOf(value) ?? (() => { throw refused('ReadableStreamDefaultReader'); })();
  const isLocked = (stream) => stream.reader !== undefined;

  class ReadableStream {
    #state = {
      state: 'readable', error: undefined, reader: undefined, controller: undefined, disturbed: false,
    };
    static {
      stateOf = (value) => (isObject(value) && #state in value ? value.#state : undefined);
    }

    constructor(underlyingSource, strategy) {
      if (underlyingSource === null) throw new TypeError('underlyingSource must be an object');
      const source = dictionary(underlyingSource, 'an underlying source');
      const rules = dictionary(strategy, 'a strategy');
      const [cancel, pull, start] = [method(source, 'cancel'), method(source, 'pull'), method(source, 'start')];
      if (source.type !== undefined) {
        if (String(source.type) !== 'bytes') throw new TypeError('invalid underlying source type');
        throw new TypeError('streams of the type "bytes" are not supported; leave the type out');
      }
      const size = sizeOf(rules);
      setUp(this.#state, {
        hwm: highWaterMark(rules, 1),
        size,
        start: start && ((controller) => Reflect.apply(start, underlyingSource, [controller])),
        pull: pull && ((controller) => Reflect.apply(pull, underlyingSource, [controller])),
        cancel: cancel && ((reason) => Reflect.apply(cancel, underlyingSource, [reason])),
      });
    }

    static from(iterable) {
      const open = iterable?.[Symbol.asyncIterator] ?? iterable?.[Symbol.iterator];
      if (typeof open !== 'function') throw new TypeError('ReadableStream.from needs an iterable');
      const iterator = Reflect.apply(open, iterable, []);
      if (!isObject(iterator)) throw new TypeError('an iterator must be an object');
      const next = iterator.next;
      return new ReadableStream({
        async pull(controller) {
          const step = await Reflect.apply(next, iterator, []);
          if (!isObject(step)) throw new TypeError('a step of an iterator must be an object');
          if (step.done) controller.close(); else controller.enqueue(await step.value);
        },
        async cancel(reason) {
          if (iterator.return === undefined) return;
          const end = await Reflect.apply(iterator.return, iterator, [reason]);
          if (!isObject(end)) throw new TypeError('the end of an iterator must be an object');
        },
      }, { highWaterMark: 0 });
    }

    get locked() { return isLocked(streamState(this)); }

    cancel(reason) {
      return attempt(() => {
        if (isLocked(streamState(this))) throw new TypeError('a locked stream can only be cancelled by its reader');
        return cancelStream(this.#state, reason);
      });
    }

    getReader(options) {
      const { mode } = dictionary(options, 'options');
      streamState(this);
      if (mode !== undefined) throw new TypeError(`a reader of the mode "${String(mode)}" is not supported`);
      return new ReadableStreamDefaultReader(this);
    }

    tee() { return tee(this, streamState(this)); }

    pipeTo(destination, options) {
      return attempt(() => {
        streamState(this);
        return web.pipe(this, destination, dictionary(options, 'options'));
      });
    }

    pipeThrough(transform, options) {
      streamState(this);
      const { readable, writable } = dictionary(transform, 'a transform');
      if (stateOf(readable) === undefined) throw refused('ReadableStream');
      handled(this.pipeTo(writable, options));
      return readable;
    }

    values(options) {
      const { preventCancel } = dictionary(options, 'options');
      streamState(this);
      return iterate(new ReadableStreamDefaultReader(this), Boolean(preventCancel));
    }
  }
  Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, {
    value: ReadableStream.prototype.values, writable: true, configurable: true,
  });

  function setUp(stream, source) {
    const controller = new ReadableStreamDefaultController(token);
    const state = controllerOf(controller);
    Object.assign(state, source, { stream });
    stream.controller = state;
    const started = source.start === undefined ? undefined : source.start(controller);
    Promise.resolve(started).then(
      () => { state.started = true; pullIfNeeded(state); },
      (error) => fail(state, error),
    );
  }

  class ReadableStreamDefaultController {
    #state = {
      stream: undefined, chunks: new Chunks(), started: false, closing: false, pulling: false, again: false,
      hwm: 1, size: undefined, pull: undefined, cancel: undefined,
    };
    static {
      controllerOf = (value) => {
        if (!isObject(value) || !(#state in value)) throw refused('ReadableStreamDefaultController');
        return value.#state;
      };
    }
    constructor(given) {
      if (given !== token) throw new TypeError('Illegal constructor');
      this.#state.self = this;
    }
    get desiredSize() { return desired(controllerOf(this)); }
    close() {
      const state = controllerOf(this);
      if (!takes(state)) throw new TypeError('cannot close or enqueue');
      closeSoon(state);
    }
    enqueue(chunk) {
      const state = controllerOf(this);
      if (!takes(state)) throw new TypeError('cannot close or enqueue');
      enqueue(state, chunk);
    }
    error(reason) { fail(controllerOf(this), reason); }
  }

  function desired(state) {
    if (state.stream.state === 'errored') return null;
    return state.stream.state === 'closed' ? 0 : state.hwm - state.chunks.total;
  }
  const takes = (state) => !state.closing && state.stream.state === 'readable';

  function closeSoon(state) {
    state.closing = true;
    if (state.chunks.length === 0) { forget(state); closeStream(state.stream); }
  }

  function enqueue(state, chunk) {
    const { stream } = state;
    if (isLocked(stream) && stream.reader.requests.length > 0) {
      stream.reader.requests.shift().chunk(chunk);
    } else {
      try { state.chunks.push(chunk, state.size(chunk)); } catch (error) { fail(state, error); throw error; }
    }
    pullIfNeeded(state);
  }

  function fail(state, error) {
    if (state.stream.state !== 'readable') return;
    state.chunks.clear();
    forget(state);
    errorStream(state.stream, error);
  }

  // The functions of the source may be collected.
  function forget(state) { state.pull = undefined; state.cancel = undefined; state.size = undefined; }

  function wanted(state) {
    if (!takes(state) || !state.started) return false;
    return (isLocked(state.stream) && state.stream.reader.requests.length > 0) || desired(state) > 0;
  }

  function pullIfNeeded(state) {
    if (!wanted(state)) return;
    if (state.pulling) { state.again = true; return; }
    state.pulling = true;
    attempt(() => state.pull?.(state.self)).then(
      () => {
        state.pulling = false;
        if (state.again) { state.again = false; pullIfNeeded(state); }
      },
      (error) => fail(state, error),
    );
  }

  function closeStream(stream) {
    stream.state = 'closed';
    const { reader } = stream;
    if (reader === undefined) return;
    reader.closed.resolve();
    while (reader.requests.length > 0) reader.requests.shift().close();
  }

  function errorStream(stream, error) {
    stream.state = 'errored';
    stream.error = error;
    const { reader } = stream;
    if (reader === undefined) return;
    reader.closed.reject(error);
    handled(reader.closed.promise);
    while (reader.requests.length > 0) reader.requests.shift().error(error);
  }

  function cancelStream(stream, reason) {
    stream.disturbed = true;
    if (stream.state === 'closed') return Promise.resolve();
    if (stream.state === 'errored') return Promise.reject(stream.error);
    closeStream(stream);
    const state = stream.controller;
    state.chunks.clear();
    const { cancel } = state;
    forget(state);
    return attempt(() => cancel?.(reason)).then(() => undefined);
  }

  // Asks for one chunk: `request` has chunk(value), close() and error(reason).
  function readFrom(stream, request) {
    stream.disturbed = true;
    if (stream.state === 'closed') { request.close(); return; }
    if (stream.state === 'errored') { request.error(stream.error); return; }
    const state = stream.controller;
    if (state.chunks.length > 0) {
      const chunk = state.chunks.shift();
      if (state.closing && state.chunks.length === 0) { forget(state); closeStream(stream); } else pullIfNeeded(state);
      request.chunk(chunk);
    } else {
      stream.reader.requests.push(request);
      pullIfNeeded(state);
    }
  }

  class ReadableStreamDefaultReader {
    #state = { stream: undefined, requests: new Queue(), closed: undefined };
    static {
      readerOf = (value) => (isObject(value) && #state in value ? value.#state : undefined);
    }
    constructor(stream) {
      const state = streamState(stream);
      if (isLocked(state)) throw new TypeError('stream is locked');
      this.#state.stream = state;
      state.reader = this.#state;
      if (state.state === 'readable') this.#state.closed = deferred();
      else this.#state.closed = state.state === 'closed' ? resolved() : rejected(state.error);
    }
    get closed() {
      try { return readerState(this).closed.promise; } catch (error) { return Promise.reject(error); }
    }
    cancel(reason) {
      return attempt(() => {
        const { stream } = readerState(this);
        if (stream === undefined) throw new TypeError('the reader was released');
        return cancelStream(stream, reason);
      });
    }
    read() {
      return new Promise((resolve, reject) => {
        const { stream } = readerState(this);
        if (stream === undefined) throw new TypeError('the reader was released');
        readFrom(stream, {
          chunk: (value) => resolve({ value, done: false }),
          close: () => resolve({ value: undefined, done: true }),
          error: reject,
        });
      });
    }
    releaseLock() { release(readerState(this)); }
  }

  function release(reader) {
    const { stream } = reader;
    if (stream === undefined) return;
    const error = new TypeError('the reader was released');
    if (stream.state === 'readable') { reader.closed.reject(error); handled(reader.closed.promise); }
    else reader.closed = rejected(error);
    stream.reader = undefined;
    reader.stream = undefined;
    while (reader.requests.length > 0) reader.requests.shift().error(error);
  }

  const asyncIterators = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}.prototype));
  const iterations = new WeakMap();
  const iterators = Object.create(asyncIterators, {
    next: { value: function next() { return iteration(this, 'next'); }, writable: true, configurable: true },
    return: {
      value: function (value) { return iteration(this, 'return', value); }, writable: true, configurable: true,
    },
  });

  function iterate(reader, preventCancel) {
    const iterator = Object.create(iterators);
    iterations.set(iterator, { reader, preventCancel, done: false, last: undefined });
    return iterator;
  }

  // Steps of one iterator wait for each other.
  function iteration(iterator, step, value) {
    const state = iterations.get(iterator);
    if (state === undefined) return Promise.reject(refused('ReadableStream async iterator'));
    const { reader } = state;
    const end = () => { state.done = true; reader.releaseLock(); };
    const next = () => {
      if (state.done) return Promise.resolve({ value: undefined, done: true });
      return reader.read().then(
        (read) => { if (read.done) end(); return read; },
        (error) => { end(); throw error; },
      );
    };
    const leave = () => {
      if (state.done) return Promise.resolve({ value, done: true });
      const cancelled = state.preventCancel ? Promise.resolve() : reader.cancel(value);
      end();
      return cancelled.then(() => ({ value, done: true }));
    };
    const run = step === 'next' ? next : leave;
    state.last = state.last === undefined ? run() : state.last.then(run, run);
    return state.last;
  }

  // Two streams of the same chunks (§4.1.3); what both cancel is cancelled.
  function tee(stream, source) {
    const reader = new ReadableStreamDefaultReader(stream);
    const branches = [];
    const gone = [false, false];
    const reasons = [undefined, undefined];
    const cancelled = deferred();
    let reading = false;
    let again = false;
    const live = (run) => branches.forEach((branch, index) => { if (!gone[index]) run(stateOf(branch).controller); });
    const pull = () => {
      if (reading) { again = true; return undefined; }
      reading = true;
      readFrom(source, {
        chunk: (chunk) => Promise.resolve().then(() => {
          again = false;
          live((state) => { if (takes(state)) enqueue(state, chunk); });
          reading = false;
          if (again) pull();
        }),
        close: () => {
          reading = false;
          live((state) => { if (takes(state)) closeSoon(state); });
          if (!gone[0] || !gone[1]) cancelled.resolve();
        },
        error: () => { reading = false; },
      });
      return undefined;
    };
    const branch = (index) => new ReadableStream({
      pull,
      cancel(reason) {
        gone[index] = true;
        reasons[index] = reason;
        if (gone[1 - index]) cancelled.resolve(cancelStream(source, reasons));
        return cancelled.promise;
      },
    });
    branches.push(branch(0), branch(1));
    reader.closed.then(undefined, (error) => {
      branches.forEach((each) => fail(stateOf(each).controller, error));
      if (!gone[0] || !gone[1]) cancelled.resolve();
    });
    return branches;
  }

  // Hands the chunks of a stream to a request that is being sent. `feed.push` tells (or promises) whether more is wanted.
  async function pump(reader, feed, strict) {
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) { feed.end(); return; }
        if (strict && !(value instanceof Uint8Array)) {
          throw new TypeError('fetch sends chunks of Uint8Array only');
        }
        if (!await feed.push(value)) {
          handled(reader.cancel(new TypeError('the request is over')));
          return;
        }
      }
    } catch (error) {
      feed.fail(String(error?.message ?? error));
      handled(reader.cancel(error));
    }
  }

  // A stream as the body of a request. `feed` is the native end.
  function feed(stream, end) {
    if (streamState(stream).disturbed) throw new TypeError('the stream was read from before');
    pump(stream.getReader(), end, bytesOnly.has(stream));
  }

  // Streams that may give bytes only: the standard wants it of fetch, requests of k6/http take strings, too.
  const bytesOnly = new WeakSet();
  const onlyBytes = (stream) => { bytesOnly.add(stream); };

  const SLICE = 65536;

  // The bytes of a Blob, a slice at a time.
  function blobStream(blob) {
    let at = 0;
    return new ReadableStream({
      pull(controller) {
        const end = Math.min(at + SLICE, blob.size);
        if (at < end) controller.enqueue(new Uint8Array(web.bytes(blob, at, end)));
        at = end;
        if (at >= blob.size) controller.close();
      },
    }, { highWaterMark: 0 });
  }

  const isStream = (value) => stateOf(value) !== undefined;
  const breakStream = (stream, reason) => fail(streamState(stream).controller, reason);
  const isDisturbed = (stream) => streamState(stream).disturbed;

  Object.assign(web, {
    ReadableStream, ReadableStreamDefaultController, ReadableStreamDefaultReader,
    Chunks, Queue, attempt, deferred, handled, highWaterMark, method, rejected, resolved, sizeOf, streamState,
    breakStream, isDisturbed, isStream, feed, blobStream, onlyBytes,
  });
  for (const made of [ReadableStream, ReadableStreamDefaultController, ReadableStreamDefaultReader]) web.name(made);
})
