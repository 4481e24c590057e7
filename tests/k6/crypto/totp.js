// A one-time password (RFC 6238) by way of crypto.subtle, as the helper library makes it.
export default async function () {
  const secret = new Uint8Array([...'12345678901234567890'].map((c) => c.charCodeAt(0)));
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: { name: 'SHA-1' } }, false, ['sign']);
  for (const seconds of [59, 1111111109, 2000000000]) {
    const counter = new DataView(new ArrayBuffer(8));
    counter.setUint32(4, Math.floor(seconds / 30));
    const code = new Uint8Array(await crypto.subtle.sign('HMAC', key, counter.buffer));
    const offset = code[code.length - 1] & 15;
    const number = new DataView(code.buffer).getUint32(offset) & 0x7fffffff;
    console.log(seconds, String(number % 100000000).padStart(8, '0'));
  }
}
