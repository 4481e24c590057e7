/** Questions to name servers, timed. Neither function works in init code. */
declare module 'k6/x/dns' {
  /** The reason of a promise that {@link resolve} rejects because of the server's answer. */
  export interface DNSError {
    /** The response code in words: `NonExistingDomain`, `ServerFailure`, `Refused`, … */
    name: string;
    message: string;
    /** The response code. */
    kind: number;
    error(): string;
  }

  export type RecordType = 'A' | 'AAAA' | 'CNAME' | 'NS' | 'PTR';

  /**
   * Sends one question to a name server.
   * @param nameserver - An address or a name, with or without a port (53).
   * @returns The answers; none if the name has no such record.
   */
  export function resolve(query: string, recordType: RecordType, nameserver: string): Promise<string[]>;

  /** All addresses of a host that the system knows. */
  export function lookup(host: string): Promise<string[]>;

  export * as default from 'k6/x/dns';
}
