// Writable streams (WHATWG Streams §5), strategies (§7) and piping (§4.9.1). See readable.js.
(function (web) {
  'use strict';
  const {
    Chunks, Queue, attempt, deferred, dictionary, handled, highWaterMark, isObject, method, refused, rejected, resolved,
    sizeOf, streamState, token,
  } = web;
  // The promises of a writer, whose rejections need not be handled.
  const quiet = () => { const made = deferred(); handled(made.promise); return made; };

  let stateOf, writerOf, controllerOf;
  const writableState = (value) => stateOf(value) ?? (() => { throw refused('WritableStream'); })();
  const writerState = (value) => writerOf(value) ?? (() => { throw refused('WritableStreamDefaultWriter'); })();
  const isClosing = (stream) => stream.closeRequest !== undefined || stream.closing !== undefined;
  const released = () => new TypeError('the writer was released');

  class WritableStream {
    #state = {
      // writable, erroring (until what is under way is done), errored, closed
      state: 'writable', error: undefined, writer: undefined, controller: undefined, backpressure: false,
      writes: new Queue(), writing: undefined, closeRequest: undefined, closing: undefined, abort: undefined,
    };
    static {
      stateOf = (value) => (isObject(value) && #state in value ? value.#state : undefined);
    }

    constructor(underlyingSink, strategy) {
      if (underlyingSink === null) throw new TypeError('an underlying sink must be an object');
      const sink = dictionary(underlyingSink, 'an underlying sink');
      const rules = dictionary(strategy, 'a strategy');
      if (sink.type !== undefined) throw new RangeError('an underlying sink has no type');
      const call = (name) => {
        const found = method(sink, name);
        return found && ((...given) => Reflect.apply(found, underlyingSink, given));
      };
      const [abort, close, start, write] = [call('abort'), call('close'), call('start'), call('write')];
      const size = sizeOf(rules);
      const hwm = highWaterMark(rules, 1);
      const controller = new WritableStreamDefaultController(token);
      const state = controllerOf(controller);
      const stream = this.#state;
      Object.assign(state, { stream, size, hwm, abort, close, write });
      stream.controller = state;
      stream.backpressure = desired(state) <= 0;
      Promise.resolve(start === undefined ? undefined : start(controller)).then(
        () => { state.started = true; advance(state); },
        (error) => { state.started = true; dealWithRejection(stream, error); },
      );
    }

    get locked() { return writableState(this).writer !== undefined; }

    abort(reason) {
      return attempt(() => {
        if (writableState(this).writer !== undefined) throw new TypeError('a locked stream is aborted by its writer');
        return abortStream(this.#state, reason);
      });
    }

    close() {
      return attempt(() => {
        if (writableState(this).writer !== undefined) throw new TypeError('a locked stream is closed by its writer');
        if (isClosing(this.#state)) throw new TypeError('the stream was told to close before');
        return closeStream(this.#state);
      });
    }

    getWriter() { writableState(this); return new WritableStreamDefaultWriter(this); }
  }

  class WritableStreamDefaultController {
    #state = {
      stream: undefined, chunks: new Chunks(), started: false, hwm: 1, size: undefined, signal: undefined,
      abort: undefined, close: undefined, write: undefined,
    };
    static {
      controllerOf = (value) => {
        if (!isObject(value) || !(#state in value)) throw refused('WritableStreamDefaultController');
        return value.#state;
      };
    }
    constructor(given) {
      if (given !== token) throw new TypeError('Illegal constructor');
      this.#state.self = this;
    }
    get signal() {
      const state = controllerOf(this);
      state.signal ??= web.abortController();
      return state.signal.signal;
    }
    error(reason) {
      const state = controllerOf(this);
      if (state.stream.state === 'writable') startErroring(forgetting(state), reason);
    }
  }

  const CLOSE = Symbol('close');
  const desired = (state) => state.hwm - state.chunks.total;

  // The functions of the sink may be collected; gives back the stream.
  function forgetting(state) {
    state.write = undefined;
    state.close = undefined;
    state.size = undefined;
    return state.stream;
  }

  function abortStream(stream, reason) {
    if (stream.state === 'closed' || stream.state === 'errored') return Promise.resolve();
    stream.controller.signal?.abort(reason);
    if (stream.state === 'closed' || stream.state === 'errored') return Promise.resolve();
    if (stream.abort !== undefined) return stream.abort.promise;
    const wasErroring = stream.state === 'erroring';
    const request = Object.assign(deferred(), { reason: wasErroring ? undefined : reason, wasErroring });
    stream.abort = request;
    // This may be its end at once.
    if (!wasErroring) startErroring(stream, reason);
    return request.promise;
  }

  function closeStream(stream) {
    if (stream.state === 'closed' || stream.state === 'errored') {
      return Promise.reject(new TypeError(`the stream is ${stream.state}`));
    }
    stream.closeRequest = deferred();
    const { promise } = stream.closeRequest;
    if (stream.writer !== undefined && stream.backpressure && stream.state === 'writable') stream.writer.ready.resolve();
    stream.controller.chunks.push(CLOSE, 0);
    advance(stream.controller);
    return promise;
  }

  function dealWithRejection(stream, error) {
    if (stream.state === 'writable') startErroring(stream, error); else if (stream.state === 'erroring') finishErroring(stream);
  }

  function startErroring(stream, reason) {
    stream.state = 'erroring';
    stream.error = reason;
    if (stream.writer !== undefined) rejectReady(stream.writer, reason);
    if (stream.writing === undefined && stream.closing === undefined && stream.controller.started) finishErroring(stream);
  }

  function finishErroring(stream) {
    stream.state = 'errored';
    const { controller } = stream;
    controller.chunks.clear();
    while (stream.writes.length > 0) stream.writes.shift().reject(stream.error);
    const { abort } = stream;
    if (abort === undefined) { rejectClose(stream); return; }
    stream.abort = undefined;
    if (abort.wasErroring) { abort.reject(stream.error); rejectClose(stream); return; }
    const run = controller.abort;
    forgetting(controller);
    controller.abort = undefined;
    attempt(() => run?.(abort.reason)).then(
      () => { abort.resolve(); rejectClose(stream); },
      (error) => { abort.reject(error); rejectClose(stream); },
    );
  }

  function rejectClose(stream) {
    if (stream.closeRequest !== undefined) {
      stream.closeRequest.reject(stream.error);
      stream.closeRequest = undefined;
    }
    if (stream.writer !== undefined) {
      stream.writer.closed.reject(stream.error);
      handled(stream.writer.closed.promise);
    }
  }

  function rejectReady(writer, error) {
    writer.ready.reject(error);
    // One that was fulfilled before can't be rejected any more.
    writer.ready = rejected(error);
  }

  function updateBackpressure(stream, backpressure) {
    const { writer } = stream;
    if (writer !== undefined && backpressure !== stream.backpressure) {
      if (backpressure) writer.ready = quiet(); else writer.ready.resolve();
    }
    stream.backpressure = backpressure;
  }

  // Does the next thing in the queue, if nothing is under way.
  function advance(state) {
    const { stream } = state;
    if (!state.started || stream.writing !== undefined) return;
    if (stream.state === 'erroring') { finishErroring(stream); return; }
    if (state.chunks.length === 0 || stream.state === 'errored' || stream.state === 'closed') return;
    const next = state.chunks.first();
    if (next === CLOSE) doClose(state); else doWrite(state, next);
  }

  function doClose(state) {
    const { stream } = state;
    stream.closing = stream.closeRequest;
    stream.closeRequest = undefined;
    state.chunks.shift();
    const { close } = state;
    forgetting(state);
    attempt(() => close?.()).then(
      () => {
        stream.closing.resolve();
        stream.closing = undefined;
        if (stream.state === 'erroring') {
          stream.error = undefined;
          stream.abort?.resolve();
          stream.abort = undefined;
        }
        stream.state = 'closed';
        stream.writer?.closed.resolve();
      },
      (error) => {
        stream.closing.reject(error);
        stream.closing = undefined;
        stream.abort?.reject(error);
        stream.abort = undefined;
        dealWithRejection(stream, error);
      },
    );
  }

  function doWrite(state, chunk) {
    const { stream } = state;
    stream.writing = stream.writes.shift();
    attempt(() => state.write?.(chunk, state.self)).then(
      () => {
        stream.writing.resolve();
        stream.writing = undefined;
        if (stream.state === 'writable' || stream.state === 'erroring') {
          state.chunks.shift();
          if (!isClosing(stream) && stream.state === 'writable') updateBackpressure(stream, desired(state) <= 0);
          advance(state);
        }
      },
      (error) => {
        if (stream.state === 'writable') forgetting(state);
        stream.writing.reject(error);
        stream.writing = undefined;
        dealWithRejection(stream, error);
      },
    );
  }

  class WritableStreamDefaultWriter {
    #state = { stream: undefined, closed: undefined, ready: undefined };
    static {
      writerOf = (value) => (isObject(value) && #state in value ? value.#state : undefined);
    }
    constructor(stream) {
      const state = writableState(stream);
      if (state.writer !== undefined) throw new TypeError('the stream is locked: it has a writer');
      const writer = this.#state;
      writer.stream = state;
      state.writer = writer;
      switch (state.state) {
        case 'writable':
          writer.ready = !isClosing(state) && state.backpressure ? quiet() : resolved();
          writer.closed = quiet();
          break;
        case 'erroring':
          writer.ready = rejected(state.error);
          writer.closed = quiet();
          break;
        case 'closed':
          writer.ready = resolved();
          writer.closed = resolved();
          break;
        default:
          writer.ready = rejected(state.error);
          writer.closed = rejected(state.error);
      }
    }
    get closed() {
      try { return writerState(this).closed.promise; } catch (error) { return Promise.reject(error); }
    }
    get ready() {
      try { return writerState(this).ready.promise; } catch (error) { return Promise.reject(error); }
    }
    get desiredSize() {
      const { stream } = writerState(this);
      if (stream === undefined) throw released();
      if (stream.state === 'errored' || stream.state === 'erroring') return null;
      return stream.state === 'closed' ? 0 : desired(stream.controller);
    }
    abort(reason) {
      return attempt(() => {
        const { stream } = writerState(this);
        if (stream === undefined) throw released();
        return abortStream(stream, reason);
      });
    }
    close() {
      return attempt(() => {
        const { stream } = writerState(this);
        if (stream === undefined) throw released();
        if (isClosing(stream)) throw new TypeError('the stream was told to close before');
        return closeStream(stream);
      });
    }
    write(chunk) { return attempt(() => write(writerState(this), chunk)); }
    releaseLock() {
      const writer = writerState(this);
      const { stream } = writer;
      if (stream === undefined) return;
      const error = released();
      rejectReady(writer, error);
      writer.closed.reject(error);
      writer.closed = rejected(error);
      stream.writer = undefined;
      writer.stream = undefined;
    }
  }

  function write(writer, chunk) {
    const { stream } = writer;
    if (stream === undefined) throw released();
    const state = stream.controller;
    let size = 1;
    if (state.size !== undefined) {
      try { size = state.size(chunk); } catch (error) {
        if (stream.state === 'writable') startErroring(forgetting(state), error);
      }
    }
    if (stream !== writer.stream) throw released();
    if (stream.state === 'errored') throw stream.error;
    if (isClosing(stream) || stream.state === 'closed') throw new TypeError('the stream is closed, or closing');
    if (stream.state === 'erroring') throw stream.error;
    const request = deferred();
    stream.writes.push(request);
    try { state.chunks.push(chunk, size); } catch (error) {
      if (stream.state === 'writable') startErroring(forgetting(state), error);
      return request.promise;
    }
    if (!isClosing(stream) && stream.state === 'writable') updateBackpressure(stream, desired(state) <= 0);
    advance(state);
    return request.promise;
  }

  // Reads and writes until one side ends, and passes the end on as the options say.
  async function pipe(source, destination, options) {
    const target = writableState(destination);
    const from = streamState(source);
    const { preventAbort, preventCancel, preventClose, signal } = options;
    if (from.reader !== undefined) throw new TypeError('the source is locked');
    if (target.writer !== undefined) throw new TypeError('the destination is locked');
    const reader = source.getReader();
    const writer = destination.getWriter();
    from.disturbed = true;
    let last = Promise.resolve();
    const ended = deferred();
    handled(ended.promise);
    const end = (outcome) => ended.resolve(outcome);
    const abort = () => end({ aborted: true, error: signal.reason });
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    reader.closed.then(undefined, (error) => end({ sourceFailed: true, error }));
    writer.closed.then(
      () => end({ targetGone: true, error: new TypeError('the destination is closed') }),
      (error) => end({ targetGone: true, error }),
    );
    if (isClosing(target)) end({ targetGone: true, error: new TypeError('the destination is closing') });
    const shuffle = async () => {
      for (;;) {
        await writer.ready;
        const { value, done } = await reader.read();
        if (done) return;
        last = handled(writer.write(value));
      }
    };
    const outcome = await Promise.race([
      ended.promise,
      shuffle().then(() => ({ done: true }), (error) => ended.promise.then((known) => known ?? { sourceFailed: true, error })),
    ]);
    // Chunks that were read must have been written before the end is passed on.
    if (!outcome.targetGone) await last.then(undefined, () => {});
    try {
      if (outcome.done) {
        if (!preventClose) await writer.close();
        return undefined;
      }
      const acts = [];
      if (!outcome.targetGone && !preventAbort) acts.push(writer.abort(outcome.error));
      if (!outcome.sourceFailed && !preventCancel) acts.push(reader.cancel(outcome.error));
      await Promise.all(acts);
      throw outcome.error;
    } finally {
      signal?.removeEventListener('abort', abort);
      reader.releaseLock();
      writer.releaseLock();
    }
  }

  const count = () => 1;
  const byteLength = (chunk) => chunk.byteLength;
  Object.defineProperty(count, 'name', { value: 'size' });
  Object.defineProperty(byteLength, 'name', { value: 'size' });

  class Strategy {
    #mark;
    constructor(init) {
      if (!isObject(init) || init.highWaterMark === undefined) throw new TypeError('a strategy needs a highWaterMark');
      this.#mark = Number(init.highWaterMark);
    }
    static mark(value) {
      if (!isObject(value) || !(#mark in value)) throw refused('queuing strategy');
      return value.#mark;
    }
  }
  const markOf = Strategy.mark;
  class CountQueuingStrategy {
    #inner;
    constructor(init) { this.#inner = new Strategy(init); }
    get highWaterMark() { return markOf(this.#inner); }
    get size() { return this.#inner && count; }
  }
  class ByteLengthQueuingStrategy {
    #inner;
    constructor(init) { this.#inner = new Strategy(init); }
    get highWaterMark() { return markOf(this.#inner); }
    get size() { return this.#inner && byteLength; }
  }

  Object.assign(web, {
    WritableStream, WritableStreamDefaultController, WritableStreamDefaultWriter, CountQueuingStrategy,
    ByteLengthQueuingStrategy, pipe,
  });
  for (const made of [
    WritableStream, WritableStreamDefaultController, WritableStreamDefaultWriter, CountQueuingStrategy,
    ByteLengthQueuingStrategy,
  ]) web.name(made);
})
