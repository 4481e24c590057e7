/** Pings. There are none in init code. */
declare module 'k6/x/icmp' {
  /** Times are milliseconds, or texts such as `'2s'`. */
  export interface PingOptions {
    /** Requests, 1 to 65 535; 1 by default. */
    count?: number;
    /** From one request to the next, 1 s by default, at least 500 ms (or `K6_PING_MINIMUM_INTERVAL`). */
    interval?: number | string;
    /** For each answer, 10 s by default. */
    timeout?: number | string;
    /** For all of them; none by default. */
    deadline?: number | string;
    /** The share of answers that are needed, in percent; 100 by default. */
    threshold?: number;
    /** Bytes of a request, 0 to 65 499; 56 by default. */
    size?: number;
    /** The hops that a request may take, 1 to 255; the system's by default. */
    ttl?: number;
    /** 0 to 65 535. The kernel may choose another one. */
    id?: number;
    /** The number of the first request, 0 to 65 535; random by default. */
    seq?: number;
    /** The address to send from. */
    source?: string;
    /** For names that have both kinds of addresses; `'ip4'` by default. */
    preferred_ip_version?: 'ip4' | 'ip6';
    /** For the samples. */
    tags?: { [name: string]: string | number | boolean };
  }

  /** One request, as the callback of {@link pingAsync} hears of it. */
  export interface PingDetail {
    /** Whether it was answered. */
    alive: boolean;
    target: string;
    /** Missing if the name leads nowhere; so is the version. */
    target_ip?: string;
    target_ip_version?: 'ip4' | 'ip6';
    /** Milliseconds since 1970, with fractions; missing if nothing was sent. */
    sent_at?: number;
    /** Milliseconds since 1970, with fractions; missing without an answer, as are the members below. */
    received_at?: number;
    /** The hops that were left to the answer; missing where the kernel does not tell. */
    ttl?: number;
    id?: number;
    seq?: number;
    /** Bytes of the answer. */
    size?: number;
    /** The options of the call. */
    options: PingOptions;
  }

  /** An error with the name `ICMPError`. */
  export interface ICMPError extends Error {
    name: 'ICMPError';
  }

  export type PingCallback = (error: ICMPError | null, detail: PingDetail) => void;

  /**
   * Sends pings, and waits for the answers.
   * @param target - A host or an IP address.
   * @returns Whether enough requests were answered.
   * @throws ICMPError - Options that make no sense; a system that allows this user no pings.
   */
  export function ping(target: string, options?: PingOptions): boolean;

  /** The same as a promise; the callback hears of each request. */
  export function pingAsync(target: string, options?: PingOptions, callback?: PingCallback): Promise<boolean>;
  export function pingAsync(target: string, callback: PingCallback): Promise<boolean>;

  export * as default from 'k6/x/icmp';
}
