/** The libraries of jslib that Brunt has built in, in all versions. */

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

declare module 'https://jslib.k6.io/k6chaijs/*' {
  /** Chai's chains: words between, properties that assert, and methods. A failed assertion is a failed check. */
  export interface Assertion {
    (...args: any[]): Assertion;
    readonly to: Assertion;
    readonly be: Assertion;
    readonly been: Assertion;
    readonly is: Assertion;
    readonly and: Assertion;
    readonly has: Assertion;
    readonly have: Assertion;
    readonly with: Assertion;
    readonly that: Assertion;
    readonly which: Assertion;
    readonly at: Assertion;
    readonly of: Assertion;
    readonly same: Assertion;
    readonly but: Assertion;
    readonly does: Assertion;
    readonly still: Assertion;
    readonly also: Assertion;
    readonly not: Assertion;
    readonly deep: Assertion;
    readonly nested: Assertion;
    readonly own: Assertion;
    readonly ordered: Assertion;
    readonly itself: Assertion;
    readonly any: Assertion;
    readonly all: Assertion;
    readonly ok: Assertion;
    readonly true: Assertion;
    readonly false: Assertion;
    readonly null: Assertion;
    readonly undefined: Assertion;
    readonly NaN: Assertion;
    readonly exist: Assertion;
    readonly exists: Assertion;
    readonly empty: Assertion;
    readonly arguments: Assertion;
    readonly Arguments: Assertion;
    readonly extensible: Assertion;
    readonly sealed: Assertion;
    readonly frozen: Assertion;
    readonly finite: Assertion;
    readonly a: Assertion;
    readonly an: Assertion;
    readonly include: Assertion;
    readonly includes: Assertion;
    readonly contain: Assertion;
    readonly contains: Assertion;
    readonly length: Assertion;
    readonly lengthOf: Assertion;
    equal(expected: any, message?: string): Assertion;
    equals(expected: any, message?: string): Assertion;
    eq(expected: any, message?: string): Assertion;
    eql(expected: any, message?: string): Assertion;
    eqls(expected: any, message?: string): Assertion;
    above(bound: any, message?: string): Assertion;
    gt(bound: any, message?: string): Assertion;
    greaterThan(bound: any, message?: string): Assertion;
    least(bound: any, message?: string): Assertion;
    gte(bound: any, message?: string): Assertion;
    greaterThanOrEqual(bound: any, message?: string): Assertion;
    below(bound: any, message?: string): Assertion;
    lt(bound: any, message?: string): Assertion;
    lessThan(bound: any, message?: string): Assertion;
    most(bound: any, message?: string): Assertion;
    lte(bound: any, message?: string): Assertion;
    lessThanOrEqual(bound: any, message?: string): Assertion;
    within(start: any, end: any, message?: string): Assertion;
    instanceof(maker: any, message?: string): Assertion;
    instanceOf(maker: any, message?: string): Assertion;
    property(name: string | number | symbol, expected?: any, message?: string): Assertion;
    ownProperty(name: string | number | symbol, expected?: any, message?: string): Assertion;
    haveOwnProperty(name: string | number | symbol, expected?: any, message?: string): Assertion;
    ownPropertyDescriptor(name: string | number | symbol, expected?: any, message?: string): Assertion;
    haveOwnPropertyDescriptor(name: string | number | symbol, expected?: any, message?: string): Assertion;
    match(pattern: RegExp, message?: string): Assertion;
    matches(pattern: RegExp, message?: string): Assertion;
    string(text: string, message?: string): Assertion;
    keys(...keys: any[]): Assertion;
    key(...keys: any[]): Assertion;
    throw(like?: any, pattern?: any, message?: string): Assertion;
    throws(like?: any, pattern?: any, message?: string): Assertion;
    Throw(like?: any, pattern?: any, message?: string): Assertion;
    respondTo(method: string, message?: string): Assertion;
    respondsTo(method: string, message?: string): Assertion;
    satisfy(matcher: (value: any) => boolean, message?: string): Assertion;
    satisfies(matcher: (value: any) => boolean, message?: string): Assertion;
    closeTo(expected: number, delta: number, message?: string): Assertion;
    approximately(expected: number, delta: number, message?: string): Assertion;
    members(members: any[], message?: string): Assertion;
    oneOf(list: any[], message?: string): Assertion;
    change(subject: any, key?: string, message?: string): Assertion;
    changes(subject: any, key?: string, message?: string): Assertion;
    increase(subject: any, key?: string, message?: string): Assertion;
    increases(subject: any, key?: string, message?: string): Assertion;
    decrease(subject: any, key?: string, message?: string): Assertion;
    decreases(subject: any, key?: string, message?: string): Assertion;
    by(delta: number, message?: string): Assertion;
    /** The body of a response is JSON. */
    validJsonBody(): Assertion;
  }

  export const Assertion: { new (value: any, message?: string): Assertion; prototype: Assertion };

  export class AssertionError extends Error {
    constructor(message?: string, props?: object);
    showDiff: boolean;
    [property: string]: any;
  }

  export const expect: { (value: any, message?: string): Assertion; fail(...args: any[]): never };
  /** Chai's assertions as functions: what is compared first, the message last. */
  export const assert: { (condition: any, message?: string): void; fail(...args: any[]): never; [name: string]: any };
  /** Gives every object the property `should`. */
  export function should(): any;
  /** A group whose exceptions become failed checks; whether none of its assertions failed. */
  export function describe(name: string, body: () => void): boolean;
  export function use(plugin: (chai: Chai, util: any) => void): Chai;
  export const util: any;
  export const config: {
    truncateMsgThreshold: number;
    truncateVariableThreshold: number;
    aggregateChecks: boolean;
    logFailures: boolean;
    [setting: string]: any;
  };

  export interface Chai {
    AssertionError: typeof AssertionError;
    Assertion: typeof Assertion;
    config: typeof config;
    util: any;
    expect: typeof expect;
    assert: typeof assert;
    should: typeof should;
    Should: typeof should;
    describe: typeof describe;
    readonly version: string;
    use: typeof use;
  }

  const chai: Chai;
  export default chai;
}

declare module 'https://jslib.k6.io/k6-testing/*' {
  type Retry = { timeout?: number; interval?: number };
  type TextRetry = Retry & { ignoreCase?: boolean; useInnerText?: boolean };

  export interface Matchers {
    toBe(expected: unknown): void;
    toBeCloseTo(expected: number, precision?: number): void;
    toBeDefined(): void;
    toBeFalsy(): void;
    toBeGreaterThan(expected: number | bigint): void;
    toBeGreaterThanOrEqual(expected: number | bigint): void;
    toBeInstanceOf(expected: Function): void;
    toBeLessThan(expected: number | bigint): void;
    toBeLessThanOrEqual(expected: number | bigint): void;
    toBeNaN(): void;
    toBeNull(): void;
    toBeTruthy(): void;
    toBeUndefined(): void;
    toContain(expected: unknown): void;
    toContainEqual(expected: unknown): void;
    toEqual(expected: unknown): void;
    toHaveLength(expected: number): void;
    toHaveProperty(path: string, expected?: unknown): void;

    /** The matchers below ask elements and pages until they hold. */
    toBeChecked(options?: Retry): Promise<void>;
    toBeDisabled(options?: Retry): Promise<void>;
    toBeEditable(options?: Retry): Promise<void>;
    toBeEmpty(options?: Retry): Promise<void>;
    toBeEnabled(options?: Retry): Promise<void>;
    toBeHidden(options?: Retry): Promise<void>;
    toBeVisible(options?: Retry): Promise<void>;
    toContainText(expected: string | RegExp, options?: TextRetry): Promise<void>;
    toHaveAttribute(name: string, expected?: string | RegExp, options?: Retry): Promise<void>;
    toHaveText(expected: string | RegExp, options?: TextRetry): Promise<void>;
    toHaveTitle(expected: string | RegExp, options?: TextRetry): Promise<void>;
    toHaveValue(expected: string, options?: Retry): Promise<void>;
  }

  export interface Config {
    /** Milliseconds, 5000 by default. */
    timeout: number;
    /** Milliseconds, 100 by default. */
    interval: number;
    colorize: boolean;
    display: 'pretty' | 'inline';
    /** `'fail'`: a soft expectation that fails marks the test as failed; `'throw'`: it ends the iteration. */
    softMode: 'fail' | 'throw';
    soft: boolean;
  }

  export interface Expect {
    /** An expectation that fails ends the test. */
    (value: unknown, message?: string): Matchers & { readonly not: Matchers };
    soft(value: unknown, message?: string): Matchers & { readonly not: Matchers };
    configure(config: Partial<Config>): Expect;
    readonly config: Config;
  }

  export const expect: Expect;
  /** A text in a colour of the terminal. */
  export function colorize(text: string, color: 'red' | 'green' | 'white' | 'darkGrey'): string;
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
