/** The fields of a certificate. */
declare module 'k6/crypto/x509' {
  /** An attribute of a name: the number of its type, and its value. */
  export interface Attribute {
    /** Such as `2.5.4.3`. */
    type: string;
    value: string;
  }

  /** Texts are empty where the certificate has none. */
  export interface Subject {
    commonName: string;
    country: string;
    postalCode: string;
    stateOrProvinceName: string;
    localityName: string;
    streetAddress: string;
    organizationName: string;
    organizationalUnitName: string[];
    names: Attribute[];
  }

  export interface Issuer {
    commonName: string;
    country: string;
    stateOrProvinceName: string;
    localityName: string;
    organizationName: string;
    names: Attribute[];
  }

  export type PublicKey =
    | { algorithm: 'RSA'; key: { n: bigint; e: number } }
    | { algorithm: 'ECDSA'; key: { curve: {}; x: bigint; y: bigint } }
    | { algorithm: 'DSA'; key: { y: bigint } };

  export interface Certificate {
    subject: Subject;
    issuer: Issuer;
    /** RFC 3339. */
    notBefore: string;
    /** RFC 3339. */
    notAfter: string;
    /** DNS names, mail addresses, IP addresses, URIs. */
    altNames: string[];
    /** Such as `SHA256-RSA`; `0` if it is unknown. */
    signatureAlgorithm: string;
    /** The SHA-1 of the certificate: 20 bytes. */
    fingerPrint: number[];
    publicKey: PublicKey;
  }

  /** @param certificate - Its PEM, as text or bytes. The first block counts. */
  export function parse(certificate: string | ArrayBuffer | ArrayBufferView): Certificate;
  export function getAltNames(certificate: string | ArrayBuffer | ArrayBufferView): string[];
  export function getIssuer(certificate: string | ArrayBuffer | ArrayBufferView): Issuer;
  export function getSubject(certificate: string | ArrayBuffer | ArrayBufferView): Subject;

  export * as default from 'k6/crypto/x509';
}
