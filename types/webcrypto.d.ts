/** The global `crypto`. Where the DOM library is loaded its declarations hold. */

export {};

/** A shape, unless the DOM library has declared the interface already. */
type Ours<Shape> = typeof globalThis extends { onmessage: any } ? {} : Shape;

type Bytes = ArrayBuffer | ArrayBufferView;
/** `SHA-1`, `SHA-256`, `SHA-384` or `SHA-512`. */
type Hash = string | { name: string };
type Usage = 'encrypt' | 'decrypt' | 'sign' | 'verify' | 'deriveKey' | 'deriveBits' | 'wrapKey' | 'unwrapKey';
type AES = 'AES-CBC' | 'AES-CTR' | 'AES-GCM' | 'AES-KW';
type RSA = 'RSA-OAEP' | 'RSA-PSS' | 'RSASSA-PKCS1-v1_5';
type Curve = 'ECDSA' | 'ECDH';

interface KeyShape {
  readonly algorithm: { name: string; [parameter: string]: any };
  readonly extractable: boolean;
  readonly type: 'secret' | 'private' | 'public';
  readonly usages: Usage[];
}

/** Of AES-CBC and AES-GCM: `iv`; of AES-CTR: `counter` and `length`; of RSA-OAEP: `label`. */
interface Cipher {
  name: string;
  iv?: Bytes;
  counter?: Bytes;
  length?: number;
  additionalData?: Bytes;
  /** Bits, 128 by default. */
  tagLength?: number;
  label?: Bytes;
}

/** Of ECDSA: `hash`; of RSA-PSS: `saltLength`, in bytes. */
type Signing = string | { name: string; hash?: Hash; saltLength?: number };

/** Of ECDH: `public`; of PBKDF2: the others. */
interface Derivation {
  name: string;
  public?: CryptoKey;
  salt?: Bytes;
  iterations?: number;
  hash?: Hash;
}

/** Lengths are bits. */
type SecretKind = { name: AES; length: number } | { name: 'HMAC'; hash: Hash; length?: number };
type PairKind =
  | { name: Curve; namedCurve: string }
  | { name: RSA; modulusLength: number; publicExponent: Uint8Array; hash: Hash };

/** Of HMAC and RSA: `hash`; of curves: `namedCurve`, which is `P-256`, `P-384` or `P-521`. */
type ImportKind = string | { name: string; hash?: Hash; length?: number; namedCurve?: string };

/** Errors have the names of the standard: `NotSupportedError`, `OperationError`, `DataError`, … */
interface SubtleShape {
  digest(algorithm: Hash, data: Bytes): Promise<ArrayBuffer>;
  generateKey(algorithm: PairKind, extractable: boolean, usages: readonly Usage[]): Promise<CryptoKeyPair>;
  generateKey(algorithm: SecretKind, extractable: boolean, usages: readonly Usage[]): Promise<CryptoKey>;
  generateKey(algorithm: { name: string }, extractable: boolean, usages: readonly Usage[]): Promise<CryptoKey | CryptoKeyPair>;
  importKey(
    format: 'jwk',
    data: JsonWebKey,
    algorithm: ImportKind,
    extractable: boolean,
    usages: readonly Usage[],
  ): Promise<CryptoKey>;
  importKey(
    format: 'raw' | 'pkcs8' | 'spki',
    data: Bytes,
    algorithm: ImportKind,
    extractable: boolean,
    usages: readonly Usage[],
  ): Promise<CryptoKey>;
  exportKey(format: 'jwk', key: CryptoKey): Promise<JsonWebKey>;
  exportKey(format: 'raw' | 'pkcs8' | 'spki', key: CryptoKey): Promise<ArrayBuffer>;
  encrypt(algorithm: Cipher, key: CryptoKey, data: Bytes): Promise<ArrayBuffer>;
  decrypt(algorithm: Cipher, key: CryptoKey, data: Bytes): Promise<ArrayBuffer>;
  sign(algorithm: Signing, key: CryptoKey, data: Bytes): Promise<ArrayBuffer>;
  verify(algorithm: Signing, key: CryptoKey, signature: Bytes, data: Bytes): Promise<boolean>;
  deriveBits(algorithm: Derivation, key: CryptoKey, length?: number | null): Promise<ArrayBuffer>;
  deriveKey(
    algorithm: Derivation,
    key: CryptoKey,
    derived: SecretKind,
    extractable: boolean,
    usages: readonly Usage[],
  ): Promise<CryptoKey>;
}

interface CryptoShape {
  /** Fills an array of whole numbers, 65 536 bytes at most. */
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  /** Version 4. */
  randomUUID(): string;
  readonly subtle: SubtleCrypto;
}

/** A key as JSON. */
interface JwkShape {
  alg?: string;
  crv?: string;
  d?: string;
  dp?: string;
  dq?: string;
  e?: string;
  ext?: boolean;
  k?: string;
  key_ops?: string[];
  kty?: string;
  n?: string;
  p?: string;
  q?: string;
  qi?: string;
  use?: string;
  x?: string;
  y?: string;
}

declare global {
  interface CryptoKey extends Ours<KeyShape> {}
  interface CryptoKeyPair extends Ours<{ privateKey: CryptoKey; publicKey: CryptoKey }> {}
  interface JsonWebKey extends Ours<JwkShape> {}
  interface SubtleCrypto extends Ours<SubtleShape> {}
  interface Crypto extends Ours<CryptoShape> {}
  var crypto: Crypto;
}
