// Keys as scripts print them.
const shown = (name, key) => console.log(name, JSON.stringify(key), Object.keys(key.algorithm).filter((k) => k !== 'hashFn').join());

export default async function () {
  const bytes = new Uint8Array(16);
  for (const name of ['RSA-OAEP', 'RSA-PSS', 'RSASSA-PKCS1-v1_5']) {
    const usages = name === 'RSA-OAEP' ? ['encrypt', 'decrypt'] : ['sign', 'verify'];
    const pair = await crypto.subtle.generateKey({ name, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, usages);
    shown(name, pair.publicKey);
    shown(name, pair.privateKey);
  }
  for (const [name, usages] of [['ECDSA', ['sign', 'verify']], ['ECDH', ['deriveKey', 'deriveBits']]]) {
    const pair = await crypto.subtle.generateKey({ name, namedCurve: 'P-256' }, true, usages);
    shown(name, pair.publicKey);
    shown(name, pair.privateKey);
    const spki = await crypto.subtle.exportKey('spki', pair.publicKey).catch(() => null);
    if (spki && name === 'ECDSA') shown('imported', await crypto.subtle.importKey('spki', spki, { name, namedCurve: 'P-256' }, true, ['verify']));
  }
  shown('HMAC', await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-1' }, true, ['sign']));
  shown('HMAC raw', await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: { name: 'SHA-512' } }, false, ['sign', 'verify']));
  shown('AES', await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt']));
  shown('AES raw', await crypto.subtle.importKey('raw', bytes, 'AES-CBC', true, ['encrypt']));
  const base = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveKey', 'deriveBits']);
  shown('PBKDF2', base);
  shown('derived', await crypto.subtle.deriveKey({ name: 'PBKDF2', salt: bytes, iterations: 10, hash: 'SHA-256' }, base, { name: 'AES-GCM', length: 256 }, true, ['encrypt']));
}
