/** Rows, queues and counters that all VUs of a test share. k6 does not have this module. */
declare module 'brunt/data' {
  /** Which part of the data a process has, if the test runs in several: see the guide on shared data. */
  export type Share = 'striped' | 'leased' | 'instance';

  /** The options of {@link rows}. */
  export interface RowsOptions {
    /**
     * `'queue'` (the default): each row once, in order. `'shuffle'`: each row once, in random order. `'circular'`: in
     * order, and again from the beginning. `'random'`: any row, with repetition.
     */
    strategy?: 'queue' | 'shuffle' | 'circular' | 'random';
    /**
     * The answer of `next()` when no row is left. `'stop'` (the default): the test ends with exit code 108. `'throw'`: an
     * exception. `'null'`: it returns `null`.
     */
    whenEmpty?: 'stop' | 'throw' | 'null';
    /** `'striped'` is the default. */
    share?: Share;
  }

  /**
   * Rows that are given out.
   * @template T - A row.
   * @template Empty - The value of `next()` when no row is left: `null` with `whenEmpty: 'null'`, otherwise there is none.
   */
  export interface Rows<T, Empty = never> {
    /** The next row, frozen. Not in init code. */
    next(): T | Empty;
    /** How many rows there are, in the whole test. */
    readonly length: number;
    /** How often this process has given one out. */
    readonly taken: number;
    readonly name: string;
  }

  /** A function that gives rows and runs once, an array, a `SharedArray`, or the result of `csv.parse()`. */
  export type Source<T> = readonly T[] | (() => readonly T[]);

  /**
   * Rows for all VUs. In init code only.
   * @param name - 1 to 128 bytes; each VU finds the rows of the same name.
   */
  export function rows<T>(name: string, source: Source<T>, options: RowsOptions & { whenEmpty: 'null' }): Rows<T, null>;
  export function rows<T>(name: string, source: Source<T>, options?: RowsOptions): Rows<T>;

  /**
   * A queue of all VUs: first in, first out. Values are kept as JSON, so each taker has a copy of its own.
   * @template T - A value, at most 1 MiB of JSON; 512 KiB in a test on several machines.
   */
  export interface Queue<T = any> {
    /** Adds a value at the end; `false` if the queue is full. Not in init code. */
    put(value: T): boolean;
    /** Adds a value at the front, so that it is taken next; `false` if the queue is full. Not in init code. */
    putBack(value: T): boolean;
    /** The value that has waited longest; `null` if none waits. It does not wait itself. Not in init code. */
    take(): T | null;
    /** How many values wait. */
    readonly length: number;
    /** How often the queue was full. */
    readonly refused: number;
    readonly name: string;
  }

  /**
   * The queue of this name. In init code only.
   * @param options - `max`: the most values that wait, 10 000 by default and 10 000 000 at most. `share`: among
   * the VUs of the whole test (the default), or of this process.
   */
  export function queue<T = any>(name: string, options?: { max?: number; share?: 'test' | 'instance' }): Queue<T>;

  /** A number of all VUs. */
  export interface Counter {
    /** Adds a whole number, 1 by default, and returns the new value. Not in init code. */
    add(n?: number): number;
    /** The value now. */
    readonly value: number;
    readonly name: string;
  }

  /**
   * The counter of this name. In init code only.
   * @param options - `start`: a whole number, 0 by default. `share`: as of queues.
   */
  export function counter(name: string, options?: { start?: number; share?: 'test' | 'instance' }): Counter;

  export * as default from 'brunt/data';
}
