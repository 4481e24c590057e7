/** Names of before, which Brunt takes as k6 once did. */

declare module 'k6/experimental/timers' {
  export * from 'k6/timers';
  export * as default from 'k6/timers';
}

declare module 'k6/experimental/websockets' {
  export * from 'k6/websockets';
  export * as default from 'k6/websockets';
}

declare module 'k6/experimental/grpc' {
  export * from 'k6/net/grpc';
  export * as default from 'k6/net/grpc';
}

declare module 'k6/experimental/redis' {
  export * from 'k6/x/redis';
  export * as default from 'k6/x/redis';
}

/** The streams that are globals as well. k6 has those that are read, and no others. */
declare module 'k6/experimental/streams' {
  export const ReadableStream: typeof globalThis.ReadableStream;
  export type ReadableStream<R = any> = globalThis.ReadableStream<R>;
  export const ReadableStreamDefaultReader: typeof globalThis.ReadableStreamDefaultReader;
  export type ReadableStreamDefaultReader<R = any> = globalThis.ReadableStreamDefaultReader<R>;
  export const ReadableStreamDefaultController: typeof globalThis.ReadableStreamDefaultController;
  export type ReadableStreamDefaultController<R = any> = globalThis.ReadableStreamDefaultController<R>;
  export const WritableStream: typeof globalThis.WritableStream;
  export type WritableStream<W = any> = globalThis.WritableStream<W>;
  export const WritableStreamDefaultWriter: typeof globalThis.WritableStreamDefaultWriter;
  export type WritableStreamDefaultWriter<W = any> = globalThis.WritableStreamDefaultWriter<W>;
  export const WritableStreamDefaultController: typeof globalThis.WritableStreamDefaultController;
  export type WritableStreamDefaultController = globalThis.WritableStreamDefaultController;
  export const CountQueuingStrategy: typeof globalThis.CountQueuingStrategy;
  export type CountQueuingStrategy = globalThis.CountQueuingStrategy;
  export const ByteLengthQueuingStrategy: typeof globalThis.ByteLengthQueuingStrategy;
  export type ByteLengthQueuingStrategy = globalThis.ByteLengthQueuingStrategy;
  export type UnderlyingSource<R = any> = globalThis.UnderlyingSource<R>;
  export type UnderlyingSink<W = any> = globalThis.UnderlyingSink<W>;
  export type QueuingStrategy<T = any> = globalThis.QueuingStrategy<T>;
  export * as default from 'k6/experimental/streams';
}
