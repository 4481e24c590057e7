// k6/crypto: every algorithm, encoding and kind of input, and what is refused.
import crypto from 'k6/crypto';
import { hmac, sha256, createHash, createHMAC } from 'k6/crypto';

const algorithms = ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'];
function attempt(what, run) {
  try { console.log(what, run()); } catch (error) { console.log(what, 'throws', String(error)); }
}

export default function () {
  for (const name of algorithms) {
    console.log(name, crypto[name]('hello', 'hex'), crypto.hmac(name, 'key', 'hello', 'base64'));
  }
  for (const encoding of ['hex', 'base64', 'base64url', 'base64rawurl', 'binary']) {
    console.log(encoding, sha256('??>>', encoding));
  }
  console.log(sha256(new Uint8Array([104, 105]).buffer, 'hex') === sha256('hi', 'hex'));
  const hasher = createHash('sha1');
  hasher.update('hel');
  hasher.update('lo');
  console.log(hasher.digest('hex'), hasher.digest('base64'));
  const mac = createHMAC('sha256', 'key');
  mac.update('hello');
  console.log(mac.digest('hex') === hmac('sha256', 'key', 'hello', 'hex'));
  console.log(crypto.hexEncode('abc'), crypto.hexEncode(new Uint8Array([0, 255]).buffer));
  console.log(crypto.randomBytes(16).byteLength);
  attempt('encoding', () => sha256('a', 'nope'));
  attempt('no encoding', () => sha256('a'));
  attempt('hmac', () => hmac('nope', 'k', 'd', 'hex'));
  attempt('size', () => crypto.randomBytes(0));
  attempt('input', () => sha256(5, 'hex'));
}
