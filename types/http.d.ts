/**
 * Additions to `k6/http`: more kinds of bodies, `responseType: 'stream'`, `throw`, the cookies of one response.
 */

import 'k6/http';
import type { FileStream } from 'k6/x/fasthttp';

declare module 'k6/http' {
  /** A URL of `` http.url`…` ``. */
  export type UrlTemplate = ReturnType<typeof url>;

  /** A value of a form. Of a list, each entry is a field. */
  export type FormField = string | number | boolean | FileData | Blob | FileStream;

  /** The fields of a form. With a file among them it is `multipart/form-data`. */
  export interface FormFields {
    [name: string]: FormField | readonly FormField[];
  }

  /** All kinds of bodies. A stream can be sent once. */
  export type AnyBody =
    | string
    | ArrayBuffer
    | ArrayBufferView
    | Blob
    | FormData
    | URLSearchParams
    | ReadableStream
    | FileData
    | FileStream
    | FormFields;

  export interface Params {
    /** Whether a request that fails is an exception; the option `throw` by default. */
    throw?: boolean;
  }

  /** Params of a request whose response is read while it comes. */
  export interface StreamParams extends Omit<Params, 'responseType'> {
    responseType: 'stream';
  }

  /** Headers, joined with `, ` where they came several times. */
  export interface ResponseHeaders {
    /** The headers `Set-Cookie` one by one; missing if there are none. A list of the headers does not show this function. */
    getSetCookie?(): string[];
  }

  /** A response of Brunt. */
  export type BruntResponse<RT extends ResponseType | undefined> = RefinedResponse<RT> & { headers: ResponseHeaders };

  /** A part of a streamed body. */
  export interface Chunk extends Uint8Array<ArrayBuffer> {
    /** When it arrived: milliseconds since 1970, with fractions. */
    readonly receivedAt: number;
  }

  /** A response whose head is there. Its timings are final when the body has been read. */
  export type StreamResponse = RefinedResponse<'none'> & { headers: ResponseHeaders; readonly stream: ReadableStream<Chunk> };

  export interface Response {
    /**
     * The body as JSON, or a part of it; `undefined` if there is no such part.
     * @template T - The type that the script expects; nothing is checked.
     * @param selector - The path of a part: `items.0.name`.
     */
    json<T = any>(selector?: string): T;
  }

  export function get(url: string | UrlTemplate, params: StreamParams): StreamResponse;
  export function get<RT extends ResponseType | undefined = undefined>(
    url: string | UrlTemplate,
    params?: RefinedParams<RT> | null,
  ): BruntResponse<RT>;

  export function head<RT extends ResponseType | undefined = undefined>(
    url: string | UrlTemplate,
    params?: RefinedParams<RT> | null,
  ): BruntResponse<RT>;

  export function post(url: string | UrlTemplate, body: AnyBody | null | undefined, params: StreamParams): StreamResponse;
  export function post<RT extends ResponseType | undefined = undefined>(
    url: string | UrlTemplate,
    body?: AnyBody | null,
    params?: RefinedParams<RT> | null,
  ): BruntResponse<RT>;

  export function put(url: string | UrlTemplate, body: AnyBody | null | undefined, params: StreamParams): StreamResponse;
  export function put<RT extends ResponseType | undefined = undefined>(
    url: string | UrlTemplate,
    body?: AnyBody | null,
    params?: RefinedParams<RT> | null,
  ): BruntResponse<RT>;

  export function patch(url: string | UrlTemplate, body: AnyBody | null | undefined, params: StreamParams): StreamResponse;
  export function patch<RT extends ResponseType | undefined = undefined>(
    url: string | UrlTemplate,
    body?: AnyBody | null,
    params?: RefinedParams<RT> | null,
  ): BruntResponse<RT>;

  export function del(url: string | UrlTemplate, body: AnyBody | null | undefined, params: StreamParams): StreamResponse;
  export function del<RT extends ResponseType | undefined = undefined>(
    url: string | UrlTemplate,
    body?: AnyBody | null,
    params?: RefinedParams<RT> | null,
  ): BruntResponse<RT>;

  export function options(url: string | UrlTemplate, body: AnyBody | null | undefined, params: StreamParams): StreamResponse;
  export function options<RT extends ResponseType | undefined = undefined>(
    url: string | UrlTemplate,
    body?: AnyBody | null,
    params?: RefinedParams<RT> | null,
  ): BruntResponse<RT>;
  export function request(
    method: string,
    url: string | UrlTemplate,
    body: AnyBody | null | undefined,
    params: StreamParams,
  ): StreamResponse;
  export function request<RT extends ResponseType | undefined = undefined>(
    method: string,
    url: string | UrlTemplate,
    body?: AnyBody | null,
    params?: RefinedParams<RT> | null,
  ): BruntResponse<RT>;

  export function asyncRequest(
    method: string,
    url: string | UrlTemplate,
    body: AnyBody | null | undefined,
    params: StreamParams,
  ): Promise<StreamResponse>;
  export function asyncRequest<RT extends ResponseType | undefined = undefined>(
    method: string,
    url: string | UrlTemplate,
    body?: AnyBody | null,
    params?: RefinedParams<RT> | null,
  ): Promise<BruntResponse<RT>>;

  /** A request in a batch: a URL to be got, a list, or an object. */
  export type AnyBatchRequest =
    | string
    | UrlTemplate
    | readonly [string, string | UrlTemplate, (AnyBody | null)?, (Params | StreamParams | null)?]
    | { method: string; url: string | UrlTemplate; body?: AnyBody | null; params?: Params | StreamParams | null };

  /** The response to a request in a batch: its body is of the type that the request's `responseType` says. */
  export type BatchResponse<Q> = Q extends
    | readonly [any, any, any, { responseType: infer Type }]
    | { params: { responseType: infer Type } }
    ? Type extends 'stream'
      ? StreamResponse
      : BruntResponse<Type extends ResponseType ? Type : undefined>
    : BruntResponse<undefined>;

  /** Sends requests side by side. The responses come in a list, or under the names of the requests. */
  export function batch<const Q extends readonly AnyBatchRequest[] | { readonly [name: string]: AnyBatchRequest }>(
    requests: Q,
  ): { -readonly [Name in keyof Q]: BatchResponse<Q[Name]> };

  /** A file in a form. Beyond k6, the data may be any view of bytes, a `Blob` or a `FileStream`. */
  export function file(
    data: string | ArrayBuffer | ArrayBufferView | Blob | FileStream,
    filename?: string,
    contentType?: string,
  ): FileData;
}
