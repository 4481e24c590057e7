/** Additions to other modules of k6, and places where `@types/k6` says less than is known. */

import 'k6';
import 'k6/crypto';
import 'k6/encoding';
import 'k6/experimental/csv';
import 'k6/experimental/fs';
import 'k6/net/grpc';
import 'k6/secrets';

type Bytes = ArrayBuffer | ArrayBufferView;

declare module 'k6' {
  /** Checks that are async functions make it a promise, which is to be waited for. */
  export function check<VT>(val: VT, sets: Checkers<VT>, tags?: object): boolean;
  export function check<VT>(
    val: VT,
    sets: { [name: string]: ((val: VT) => Promise<boolean>) | ((val: VT) => boolean) },
    tags?: object,
  ): Promise<boolean>;
}

declare module 'k6/crypto' {
  export function hmac<OE extends OutputEncoding>(
    algorithm: Algorithm,
    secret: string | Bytes,
    input: string | Bytes,
    outputEncoding: OE,
  ): Output<OE>;
  export function md4<OE extends OutputEncoding>(input: string | Bytes, outputEncoding: OE): Output<OE>;
  export function md5<OE extends OutputEncoding>(input: string | Bytes, outputEncoding: OE): Output<OE>;
  export function sha1<OE extends OutputEncoding>(input: string | Bytes, outputEncoding: OE): Output<OE>;
  export function sha256<OE extends OutputEncoding>(input: string | Bytes, outputEncoding: OE): Output<OE>;
  export function sha384<OE extends OutputEncoding>(input: string | Bytes, outputEncoding: OE): Output<OE>;
  export function sha512<OE extends OutputEncoding>(input: string | Bytes, outputEncoding: OE): Output<OE>;
  export function sha512_224<OE extends OutputEncoding>(input: string | Bytes, outputEncoding: OE): Output<OE>;
  export function sha512_256<OE extends OutputEncoding>(input: string | Bytes, outputEncoding: OE): Output<OE>;
  export function ripemd160<OE extends OutputEncoding>(input: string | Bytes, outputEncoding: OE): Output<OE>;
  export function createHMAC(algorithm: Algorithm, secret: string | Bytes): Hasher;
  export function hexEncode(data: string | Bytes): string;

  interface Hasher {
    update(input: string | Bytes): void;
  }
}

declare module 'k6/encoding' {
  export function b64encode(input: string | Bytes, encoding?: Base64Variant): string;
}

declare module 'k6/experimental/fs' {
  interface File {
    /**
     * Reads on, and fills the whole buffer of the array.
     * @returns How many bytes it read; `null` at the end of the file.
     */
    read(into: Uint8Array): Promise<number | null>;
  }
}

declare module 'k6/experimental/csv' {
  /** One copy of all records for all VUs. With `asObjects` the first record names their members. In init code only. */
  export function parse(
    file: import('k6/experimental/fs').File,
    options: Partial<Options> & { asObjects: true },
  ): Promise<readonly Record<string, string>[]>;
  export function parse(
    file: import('k6/experimental/fs').File,
    options?: Partial<Options> & { asObjects?: false },
  ): Promise<readonly string[][]>;
}

declare module 'k6/secrets' {
  /** The value of a secret; it is hidden in the log from then on. */
  export function get(name: string): Promise<string>;
  /** A source by its name. */
  export function source(name: string): { get(name: string): Promise<string> };
}

declare module 'k6/net/grpc' {
  /** A response whose message is an object of any type. */
  export interface BruntResponse extends Omit<Response, 'message' | 'headers' | 'trailers' | 'error'> {
    /** `null` with `discardResponseMessage`, and when the call failed. */
    message: any;
    headers: { [name: string]: string[] };
    trailers: { [name: string]: string[] };
    /** `null` if the call succeeded. */
    error: GrpcError | null;
  }

  interface Client {
    /** A call that fails does not throw: look at `status` and `error`. */
    invoke(method: string, request: object, params?: Params): BruntResponse;
    asyncInvoke(method: string, request: object, params?: Params): Promise<BruntResponse>;
  }

  interface ConnectParams {
    /** The header `:authority`. */
    authority?: string;
  }

  interface Stream {
    on(event: 'data', listener: (message: any, metadata: StreamMessageMetadata) => void): void;
    on(event: 'error', listener: (error: GrpcError) => void): void;
    on(event: 'end', listener: () => void): void;
  }
}
