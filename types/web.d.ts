/**
 * Globals of browsers: forms, blobs, `fetch`, events. k6 has none of them. Where the DOM library is loaded its declarations
 * hold, and only additions of Brunt's are added to them.
 */

import type { FileData, Params, RefinedResponse, ResponseType } from 'k6/http';
import type { FileStream } from 'k6/x/fasthttp';

/** A shape, unless the DOM library has declared the interface already. */
type Ours<Shape> = typeof globalThis extends { onmessage: any } ? {} : Shape;

type Part = string | ArrayBuffer | ArrayBufferView | Blob;

interface BlobShape {
  /** Bytes. */
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  slice(start?: number, end?: number, contentType?: string): Blob;
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
  text(): Promise<string>;
}

interface FileShape extends BlobShape {
  /** Milliseconds since 1970. */
  readonly lastModified: number;
  readonly name: string;
  /** Always empty. */
  readonly webkitRelativePath: string;
}

type FormDataEntry = File | string;

interface FormDataShape {
  append(name: string, value: string | Blob | FileGiven, filename?: string): void;
  set(name: string, value: string | Blob | FileGiven, filename?: string): void;
  delete(name: string): void;
  get(name: string): FormDataEntry | null;
  getAll(name: string): FormDataEntry[];
  has(name: string): boolean;
  forEach(callback: (value: FormDataEntry, key: string, parent: FormData) => void, thisArg?: any): void;
  entries(): IterableIterator<[string, FormDataEntry]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<FormDataEntry>;
  [Symbol.iterator](): IterableIterator<[string, FormDataEntry]>;
}

/** Beyond the standard: files that are neither a `Blob` nor a `File`. */
type FileGiven = FileData | FileStream | ArrayBuffer | ArrayBufferView;

interface HeadersShape {
  append(name: string, value: string): void;
  delete(name: string): void;
  /** `null` if there is no such header; several are joined with `, `. */
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  forEach(callback: (value: string, key: string, parent: Headers) => void, thisArg?: any): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

type HeadersGiven = [string, string][] | Record<string, string> | Headers;

type BodyGiven =
  | string | ArrayBuffer | ArrayBufferView | Blob | FormData | URLSearchParams | ReadableStream<Uint8Array> | FileData | FileStream;

/** The options of `fetch` that Brunt adds. */
interface RequestMore {
  /**
   * The params of `k6/http`: tags, timeout, … With a `responseType` the promise is fulfilled at the end of the body, which
   * is `response.k6.body` then.
   */
  k6?: Omit<Params, 'headers'>;
}

interface RequestInitShape {
  method?: string;
  headers?: HeadersGiven;
  body?: BodyGiven | null;
  redirect?: 'follow' | 'error' | 'manual';
  /** `'omit'`: with a cookie jar of its own. */
  credentials?: 'omit' | 'same-origin' | 'include';
  signal?: AbortSignal | null;
  /** Needed beside a body that is a stream. */
  duplex?: 'half';
}

interface BodyShape {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  blob(): Promise<Blob>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  formData(): Promise<FormData>;
  json(): Promise<any>;
  text(): Promise<string>;
}

interface RequestShape extends BodyShape {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly redirect: 'follow' | 'error' | 'manual';
  readonly credentials: 'omit' | 'same-origin' | 'include';
  readonly signal: AbortSignal;
  readonly cache: 'default';
  readonly destination: '';
  readonly duplex: 'half';
  readonly integrity: '';
  readonly keepalive: false;
  readonly mode: 'cors';
  readonly referrer: 'about:client';
  readonly referrerPolicy: '';
  clone(): Request;
}

interface ResponseShape extends BodyShape {
  readonly headers: Headers;
  /** Whether the status is from 200 to 299. */
  readonly ok: boolean;
  readonly redirected: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly type: 'basic' | 'default' | 'error';
  readonly url: string;
  clone(): Response;
}

/** A response that came from a server. */
type Fetched = Response & { readonly k6: RefinedResponse<ResponseType | undefined> };

interface ResponseInitShape {
  headers?: HeadersGiven;
  /** 200 to 599. */
  status?: number;
  statusText?: string;
}

interface ResponseClass {
  prototype: Response;
  new (body?: BodyGiven | null, init?: ResponseInit): Response;
  error(): Response;
  json(data: any, init?: ResponseInit): Response;
  redirect(url: string | URL, status?: 301 | 302 | 303 | 307 | 308): Response;
}

interface EventShape {
  readonly type: string;
  readonly target: EventTarget | null;
  readonly srcElement: EventTarget | null;
  readonly currentTarget: EventTarget | null;
  readonly eventPhase: number;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly defaultPrevented: boolean;
  readonly returnValue: boolean;
  readonly isTrusted: boolean;
  /** Milliseconds since 1970. */
  readonly timeStamp: number;
  readonly NONE: 0;
  readonly CAPTURING_PHASE: 1;
  readonly AT_TARGET: 2;
  readonly BUBBLING_PHASE: 3;
  composedPath(): EventTarget[];
  preventDefault(): void;
  stopPropagation(): void;
  stopImmediatePropagation(): void;
}

type Listener = ((event: Event) => void) | { handleEvent(event: Event): void };

interface EventTargetShape {
  addEventListener(
    type: string,
    listener: Listener | null,
    options?: boolean | { capture?: boolean; once?: boolean; passive?: boolean; signal?: AbortSignal },
  ): void;
  removeEventListener(type: string, listener: Listener | null, options?: boolean | { capture?: boolean }): void;
  /** `false` if a listener has prevented the default. */
  dispatchEvent(event: Event): boolean;
}

interface AbortSignalShape extends EventTargetShape {
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((this: AbortSignal, event: Event) => any) | null;
  throwIfAborted(): void;
}

interface AbortSignalClass {
  prototype: AbortSignal;
  new (): AbortSignal;
  abort(reason?: any): AbortSignal;
  any(signals: AbortSignal[]): AbortSignal;
  /** @param milliseconds - The iteration does not wait for it. */
  timeout(milliseconds: number): AbortSignal;
}

/** An event of an `EventSource`. */
interface SourceEvent {
  readonly type: string;
  readonly target: EventSource;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  /** The data of the event; of `open` and `error` there are none. */
  readonly data?: any;
  readonly lastEventId?: string;
  readonly origin?: string;
}

interface SourceMessage extends SourceEvent {
  readonly data: string;
  readonly lastEventId: string;
  readonly origin: string;
}

interface SourceError extends SourceEvent {
  /** Why the connection failed or ended. */
  readonly error: string | undefined;
  /** The status of an answer that is no stream of events. */
  readonly status: number | undefined;
}

interface SourceOpen extends SourceEvent {
  readonly status: number;
}

interface EventSourceShape {
  readonly url: string;
  readonly readyState: 0 | 1 | 2;
  readonly withCredentials: boolean;
  readonly lastEventId: string;
  onopen: ((this: EventSource, event: SourceOpen) => any) | null;
  onmessage: ((this: EventSource, event: SourceMessage) => any) | null;
  onerror: ((this: EventSource, event: SourceError) => any) | null;
  addEventListener(type: 'open', listener: (this: EventSource, event: SourceOpen) => any, options?: { once?: boolean }): void;
  addEventListener(type: 'error', listener: (this: EventSource, event: SourceError) => any, options?: { once?: boolean }): void;
  addEventListener(type: string, listener: (this: EventSource, event: SourceMessage) => any, options?: { once?: boolean }): void;
  removeEventListener(type: string, listener: (this: EventSource, event: any) => any): void;
  dispatchEvent(event: any): boolean;
  close(): void;
  readonly CONNECTING: 0;
  readonly OPEN: 1;
  readonly CLOSED: 2;
}

/** The options of an `EventSource` that Brunt adds. */
interface EventSourceMore {
  headers?: { [name: string]: string };
  method?: string;
  body?: BodyGiven | null;
  tags?: { [name: string]: string };
  /** For the whole connection: milliseconds, or a text such as `10m`. 24 h by default. */
  timeout?: number | string;
}

declare global {
  interface BlobPropertyBag extends Ours<{ type?: string; endings?: 'transparent' | 'native' }> {}
  interface Blob extends Ours<BlobShape> {}
  var Blob: typeof globalThis extends { onmessage: any; Blob: infer Class }
    ? Class
    : { prototype: Blob; new (parts?: Part[], options?: BlobPropertyBag): Blob };

  interface FilePropertyBag extends Ours<{ lastModified?: number; type?: string }> {}
  interface File extends Ours<FileShape> {}
  var File: typeof globalThis extends { onmessage: any; File: infer Class }
    ? Class
    : { prototype: File; new (parts: Part[], name: string, options?: FilePropertyBag): File };

  interface FormData extends Ours<FormDataShape> {
    append(name: string, value: string | Blob | FileGiven, filename?: string): void;
    set(name: string, value: string | Blob | FileGiven, filename?: string): void;
  }
  var FormData: typeof globalThis extends { onmessage: any; FormData: infer Class }
    ? Class
    : { prototype: FormData; new (): FormData };

  interface Headers extends Ours<HeadersShape> {}
  var Headers: typeof globalThis extends { onmessage: any; Headers: infer Class }
    ? Class
    : { prototype: Headers; new (init?: HeadersGiven): Headers };

  interface RequestInit extends Ours<RequestInitShape>, RequestMore {}
  interface Request extends Ours<RequestShape> {}
  var Request: typeof globalThis extends { onmessage: any; Request: infer Class }
    ? Class
    : { prototype: Request; new (input: string | URL | Request, init?: RequestInit): Request };

  interface ResponseInit extends Ours<ResponseInitShape> {}
  interface Response extends Ours<ResponseShape> {
    /** The response of `k6/http`, with the timings; `null` for responses that a script makes. */
    readonly k6: RefinedResponse<ResponseType | undefined> | null;
  }
  var Response: typeof globalThis extends { onmessage: any; Response: infer Class } ? Class : ResponseClass;

  /**
   * Sends a request as `http.asyncRequest` does: with the same connections, cookies, options and metrics. The promise is
   * fulfilled when the head of the response is there. A request that fails rejects with a `TypeError`, whose `cause` is the
   * response of `k6/http`.
   * @param input - An absolute URL, or a `Request`.
   */
  function fetch(input: string | URL | Request, init?: RequestInit): Promise<Fetched>;

  interface EventInit extends Ours<{ bubbles?: boolean; cancelable?: boolean; composed?: boolean }> {}
  interface Event extends Ours<EventShape> {}
  var Event: typeof globalThis extends { onmessage: any; Event: infer Class }
    ? Class
    : {
        prototype: Event;
        new (type: string, options?: EventInit): Event;
        readonly NONE: 0;
        readonly CAPTURING_PHASE: 1;
        readonly AT_TARGET: 2;
        readonly BUBBLING_PHASE: 3;
      };

  interface EventTarget extends Ours<EventTargetShape> {}
  var EventTarget: typeof globalThis extends { onmessage: any; EventTarget: infer Class }
    ? Class
    : { prototype: EventTarget; new (): EventTarget };

  interface AbortController extends Ours<{ readonly signal: AbortSignal; abort(reason?: any): void }> {}
  var AbortController: typeof globalThis extends { onmessage: any; AbortController: infer Class }
    ? Class
    : { prototype: AbortController; new (): AbortController };

  interface AbortSignal extends Ours<AbortSignalShape> {}
  var AbortSignal: typeof globalThis extends { onmessage: any; AbortSignal: infer Class } ? Class : AbortSignalClass;

  interface EventSourceInit extends Ours<{ withCredentials?: boolean }>, EventSourceMore {}
  interface EventSource extends Ours<EventSourceShape> {}
  /** Server-sent events. A connection that ends is opened again until `close()` is called. */
  var EventSource: typeof globalThis extends { onmessage: any; EventSource: infer Class }
    ? Class
    : {
        prototype: EventSource;
        new (url: string | URL, options?: EventSourceInit): EventSource;
        readonly CONNECTING: 0;
        readonly OPEN: 1;
        readonly CLOSED: 2;
      };
}
