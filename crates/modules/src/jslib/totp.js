// One-time passwords of RFC 6238 with the names and the behaviour of totp.
import { hmac } from 'k6/crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The bytes of a text in Base32; padding, spaces and case do not matter. */
function decode(text) {
  const bytes = [];
  let bits = 0;
  let value = 0;
  for (const letter of String(text).toUpperCase().replace(/[\s=]/g, '')) {
    const digit = ALPHABET.indexOf(letter);
    if (digit < 0) throw new Error(`TOTP: the secret is not Base32: it has a '${letter}'`);
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
    }
  }
  return new Uint8Array(bytes);
}

export class TOTP {
  constructor(secret, digits = 6) {
    this.key = secret;
    this.digits = digits;
  }

  /** The password of `bias` seconds ago. */
  async gen(timeStep = 30, bias = 0) {
    const counter = Math.floor((Date.now() / 1000 - bias) / timeStep);
    const message = new DataView(new ArrayBuffer(8));
    message.setUint32(0, Math.floor(counter / 2 ** 32));
    message.setUint32(4, counter % 2 ** 32);
    const digest = new DataView(hmac('sha1', decode(this.key).buffer, message.buffer, 'binary'));
    const number = digest.getUint32(digest.getUint8(19) & 0x0f) & 0x7fffffff;
    return String(number % 10 ** this.digits).padStart(this.digits, '0');
  }

  async verify(code, timeStep = 30) {
    return code === (await this.gen(timeStep));
  }
}
