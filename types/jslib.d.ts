/** The libraries of jslib that Brunt has built in, in all versions; those that make assertions are in `jslib-assertions.d.ts`. */

declare module 'https://jslib.k6.io/formdata/*' {
  import { FileData } from 'k6/http';

  /** A multipart form: `http.post(url, form.body(), { headers: { 'Content-Type': `multipart/form-data; boundary=${form.boundary}` } })`. */
  export class FormData {
    constructor();
    boundary: string;
    parts: { field: string; file: FileData }[];
    /** @param value - Version 0.0.1 takes no texts: `{ data: 'text' }`. */
    append(
      field: string,
      value: string | FileData | { data: string | ArrayBuffer | ArrayBufferView; filename?: string; content_type?: string },
    ): void;
    body(): ArrayBuffer;
  }

  const library: { FormData: typeof FormData };
  export default library;
}

declare module 'https://jslib.k6.io/k6-utils/*' {
  /** A UUID of version 4; from a cryptographic source if `secure`. */
  export function uuidv4(secure?: boolean): string;
  /** A whole number, `min` and `max` among them. */
  export function randomIntBetween(min: number, max: number): number;
  export function randomItem<T>(items: readonly T[]): T;
  /** @param charset - The small letters from a to z by default. */
  export function randomString(length: number, charset?: string): string;
  /** The first text between two texts; `null` if there is none (an empty text before version 1.2.0). */
  export function findBetween(content: string, left: string, right: string, repeat?: false): string | null;
  /** All texts between two texts. */
  export function findBetween(content: string, left: string, right: string, repeat: true): string[] | null;
  /** Stages in the shape of a bell, 10 by default. */
  export function normalDistributionStages(
    maxVus: number,
    durationSeconds: number,
    numberOfStages?: number,
  ): { duration: string; target: number }[];
  /** The index of the stage that runs now. */
  export function getCurrentStageIndex(): number;
  /** Tags all samples of the iteration from now on with `stage`. */
  export function tagWithCurrentStageIndex(): void;
  /** Tags all samples of the iteration from now on with `stage_profile`: `ramp-up`, `steady` or `ramp-down`. */
  export function tagWithCurrentStageProfile(): void;
  /** `1h30m` in milliseconds. */
  export function parseDuration(text: string): number;

  type Result<V> = unknown | ((value: V) => unknown);
  /** The `check` of k6 that waits for promises; from version 1.5.0 on. */
  export function check<V>(value: Promise<V>, checks: { [name: string]: Result<V> }, tags?: object): Promise<boolean>;
  export function check<V>(value: V, checks: { [name: string]: (value: V) => Promise<unknown> }, tags?: object): Promise<boolean>;
  export function check<V>(value: V, checks: { [name: string]: (value: V) => unknown }, tags?: object): boolean | Promise<boolean>;
}

declare module 'https://jslib.k6.io/k6-summary/*' {
  import { Metric, SummaryData } from 'brunt/summary';

  export interface TextOptions {
    /** A blank by default. */
    indent?: string;
    /** `true` by default. */
    enableColors?: boolean;
    summaryTrendStats?: string[] | null;
    summaryTimeUnit?: string | null;
  }

  /** The summary as k6's terminal shows it. */
  export function textSummary(data: SummaryData, options?: TextOptions): string;
  /** A value of a metric as people read it. */
  export function humanizeValue(value: number, metric: Pick<Metric, 'type' | 'contains'>, timeUnit?: string | null): string;
  /** The thresholds as a report of JUnit. */
  export function jUnit(data: SummaryData, options?: { name?: string; classname?: string }): string;

  const library: { textSummary: typeof textSummary; humanizeValue: typeof humanizeValue; jUnit: typeof jUnit };
  export default library;
}

declare module 'https://jslib.k6.io/httpx/*' {
  import { AnyBody, Params, Response, UrlTemplate } from 'k6/http';
  import { Rate } from 'k6/metrics';

  type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'CONNECT' | 'OPTIONS' | 'TRACE' | 'PATCH';
  type Url = string | UrlTemplate;
  type Shared = Params & { expect?: (response: Response) => boolean };
  type WithBody = Shared & { body?: AnyBody | null };

  /** A request that waits for `batch` or `execute`. The body is a part of the params. */
  export class Request {
    constructor(method: Method, url: Url, params?: WithBody | null);
    method: Method;
    url: Url;
    body: AnyBody | null;
    params: Shared;
    addHeader(name: string, value: string): this;
    addTag(name: string, value: string): this;
  }

  export class Get extends Request {
    constructor(url: Url, params?: WithBody | null);
  }
  export class Head extends Get {}
  export class Post extends Get {}
  export class Put extends Get {}
  export class Delete extends Get {}
  export class Connect extends Get {}
  export class Options extends Get {}
  export class Trace extends Get {}
  export class Patch extends Get {}

  export interface Settings extends Omit<Params, 'headers' | 'tags'> {
    baseURL?: string;
    headers?: { [name: string]: string };
    tags?: { [name: string]: string };
    /** Gets a sample for each request: whether it failed. */
    errorMetric?: Rate | null;
    /** Whether a response is good; statuses from 200 to 399 by default. */
    errorMetricCondition?: (response: Response) => boolean;
    otherParams?: Params;
  }

  /** A base URL, headers, tags and other params that all requests of a session share. */
  export class Httpx {
    constructor(settings?: Settings);
    baseURL: string;
    lastRequest: { responseObject: Response | Response[] | null; responseChainDuration: number | null };
    /** Milliseconds from the call of the last request to its response. */
    readonly lastRequestChainDuration: number | null;
    k6params: Params;
    readonly params: Params;
    setBaseUrl(url: string): void;
    addHeader(name: string, value: string): void;
    addHeaders(headers: { [name: string]: string }): void;
    clearHeader(name: string): void;
    addTag(name: string, value: string): void;
    addTags(tags: { [name: string]: string }): void;
    clearTag(name: string): void;
    execute(request: Request): Response;
    request(method: Method, url: Url, body?: AnyBody | null, params?: Shared | null): Response;
    asyncRequest(method: Method, url: Url, body?: AnyBody | null, params?: Shared | null): Promise<Response>;
    /** All requests at once. */
    batch(
      requests: (Request | Url | [Method, Url, (AnyBody | null)?, (Shared | null)?])[],
      shared?: Params | null,
    ): Response[];
    get(url: Url, body?: AnyBody | null, params?: Shared | null): Response;
    head(url: Url, body?: AnyBody | null, params?: Shared | null): Response;
    post(url: Url, body?: AnyBody | null, params?: Shared | null): Response;
    put(url: Url, body?: AnyBody | null, params?: Shared | null): Response;
    delete(url: Url, body?: AnyBody | null, params?: Shared | null): Response;
    connect(url: Url, body?: AnyBody | null, params?: Shared | null): Response;
    options(url: Url, body?: AnyBody | null, params?: Shared | null): Response;
    trace(url: Url, body?: AnyBody | null, params?: Shared | null): Response;
    patch(url: Url, body?: AnyBody | null, params?: Shared | null): Response;
    asyncGet(url: Url, body?: AnyBody | null, params?: Shared | null): Promise<Response>;
    asyncHead(url: Url, body?: AnyBody | null, params?: Shared | null): Promise<Response>;
    asyncPost(url: Url, body?: AnyBody | null, params?: Shared | null): Promise<Response>;
    asyncPut(url: Url, body?: AnyBody | null, params?: Shared | null): Promise<Response>;
    asyncDelete(url: Url, body?: AnyBody | null, params?: Shared | null): Promise<Response>;
    asyncConnect(url: Url, body?: AnyBody | null, params?: Shared | null): Promise<Response>;
    asyncOptions(url: Url, body?: AnyBody | null, params?: Shared | null): Promise<Response>;
    asyncTrace(url: Url, body?: AnyBody | null, params?: Shared | null): Promise<Response>;
    asyncPatch(url: Url, body?: AnyBody | null, params?: Shared | null): Promise<Response>;
  }
}

declare module 'https://jslib.k6.io/papaparse/*' {
  export interface ParseError {
    type: string;
    code: string;
    message: string;
    row?: number;
  }

  export interface ParseMeta {
    delimiter: string;
    linebreak: string;
    aborted: boolean;
    truncated: boolean;
    cursor: number;
    /** With `header`. */
    fields?: string[];
  }

  export interface ParseResult<T> {
    data: T[];
    errors: ParseError[];
    meta: ParseMeta;
  }

  export interface Parser {
    abort(): void;
    pause(): void;
    resume(): void;
  }

  export interface ParseConfig<T = any> {
    delimiter?: string | ((text: string) => string);
    delimitersToGuess?: string[];
    newline?: '\r' | '\n' | '\r\n' | '';
    quoteChar?: string;
    escapeChar?: string;
    header?: boolean;
    transformHeader?: (header: string, index: number) => string;
    transform?: (value: string, field: string | number) => any;
    dynamicTyping?: boolean | { [field: string]: boolean } | ((field: string | number) => boolean);
    /** How many rows; 0: all. */
    preview?: number;
    comments?: boolean | string;
    skipEmptyLines?: boolean | 'greedy';
    step?: (result: { data: T; errors: ParseError[]; meta: ParseMeta }, parser: Parser) => void;
    chunk?: (result: ParseResult<T>, parser: Parser) => void;
    complete?: (result: ParseResult<T>) => void;
    beforeFirstChunk?: (text: string) => string | void;
  }

  export interface UnparseConfig {
    quotes?: boolean | boolean[] | ((value: any, column: number) => boolean);
    quoteChar?: string;
    escapeChar?: string;
    delimiter?: string;
    header?: boolean;
    newline?: string;
    skipEmptyLines?: boolean | 'greedy';
    columns?: string[];
  }

  /** Rows of a CSV text: arrays, or objects if it has a header. */
  export function parse<T = any>(text: string, config?: ParseConfig<T>): ParseResult<T>;
  /** CSV of rows: arrays, objects, `{ fields, data }`, or JSON of these. */
  export function unparse(data: object | string, config?: UnparseConfig): string;
  export const RECORD_SEP: string;
  export const UNIT_SEP: string;
  export const BAD_DELIMITERS: string[];

  const Papa: {
    parse: typeof parse;
    unparse: typeof unparse;
    RECORD_SEP: string;
    UNIT_SEP: string;
    BYTE_ORDER_MARK: string;
    BAD_DELIMITERS: string[];
    WORKERS_SUPPORTED: false;
    DefaultDelimiter: string;
  };
  export default Papa;
}

declare module 'https://jslib.k6.io/url/*' {
  export const URL: typeof globalThis.URL;
  export type URL = globalThis.URL;
  export const URLSearchParams: typeof globalThis.URLSearchParams;
  export type URLSearchParams = globalThis.URLSearchParams;

  const library: { URL: typeof globalThis.URL; URLSearchParams: typeof globalThis.URLSearchParams };
  export default library;
}

declare module 'https://jslib.k6.io/totp/*' {
  /** Passwords that hold for a while, after RFC 6238. */
  export class TOTP {
    /** @param secret - Base32. */
    constructor(secret: string, digits?: number);
    key: string;
    digits: number;
    /**
     * The password now.
     * @param timeStep - Seconds, 30 by default.
     * @param bias - Seconds ago, 0 by default.
     */
    gen(timeStep?: number, bias?: number): Promise<string>;
    verify(code: string, timeStep?: number): Promise<boolean>;
  }
}
