/** A client of Redis whose commands are promises. */
declare module 'k6/x/redis' {
  /** A value that can be stored; `true` is stored as `1`, `false` as `0`. */
  export type RedisValue = string | number | boolean;

  /** One server. Times are milliseconds. */
  export interface SocketOptions {
    host: string;
    port: number;
    tls?: {
      /** Authorities to trust, in PEM; the system's by default. */
      ca?: (string | ArrayBuffer)[];
      /** A certificate of the client's, and its key, in PEM. */
      cert?: string | ArrayBuffer;
      key?: string | ArrayBuffer;
    };
    /** 5000 by default. */
    dialTimeout?: number;
    /** For a reply, 3000 by default; below 0: without end. */
    readTimeout?: number;
    /** Connections of a VU to each server, 10 by default. */
    poolSize?: number;
    /** For a connection to become idle, 4000 by default. */
    poolTimeout?: number;
  }

  export interface CommonOptions {
    username?: string;
    password?: string;
    /** How the connection is called in `CLIENT LIST`. */
    clientName?: string;
    /** 0 by default. */
    database?: number;
    /** Tries after the first, 3 by default. */
    maxRetries?: number;
    /** Milliseconds, 8 by default. */
    minRetryBackoff?: number;
    /** Milliseconds, 512 by default. */
    maxRetryBackoff?: number;
  }

  export interface SingleOptions extends CommonOptions {
    socket: SocketOptions;
  }

  export interface SentinelOptions extends SingleOptions {
    /** The name of the master; `socket` is a sentinel then. */
    masterName: string;
    sentinelUsername?: string;
    sentinelPassword?: string;
  }

  export interface ClusterOptions extends CommonOptions {
    cluster: {
      /** How often a command is sent on. */
      maxRedirects?: number;
      /** URLs, or options of single servers. */
      nodes: (string | SingleOptions)[];
    };
  }

  /**
   * It dials when the first command is given. Commands reject with {@link RedisError}; a value that is missing rejects with
   * the text `redis: nil`. In init code all of them reject.
   */
  export class Client {
    /** @param options - `redis://user:password@host:port/database`, `rediss://…`, or an object. */
    constructor(options: string | SingleOptions | SentinelOptions | ClusterOptions);

    /**
     * Sets a value.
     * @param expiration - Seconds; 0 or none: for ever.
     * @returns `OK`
     */
    set(key: string, value: RedisValue, expiration?: number): Promise<string>;
    get(key: string): Promise<string>;
    /** Sets a value, and gives the one before. */
    getSet(key: string, value: RedisValue): Promise<string>;
    /** @returns How many keys there were. */
    del(...keys: string[]): Promise<number>;
    /** Gives the value and deletes it. */
    getDel(key: string): Promise<string>;
    /** @returns How many of the keys there are. */
    exists(...keys: string[]): Promise<number>;
    incr(key: string): Promise<number>;
    incrBy(key: string, increment: number): Promise<number>;
    decr(key: string): Promise<number>;
    decrBy(key: string, decrement: number): Promise<number>;
    randomKey(): Promise<string>;
    /** @returns A value for each key, `null` for those that are missing. */
    mget(...keys: string[]): Promise<(string | null)[]>;
    /** @returns Whether there is such a key. */
    expire(key: string, seconds: number): Promise<boolean>;
    /** @returns Seconds; a negative number if the key is missing, or lives for ever. */
    ttl(key: string): Promise<number>;
    /** Takes the expiration away. */
    persist(key: string): Promise<boolean>;

    /** @returns The length of the list. */
    lpush(key: string, ...values: RedisValue[]): Promise<number>;
    /** @returns The length of the list. */
    rpush(key: string, ...values: RedisValue[]): Promise<number>;
    lpop(key: string): Promise<string>;
    rpop(key: string): Promise<string>;
    lrange(key: string, start: number, stop: number): Promise<string[]>;
    lindex(key: string, index: number): Promise<string>;
    /** @returns `OK` */
    lset(key: string, index: number, value: RedisValue): Promise<string>;
    /** @returns How many were removed. */
    lrem(key: string, count: number, value: RedisValue): Promise<number>;
    llen(key: string): Promise<number>;

    /** @returns 1 if the field is new, otherwise 0. */
    hset(key: string, field: string, value: RedisValue): Promise<number>;
    /** Sets a field that is missing. */
    hsetnx(key: string, field: string, value: RedisValue): Promise<boolean>;
    hget(key: string, field: string): Promise<string>;
    /** @returns How many fields there were. */
    hdel(key: string, ...fields: string[]): Promise<number>;
    hgetall(key: string): Promise<{ [field: string]: string }>;
    hkeys(key: string): Promise<string[]>;
    hvals(key: string): Promise<string[]>;
    hlen(key: string): Promise<number>;
    hincrby(key: string, field: string, increment: number): Promise<number>;

    /** @returns How many are new. */
    sadd(key: string, ...members: RedisValue[]): Promise<number>;
    /** @returns How many were removed. */
    srem(key: string, ...members: RedisValue[]): Promise<number>;
    sismember(key: string, member: RedisValue): Promise<boolean>;
    smembers(key: string): Promise<string[]>;
    srandmember(key: string): Promise<string>;
    spop(key: string): Promise<string>;

    /** Any command. What it gives is of the kind that the server sends. */
    sendCommand(command: string, ...args: RedisValue[]): Promise<any>;
    /** Whether a connection is open. */
    isConnected(): boolean;
  }

  /** The reason of a command that failed: no `Error`, only its text. */
  export interface RedisError {
    error(): string;
    toString(): string;
  }

  export * as default from 'k6/x/redis';
}
