/** Requests that are prepared once and sent with as little as possible around them. */
declare module 'k6/x/fasthttp' {
  import { Selection } from 'k6/html';

  /** Numbers are whole seconds, or bytes. */
  export interface ClientConfig {
    /** For opening a TCP connection, 5 by default. */
    dial_timeout?: number;
    /** Until all of a request is written; none by default. */
    write_timeout?: number;
    /** Until the last byte of the response, `write_timeout` added to it; none by default. */
    read_timeout?: number;
    /** Connections older than that are closed before the next request; none by default. */
    max_conn_duration?: number;
    /** Idle connections that are kept for each host, 1 by default. */
    max_conns_per_host?: number;
    /** The option `userAgent` by default. */
    user_agent?: string;
    /** `[user:password@]host:port` or `socks5://…`. */
    proxy?: string;
    /** The longest head of a response, in bytes. */
    read_buffer_size?: number;
    /** Accepted; sending takes no buffer. */
    write_buffer_size?: number;
    tls_config?: {
      /** Accept any certificate. */
      insecure_skip_verify?: boolean;
      /** The path of a PEM file; together with `private_key`. */
      certificate?: string;
      private_key?: string;
    };
  }

  export type RequestBody =
    | string | ArrayBuffer | ArrayBufferView | FileStream | Blob | FormData | URLSearchParams | null;

  export type ResponseType = 'text' | 'binary' | 'none';

  export interface RequestOptions<RT extends ResponseType = ResponseType, Throws extends boolean = boolean> {
    /** Sent as they are written, in their order. */
    headers?: { [name: string]: string };
    body?: RequestBody;
    /** The header `Host`; the URL's host by default. */
    host?: string;
    /** `'text'` by default. `'none'`: the body is not kept. */
    response_type?: RT;
    /** A request that fails is an exception; `false` by default. */
    throw?: Throws;
    /** `Connection: close`; `false` by default. */
    disable_keep_alive?: boolean;
  }

  /** A request. Its members may be changed until it is sent for the first time. */
  export class Request<RT extends ResponseType = 'text', const Throws extends boolean = false> {
    constructor(url: string, options?: RequestOptions<RT, Throws>);
    url: string;
    headers: { [name: string]: string };
    body: RequestBody;
    host: string;
    response_type: RT;
    throw: Throws;
    disable_keep_alive: boolean;
  }

  /** A file that is read while it is sent. A body for `k6/http`, `fetch` and `FormData` as well. */
  export class FileStream {
    /** @param path - From the folder that the test was started in; or a `file://` URL. */
    constructor(path: string);
    private readonly kind: 'FileStream';
  }

  /** Times in milliseconds. */
  export interface Timings {
    duration: number;
    blocked: number;
    looking_up: number;
    connecting: number;
    tls_handshaking: number;
    sending: number;
    waiting: number;
    receiving: number;
  }

  /** The options of a form or a link that is followed. */
  export type FollowParams = Pick<RequestOptions, 'headers' | 'host' | 'throw' | 'response_type' | 'disable_keep_alive'>;

  /** A text or bytes; `null` with `response_type: 'none'`, and for the statuses 1xx, 204 and 304. */
  export type ResponseBody<RT extends ResponseType> = RT extends 'binary' ? Uint8Array<ArrayBuffer> | null : RT extends 'none' ? null : string | null;

  export interface Response<RT extends ResponseType = 'text'> {
    readonly status: number;
    /** Such as `200 OK`. */
    readonly status_text: string;
    readonly url: string;
    /** In the server's letters; of lines with one name the last. */
    readonly headers: { [name: string]: string };
    readonly body: ResponseBody<RT>;
    readonly timings: Timings;
    readonly proto: string;
    readonly tls_version: string;
    readonly tls_cipher_suite: string;
    /** 1404 for a 404, as in `k6/http`; 0 below 400. */
    readonly error_code: number;
    readonly error: '';
    /** With the port. */
    readonly remote_ip: string;
    readonly remote_port: 0;
    /** Always empty. */
    readonly cookies: {};
    readonly request: null;
    readonly ocsp: {
      produced_at: number;
      this_update: number;
      next_update: number;
      revoked_at: number;
      revocation_reason: string;
      status: string;
    };
    /**
     * The body as JSON, or a part of it; `undefined` if there is no such part.
     * @template T - The type that the script expects; nothing is checked.
     * @param selector - The path of a part: `items.0.name`.
     */
    json<T = any>(selector?: string): T;
    html(selector?: string): Selection;
    clickLink(args?: { selector?: string; params?: FollowParams }): Response<ResponseType> | null;
    submitForm(args?: {
      formSelector?: string;
      submitSelector?: string;
      fields?: { [name: string]: string };
      params?: FollowParams;
    }): Response<ResponseType> | null;
  }

  /** `null` if no response came, unless the request says `throw: true`. */
  export type Answer<RT extends ResponseType, Throws extends boolean> = Throws extends true ? Response<RT> : Response<RT> | null;

  /** Sends requests over connections of its own. In init code only. */
  export class Client {
    constructor(config?: ClientConfig | null);
    get<RT extends ResponseType, Throws extends boolean>(request: Request<RT, Throws>): Answer<RT, Throws>;
    post<RT extends ResponseType, Throws extends boolean>(request: Request<RT, Throws>): Answer<RT, Throws>;
    put<RT extends ResponseType, Throws extends boolean>(request: Request<RT, Throws>): Answer<RT, Throws>;
    patch<RT extends ResponseType, Throws extends boolean>(request: Request<RT, Throws>): Answer<RT, Throws>;
    delete<RT extends ResponseType, Throws extends boolean>(request: Request<RT, Throws>): Answer<RT, Throws>;
    options<RT extends ResponseType, Throws extends boolean>(request: Request<RT, Throws>): Answer<RT, Throws>;
  }

  /**
   * Whether the status is the expected one, recorded as the check `check status is N`.
   * @throws Error - For `null`.
   */
  export function checkstatus(
    expected: number,
    response: Response<ResponseType>,
    tags?: { [name: string]: string | number | boolean },
  ): boolean;

  export * as default from 'k6/x/fasthttp';
}
