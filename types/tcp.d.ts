/** TCP connections with events. There are no connections in init code. */
declare module 'k6/x/tcp' {
  type Tags = { [name: string]: string | number | boolean };

  /** An error with the name `TCPError`. */
  export interface TCPError extends Error {
    name: 'TCPError';
  }

  export interface ConnectOptions {
    port: number | string;
    /** `localhost` by default. */
    host?: string;
    /** Whether to speak TLS; `false` by default. */
    tls?: boolean;
    /** For the samples of this connection. */
    tags?: Tags;
  }

  export interface WriteOptions {
    /** The encoding of a string; `'utf8'` by default. */
    encoding?: 'utf8' | 'utf-8' | 'ascii' | 'base64' | 'base64url' | 'hex';
    /** For the samples of this writing. */
    tags?: Tags;
  }

  /** The arguments of the handlers of a socket. */
  export interface SocketEvents {
    connect: [nothing?: undefined];
    /** The bytes that came. */
    data: [bytes: Uint8Array<ArrayBuffer>];
    close: [nothing?: undefined];
    /** A {@link TCPError}, or whatever `destroy()` was given. */
    error: [error: any];
    /** The silence that `setTimeout()` allows has passed. The connection stays. */
    timeout: [nothing?: undefined];
  }

  export class Socket {
    /** @param options - `tags`: for all samples of the socket. */
    constructor(options?: { tags?: Tags });

    /**
     * Waits until it is connected.
     * @throws TCPError - Without a handler of `error`.
     */
    connect(port: number | string, host?: string): this;
    connect(options: ConnectOptions): this;
    /** The same as a promise, which rejects with a {@link TCPError}. */
    connectAsync(port: number | string, host?: string): Promise<void>;
    connectAsync(options: ConnectOptions): Promise<void>;

    /**
     * Writes, and waits until all is handed to the system.
     * @returns Whether it was written.
     * @throws TCPError - Without a handler of `error`.
     */
    write(data: string | ArrayBuffer | ArrayBufferView, options?: WriteOptions): boolean;
    /** The same as a promise, which rejects with a {@link TCPError}. */
    writeAsync(data: string | ArrayBuffer | ArrayBufferView, options?: WriteOptions): Promise<void>;

    /**
     * After a silence of this length `timeout` is called, again and again. Writing takes no longer than that either.
     * @param ms - Milliseconds; 0: never.
     */
    setTimeout(ms: number): this;
    /** Closes it; the handler of `error` gets the reason, if there is one. A destroyed socket is of no more use. */
    destroy(reason?: unknown): this;
    /** Sets the handler of an event; it has one, the last. */
    on<E extends keyof SocketEvents>(event: E, handler: (...args: SocketEvents[E]) => void): this;

    readonly ready_state: 'disconnected' | 'opening' | 'open' | 'destroyed';
    /** Whether it is open. */
    readonly connected: boolean;
    /** The addresses are `undefined` as long as it was never connected. */
    readonly local_ip: string | undefined;
    readonly local_port: number | undefined;
    readonly remote_ip: string | undefined;
    readonly remote_port: number | undefined;
    readonly bytes_written: number;
    readonly bytes_read: number;
  }

  export * as default from 'k6/x/tcp';
}
