/**
 * Globals of every script that neither ECMAScript nor `@types/k6` declares. Where the DOM library is loaded its declarations
 * hold, and only additions of Brunt's are added to them.
 */

export {};

/** A shape, unless the DOM library has declared the interface already. */
type Ours<Shape> = typeof globalThis extends { onmessage: any } ? {} : Shape;

/** Writes lines to the log of the test. Objects are shown as JSON. */
interface ConsoleShape {
  debug(...values: any[]): void;
  error(...values: any[]): void;
  info(...values: any[]): void;
  log(...values: any[]): void;
  warn(...values: any[]): void;
}

interface URLShape {
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toJSON(): string;
  toString(): string;
}

interface URLClass {
  prototype: URL;
  new (url: string | URL, base?: string | URL): URL;
  canParse(url: string | URL, base?: string | URL): boolean;
  /** `null` if it is no URL. */
  parse(url: string | URL, base?: string | URL): URL | null;
}

interface URLSearchParamsShape {
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  toString(): string;
  forEach(callback: (value: string, key: string, parent: URLSearchParams) => void, thisArg?: any): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

interface URLSearchParamsClass {
  prototype: URLSearchParams;
  new (init?: string[][] | Record<string, string> | string | URLSearchParams): URLSearchParams;
}

interface TextEncoderShape {
  readonly encoding: string;
  encode(input?: string): Uint8Array<ArrayBuffer>;
  /** @returns `read`: UTF-16 units of the source; `written`: bytes of the destination. */
  encodeInto(source: string, destination: Uint8Array): { read: number; written: number };
}

interface TextDecoderShape {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(input?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}

interface DOMExceptionShape extends Error {
  /** The number that old names have; 0 of the others. */
  readonly code: number;
}

declare global {
  interface Console extends Ours<ConsoleShape> {}
  var console: Console;

  interface URL extends Ours<URLShape> {}
  var URL: typeof globalThis extends { onmessage: any; URL: infer Class } ? Class : URLClass;

  interface URLSearchParams extends Ours<URLSearchParamsShape> {}
  var URLSearchParams: typeof globalThis extends { onmessage: any; URLSearchParams: infer Class } ? Class : URLSearchParamsClass;

  interface TextEncoder extends Ours<TextEncoderShape> {}
  var TextEncoder: typeof globalThis extends { onmessage: any; TextEncoder: infer Class }
    ? Class
    : { prototype: TextEncoder; new (): TextEncoder };

  interface TextDecoder extends Ours<TextDecoderShape> {}
  var TextDecoder: typeof globalThis extends { onmessage: any; TextDecoder: infer Class }
    ? Class
    : { prototype: TextDecoder; new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder };

  /** Base64 to text whose letters are bytes. */
  function atob(data: string): string;
  /** Text whose letters are bytes to Base64. */
  function btoa(data: string): string;

  /** A deep copy. */
  function structuredClone<T = any>(value: T, options?: { transfer?: any[] }): T;

  /** Calls a function once, after a delay in milliseconds. */
  function setTimeout(handler: (...args: any[]) => void, delay?: number, ...args: any[]): number;
  /** Calls a function again and again, with a delay in milliseconds before each call. */
  function setInterval(handler: (...args: any[]) => void, delay?: number, ...args: any[]): number;
  function clearTimeout(id?: number): void;
  function clearInterval(id?: number): void;

  /** Calls a function when the script lets go, before anything else happens. */
  function queueMicrotask(callback: () => void): void;

  /** The module of a path or a name: of a CommonJS file its `module.exports`. */
  function require(specifier: string): any;

  var global: typeof globalThis;

  interface DOMException extends Ours<DOMExceptionShape> {}
  var DOMException: typeof globalThis extends { onmessage: any; DOMException: infer Class }
    ? Class
    : { prototype: DOMException; new (message?: string, name?: string): DOMException };

  /** The class of the errors that functions of k6's modules throw. */
  var GoError: { prototype: GoError; new (message?: string): GoError };
  interface GoError extends Error {
    name: 'GoError';
  }
}
