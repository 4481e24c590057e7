/** A client of MQTT 3.1.1 with events. There are no connections in init code. */
declare module 'k6/x/mqtt' {
  type Tags = { [name: string]: string | number | boolean };
  type Payload = string | ArrayBuffer | ArrayBufferView | null;

  /** 0: at most once. 1: at least once. 2: exactly once. */
  export type QoS = 0 | 1 | 2;

  /** An error with the name `MQTTError`. */
  export interface MQTTError extends Error {
    name: 'MQTTError';
    /** The method that failed: `publish` of `publish()` and `publishAsync()`, too. */
    method: string;
  }

  export interface ClientOptions {
    client_id?: string;
    username?: string;
    password?: string;
    /** Gives user and password at each connection, in the place of those above. */
    credentials_provider?: () => { username?: string; password?: string };
    /** The message that the broker sends when the client is lost; at most 65 535 bytes. */
    will?: { topic: string; payload?: Payload; qos?: QoS; retain?: boolean };
    /** For all samples of the client. */
    tags?: Tags;
  }

  export interface ConnectOptions {
    /** Seconds between two signs of life, 60 by default. */
    keepalive?: number;
    /** Milliseconds for connecting and for any other answer of the broker, 30 000 by default. */
    connect_timeout?: number;
    /** `true` by default. */
    clean_session?: boolean;
    /** URLs of brokers, which are tried in turn, behind the URL of the call. */
    servers?: string[];
    tags?: Tags;
  }

  /** The arguments of the handlers of a client. */
  export interface ClientEvents {
    connect: [nothing?: undefined];
    message: [topic: string, payload: ArrayBuffer];
    /** The connection has ended. */
    end: [nothing?: undefined];
    reconnect: [nothing?: undefined];
    error: [error: MQTTError];
  }

  /**
   * Methods whose names end with `Async` give promises, which reject with an {@link MQTTError}; the others wait for what the
   * broker says, and throw one unless there is a handler of `error`.
   */
  export class Client {
    constructor(options?: ClientOptions);

    /**
     * Waits until a broker accepts the client.
     * @param url - `mqtt://` and `tcp://` (port 1883), `mqtts://`, `ssl://` and `tls://` (8883), `ws://` (80), `wss://` (443).
     */
    connect(url: string, options?: ConnectOptions): void;
    connect(options: ConnectOptions & { servers: string[] }): void;
    /** Connects again as before. */
    reconnect(): void;

    publish(topic: string, payload?: Payload, options?: { qos?: QoS; retain?: boolean; tags?: Tags }): void;
    publishAsync(topic: string, payload?: Payload, options?: { qos?: QoS; retain?: boolean; tags?: Tags }): Promise<void>;
    subscribe(topics: string | string[], options?: { qos?: QoS; tags?: Tags }): void;
    subscribeAsync(topics: string | string[], options?: { qos?: QoS; tags?: Tags }): Promise<void>;
    unsubscribe(topics: string | string[], options?: { tags?: Tags }): void;
    unsubscribeAsync(topics: string | string[], options?: { tags?: Tags }): Promise<void>;
    /** Says goodbye and closes the connection. */
    end(options?: { tags?: Tags }): void;
    endAsync(options?: { tags?: Tags }): Promise<void>;

    /** Sets the handler of an event; it has one, the last. */
    on<E extends keyof ClientEvents>(event: E, handler: (...args: ClientEvents[E]) => void): void;
    readonly connected: boolean;
  }

  export * as default from 'k6/x/mqtt';
}
