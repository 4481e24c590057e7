/**
 * The streams of the WHATWG as globals; `experimental.d.ts` has them as `k6/experimental/streams`. Streams of `type: 'bytes'`, BYOB readers and
 * `TransformStream` are not supported.
 */

export {};

/** A shape, unless the DOM library has declared the interface already. */
type Ours<Shape> = typeof globalThis extends { onmessage: any } ? {} : Shape;

type Read<R> = { done: false; value: R } | { done: true; value: undefined };

interface StrategyShape<T> {
  highWaterMark?: number;
  size?: (chunk: T) => number;
}

interface UnderlyingSourceShape<R> {
  start?: (controller: ReadableStreamDefaultController<R>) => any;
  /** Called whenever there is room. */
  pull?: (controller: ReadableStreamDefaultController<R>) => void | PromiseLike<void>;
  cancel?: (reason?: any) => void | PromiseLike<void>;
  type?: undefined;
}

interface ReaderShape<R> {
  readonly closed: Promise<void>;
  cancel(reason?: any): Promise<void>;
  read(): Promise<Read<R>>;
  releaseLock(): void;
}

interface ControllerShape<R> {
  /** `null` if the stream has failed. */
  readonly desiredSize: number | null;
  close(): void;
  enqueue(chunk?: R): void;
  error(reason?: any): void;
}

interface PipeOptions {
  preventAbort?: boolean;
  preventCancel?: boolean;
  preventClose?: boolean;
  signal?: AbortSignal;
}

interface ReadableShape<R> {
  readonly locked: boolean;
  cancel(reason?: any): Promise<void>;
  getReader(): ReadableStreamDefaultReader<R>;
  pipeThrough<T>(transform: { readable: ReadableStream<T>; writable: WritableStream<R> }, options?: PipeOptions): ReadableStream<T>;
  pipeTo(destination: WritableStream<R>, options?: PipeOptions): Promise<void>;
  tee(): [ReadableStream<R>, ReadableStream<R>];
}

interface UnderlyingSinkShape<W> {
  start?: (controller: WritableStreamDefaultController) => any;
  write?: (chunk: W, controller: WritableStreamDefaultController) => void | PromiseLike<void>;
  close?: () => void | PromiseLike<void>;
  abort?: (reason?: any) => void | PromiseLike<void>;
  type?: undefined;
}

interface WriterShape<W> {
  readonly closed: Promise<void>;
  /** `null` if the stream has failed. */
  readonly desiredSize: number | null;
  /** Fulfilled when there is room. */
  readonly ready: Promise<void>;
  abort(reason?: any): Promise<void>;
  close(): Promise<void>;
  releaseLock(): void;
  write(chunk?: W): Promise<void>;
}

interface WritableShape<W> {
  readonly locked: boolean;
  abort(reason?: any): Promise<void>;
  close(): Promise<void>;
  getWriter(): WritableStreamDefaultWriter<W>;
}

interface ReadableClass {
  prototype: ReadableStream;
  new <R = any>(source?: UnderlyingSource<R>, strategy?: QueuingStrategy<R>): ReadableStream<R>;
  from<R>(iterable: Iterable<R> | AsyncIterable<R>): ReadableStream<R>;
}

interface WritableClass {
  prototype: WritableStream;
  new <W = any>(sink?: UnderlyingSink<W>, strategy?: QueuingStrategy<W>): WritableStream<W>;
}

interface MarkShape<T> {
  readonly highWaterMark: number;
  readonly size: (chunk: T) => number;
}

interface MarkClass<Strategy> {
  prototype: Strategy;
  new (init: { highWaterMark: number }): Strategy;
}

declare global {
  interface QueuingStrategy<T = any> extends Ours<StrategyShape<T>> {}
  interface UnderlyingSource<R = any> extends Ours<UnderlyingSourceShape<R>> {}
  interface UnderlyingSink<W = any> extends Ours<UnderlyingSinkShape<W>> {}

  interface ReadableStream<R = any> extends Ours<ReadableShape<R>> {
    values(options?: { preventCancel?: boolean }): AsyncIterableIterator<R>;
    [Symbol.asyncIterator](options?: { preventCancel?: boolean }): AsyncIterableIterator<R>;
  }
  var ReadableStream: typeof globalThis extends { onmessage: any; ReadableStream: infer Class } ? Class : ReadableClass;

  interface ReadableStreamDefaultReader<R = any> extends Ours<ReaderShape<R>> {}
  var ReadableStreamDefaultReader: typeof globalThis extends { onmessage: any; ReadableStreamDefaultReader: infer Class }
    ? Class
    : { prototype: ReadableStreamDefaultReader; new <R = any>(stream: ReadableStream<R>): ReadableStreamDefaultReader<R> };

  interface ReadableStreamDefaultController<R = any> extends Ours<ControllerShape<R>> {}
  var ReadableStreamDefaultController: typeof globalThis extends {
    onmessage: any;
    ReadableStreamDefaultController: infer Class;
  }
    ? Class
    : { prototype: ReadableStreamDefaultController; new (): ReadableStreamDefaultController };

  interface WritableStream<W = any> extends Ours<WritableShape<W>> {}
  var WritableStream: typeof globalThis extends { onmessage: any; WritableStream: infer Class } ? Class : WritableClass;

  interface WritableStreamDefaultWriter<W = any> extends Ours<WriterShape<W>> {}
  var WritableStreamDefaultWriter: typeof globalThis extends { onmessage: any; WritableStreamDefaultWriter: infer Class }
    ? Class
    : { prototype: WritableStreamDefaultWriter; new <W = any>(stream: WritableStream<W>): WritableStreamDefaultWriter<W> };

  interface WritableStreamDefaultController extends Ours<{ readonly signal: AbortSignal; error(reason?: any): void }> {}
  var WritableStreamDefaultController: typeof globalThis extends {
    onmessage: any;
    WritableStreamDefaultController: infer Class;
  }
    ? Class
    : { prototype: WritableStreamDefaultController; new (): WritableStreamDefaultController };

  interface CountQueuingStrategy extends Ours<MarkShape<any>> {}
  var CountQueuingStrategy: typeof globalThis extends { onmessage: any; CountQueuingStrategy: infer Class }
    ? Class
    : MarkClass<CountQueuingStrategy>;

  interface ByteLengthQueuingStrategy extends Ours<MarkShape<ArrayBufferView>> {}
  var ByteLengthQueuingStrategy: typeof globalThis extends { onmessage: any; ByteLengthQueuingStrategy: infer Class }
    ? Class
    : MarkClass<ByteLengthQueuingStrategy>;
}
