/** WebSockets as in browsers. `@types/k6` has them without protocols, `removeEventListener` and `close` events. */
declare module 'k6/websockets' {
  import { CookieJar } from 'k6/http';

  export interface Params {
    headers?: { [name: string]: string };
    /** Offers permessage-deflate without context takeover. */
    compression?: CompressionAlgorithm;
    tags?: { [name: string]: string | number | boolean };
    jar?: CookieJar;
  }

  export type CompressionAlgorithm = 'deflate';
  export type BinaryType = 'blob' | 'arraybuffer';
  export type ReadyState = 0 | 1 | 2 | 3;
  export type EventName = keyof WebSocketEvents;

  export interface WebSocketEvent {
    readonly type: EventName;
    /** Milliseconds since 1970. */
    readonly timestamp: number;
  }

  export interface MessageEvent extends WebSocketEvent {
    /** Text, or bytes as `binaryType` says. */
    readonly data: any;
  }

  export interface ErrorEvent extends WebSocketEvent {
    readonly error: string;
  }

  export interface CloseEvent extends WebSocketEvent {
    /** 1006 without a close frame, 1005 with one that has no code; missing if there was no connection. */
    readonly code?: number;
    readonly reason: string;
  }

  export interface WebSocketEvents {
    open: WebSocketEvent;
    message: MessageEvent;
    error: ErrorEvent;
    close: CloseEvent;
    ping: WebSocketEvent;
    pong: WebSocketEvent;
  }

  type Handler<E extends EventName> = ((event: WebSocketEvents[E]) => any) | null;

  /** A connection on the VU's event loop. Not in init code. */
  export class WebSocket {
    /** @param url - `ws://` or `wss://`. */
    constructor(url: string, protocols?: string | string[] | null, params?: Params | null);
    readonly url: string;
    readonly readyState: ReadyState;
    /** Bytes that wait to be sent. */
    readonly bufferedAmount: number;
    readonly extensions: string[];
    /** The protocol that the server chose; empty for none. */
    readonly protocol: string;
    binaryType: BinaryType;
    onopen: Handler<'open'>;
    onmessage: Handler<'message'>;
    onerror: Handler<'error'>;
    onclose: Handler<'close'>;
    onping: Handler<'ping'>;
    onpong: Handler<'pong'>;
    addEventListener<E extends EventName>(type: E, listener: (event: WebSocketEvents[E]) => any): void;
    removeEventListener<E extends EventName>(type: E, listener: (event: WebSocketEvents[E]) => any): void;
    /** @throws Error - If it is not open, or if 256 MiB wait. */
    send(data: string | ArrayBuffer | ArrayBufferView | Blob): void;
    ping(): void;
    close(code?: number, reason?: string): void;
  }

  export const Blob: typeof globalThis.Blob;
  export type Blob = globalThis.Blob;

  export * as default from 'k6/websockets';
}
