/** The libraries of jslib that make assertions, in all versions that Brunt has built in. */

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
  export const Should: typeof should;
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
