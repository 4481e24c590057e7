/** MySQL and MariaDB, PostgreSQL, SQLite. */
declare module 'k6/x/sql' {
  /** A time as Go has it, unless the option `times` asks for dates. Spans are nanoseconds. */
  export interface GoTime {
    /** Seconds since 1970. */
    unix(): number;
    unixMilli(): number;
    unixMicro(): number;
    unixNano(): number;
    year(): number;
    /** 1 to 12. */
    month(): number;
    day(): number;
    hour(): number;
    minute(): number;
    second(): number;
    nanosecond(): number;
    /** 0 is Sunday. */
    weekday(): number;
    /** From 1 on. */
    yearDay(): number;
    /** Year, month, day. */
    date(): [number, number, number];
    /** Hour, minute, second. */
    clock(): [number, number, number];
    /** The name of the zone, and its seconds east of UTC. */
    zone(): [string, number];
    before(other: GoTime | Date): boolean;
    after(other: GoTime | Date): boolean;
    equal(other: GoTime | Date): boolean;
    /** Below 0 if this time is earlier, 0 if it is the same. */
    compare(other: GoTime | Date): number;
    /** The span from the other time to this one, in nanoseconds. */
    sub(other: GoTime | Date): number;
    add(nanoseconds: number): GoTime;
    addDate(years: number, months: number, days: number): GoTime;
    truncate(nanoseconds: number): GoTime;
    round(nanoseconds: number): GoTime;
    isZero(): boolean;
    utc(): GoTime;
    local(): GoTime;
    /** @param layout - Go's, by example: `2006-01-02 15:04:05`. */
    format(layout: string): string;
    string(): string;
    toString(): string;
    /** RFC 3339. */
    toJSON(): string;
  }

  /** An argument of a statement. Arrays are for PostgreSQL alone. */
  export type Value =
    | null | undefined | boolean | number | bigint | string | Date | ArrayBuffer | ArrayBufferView | GoTime | readonly Value[];

  /** A row: the columns in their order; of columns with one name the last. */
  export type Row = Record<string, any>;

  /** Values for the placeholders in their order, or one object for `:name`. */
  export type Arguments = Value[] | [named: Record<string, Value>];

  /** Many rows: arrays, objects, or values (for one column). A generator is read in constant memory. */
  export type RowsIn = Iterable<readonly Value[] | Record<string, Value> | Value>;

  /** An error of a statement. */
  export interface SqlError extends Error {
    name: 'GoError';
    /** The SQLSTATE, the name of SQLite's result code, `timeout`, `usage` … */
    code: string;
    /** The number of MySQL and SQLite; 0 of PostgreSQL. */
    number: number;
    /** Whether the transaction may be tried again. */
    retryable: boolean;
  }

  export interface Result {
    rowsAffected(): number;
    /** @throws SqlError - PostgreSQL has none: say `RETURNING id`. */
    lastInsertId(): number;
  }

  export interface Column {
    name: string;
    /** As the Go drivers name it. */
    type: string;
    /** `null` where the server does not tell; so are the two members below. */
    nullable: boolean | null;
    length: number | null;
    decimals: number | null;
    table: string;
  }

  /** A result that is read row by row. `break` ends it. */
  export interface Rows<R = Row> extends IterableIterator<R>, AsyncIterable<R> {
    readonly columns: Column[];
    close(): void;
  }

  /** The forms of values, and the tags, of a database or of a view of it. */
  export interface ViewOptions {
    /** `'string'`: texts that the Go driver hands over as bytes are strings. `'bytes'` is the default. */
    text?: 'bytes' | 'string';
    /** `'auto'`: a `BigInt` where a number would lose digits. `'number'` is the default. */
    integers?: 'number' | 'bigint' | 'auto';
    /** `'array'`, the default: an array of numbers. */
    bytes?: 'array' | 'uint8array';
    /** `'go'` is the default. */
    times?: 'go' | 'date';
    /** Whether the server keeps each statement that has arguments; `true` by default. */
    prepared?: boolean;
    /** The most time of each statement, such as `500ms`; none by default. */
    timeout?: string;
    /** The bytes that a whole result may take of the VU's memory, 268435456 by default. */
    maxResult?: number;
    /** A value for the tag `name`, in the place of the tag `statement`. */
    name?: string;
    /** More tags for all samples. */
    tags?: { [name: string]: string | number | boolean };
  }

  export interface OpenOptions extends ViewOptions {
    /** The most connections at the same time; 0, the default: no limit. */
    max_open_conns?: number;
    /** Connections that wait for work, 2 by default. */
    max_idle_conns?: number;
    /** Older connections are closed; `0s`, the default: no limit. */
    conn_max_lifetime?: string;
    conn_max_idle_time?: string;
    /** One pool for all VUs of a core; `false` by default. */
    shared?: boolean;
  }

  export interface InsertOptions {
    /** The most rows of one statement, 1 to 1 000 000; 10 000 by default. */
    batch?: number;
    /** `'auto'` is the default; `'copy'` is PostgreSQL's, `'load'` MySQL's. */
    way?: 'auto' | 'values' | 'copy' | 'load';
  }

  /** Calls wait for the server; those that end with `Async` give promises. Both fail with a {@link SqlError}. */
  export interface Statements {
    /** All rows of a result. */
    query<R = Row>(sql: string, ...args: Arguments): R[];
    /** @param timeout - Such as `500ms`. */
    queryWithTimeout<R = Row>(timeout: string, sql: string, ...args: Arguments): R[];
    exec(sql: string, ...args: Arguments): Result;
    /** @param timeout - Such as `500ms`. */
    execWithTimeout(timeout: string, sql: string, ...args: Arguments): Result;
    queryAsync<R = Row>(sql: string, ...args: Arguments): Promise<R[]>;
    execAsync(sql: string, ...args: Arguments): Promise<Result>;
    /** The results of all statements in one text. */
    queryAll(sql: string, ...args: Arguments): { rows: Row[]; columns: Column[]; rowsAffected: number }[];
    /** A result that is read row by row, in constant memory. */
    rows<R = Row>(sql: string, ...args: Arguments): Rows<R>;
    prepare(sql: string): Statement;
    insert(table: string, columns: readonly string[] | string, rows: RowsIn, options?: InsertOptions): Result;
    insertAsync(table: string, columns: readonly string[] | string, rows: RowsIn, options?: InsertOptions): Promise<Result>;
    /** Runs a statement once for each row of arguments: all or none of them. */
    batch(sql: string, rows: RowsIn): Result;
    batchAsync(sql: string, rows: RowsIn): Promise<Result>;
    /** The same with other options. Init code may keep what it gives. */
    with(options: ViewOptions): this;
  }

  export interface TxOptions {
    isolation?: 'read uncommitted' | 'read committed' | 'repeatable read' | 'serializable';
    readOnly?: boolean;
    /** How often the function may run again after a deadlock, 0 to 1000; 0 by default. */
    retries?: number;
  }

  interface Transactional {
    /**
     * Runs a function in a transaction: commits when it returns, rolls back when it throws.
     * @returns What the function returns; of an async function a promise.
     */
    tx<T>(run: (tx: Transaction) => T, options?: TxOptions): T;
    close(): void;
  }

  export interface Transaction extends Statements {}

  /** One connection for several statements. `close()` gives it back as it is. */
  export interface Connection extends Statements, Transactional {}

  export interface Database extends Statements, Transactional {
    connection(): Connection;
  }

  /** A statement that the server keeps. */
  export interface Statement {
    query<R = Row>(...args: Arguments): R[];
    exec(...args: Arguments): Result;
    rows<R = Row>(...args: Arguments): Rows<R>;
    queryAsync<R = Row>(...args: Arguments): Promise<R[]>;
    execAsync(...args: Arguments): Promise<Result>;
    batch(rows: RowsIn): Result;
    readonly sql: string;
    close(): void;
  }

  /**
   * Opens a database. The first statement connects.
   * @param driver - The default export of a module `k6/x/sql/driver/…`.
   * @param dsn - How to reach the database; its form is the driver's.
   */
  export function open(driver: symbol, dsn: string, options?: OpenOptions): Database;

  /** Texts of letters, digits, `-` and `_`; with a seed the same ones again. */
  export function randomTexts(count: number, length: number, seed?: number): string[];

  export * as default from 'k6/x/sql';
}

/** MySQL and MariaDB: `user:password@tcp(host:3306)/database`, `mysql://user:password@host:3306/database`. */
declare module 'k6/x/sql/driver/mysql' {
  const driver: unique symbol;
  export default driver;
}

/** PostgreSQL: `postgres://user:password@host:5432/database`. */
declare module 'k6/x/sql/driver/postgres' {
  const driver: unique symbol;
  export default driver;
}

/** SQLite: `file.db`, `:memory:`, `file:file.db?mode=ro`. */
declare module 'k6/x/sql/driver/sqlite3' {
  const driver: unique symbol;
  export default driver;
}
