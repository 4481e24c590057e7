// crypto.subtle: what each algorithm makes of fixed input, and the names of its errors.
const { subtle } = crypto;
const bytes = (text) => new Uint8Array([...text].map((c) => c.charCodeAt(0)));
const hex = (buffer) => [...new Uint8Array(buffer)].map((b) => b.toString(16).padStart(2, '0')).join('');
const key = new Uint8Array(16).fill(7);
async function attempt(what, run) {
  try {
    const made = await run();
    console.log(what, made instanceof ArrayBuffer ? hex(made) : JSON.stringify(made));
  } catch (error) {
    console.log(what, 'rejects', error.name);
  }
}
const secret = (algorithm, usages) => subtle.importKey('raw', key, algorithm, true, usages);

export default async function () {
  for (const name of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', 'sha-256']) {
    await attempt(name, () => subtle.digest(name, bytes('hello')));
  }
  await attempt('{name}', () => subtle.digest({ name: 'SHA-256' }, bytes('hello').buffer));
  await attempt('unknown', () => subtle.digest('MD5', bytes('hello')));

  const mac = await secret({ name: 'HMAC', hash: 'SHA-256' }, ['sign', 'verify']);
  await attempt('hmac', () => subtle.sign('HMAC', mac, bytes('hello')));
  await attempt('hmac verify', async () => subtle.verify('HMAC', mac, await subtle.sign('HMAC', mac, bytes('a')), bytes('a')));
  await attempt('hmac other', async () => subtle.verify('HMAC', mac, await subtle.sign('HMAC', mac, bytes('a')), bytes('b')));
  await attempt('hmac raw', () => subtle.exportKey('raw', mac));
  await attempt('hmac type', () => [mac.type, mac.extractable, mac.algorithm.name, mac.algorithm.length, mac.usages]);

  const cbc = await secret('AES-CBC', ['encrypt', 'decrypt']);
  const iv = new Uint8Array(16).fill(1);
  await attempt('cbc', () => subtle.encrypt({ name: 'AES-CBC', iv }, cbc, bytes('hello')));
  await attempt('cbc back', async () => subtle.decrypt({ name: 'AES-CBC', iv }, cbc, await subtle.encrypt({ name: 'AES-CBC', iv }, cbc, bytes('hello'))));
  await attempt('cbc iv', () => subtle.encrypt({ name: 'AES-CBC', iv: key.slice(1) }, cbc, bytes('hello')));
  const ctr = await secret('AES-CTR', ['encrypt', 'decrypt']);
  await attempt('ctr', () => subtle.encrypt({ name: 'AES-CTR', counter: iv, length: 64 }, ctr, bytes('hello')));
  await attempt('ctr length', () => subtle.encrypt({ name: 'AES-CTR', counter: iv }, ctr, bytes('hello')));
  const gcm = await secret('AES-GCM', ['encrypt', 'decrypt']);
  const nonce = iv.slice(4);
  await attempt('gcm', () => subtle.encrypt({ name: 'AES-GCM', iv: nonce }, gcm, bytes('hello')));
  await attempt('gcm more', () => subtle.encrypt({ name: 'AES-GCM', iv: nonce, additionalData: bytes('x'), tagLength: 96 }, gcm, bytes('hello')));
  await attempt('gcm short', async () => subtle.decrypt({ name: 'AES-GCM', iv: nonce, tagLength: 96 }, gcm, await subtle.encrypt({ name: 'AES-GCM', iv: nonce, tagLength: 96 }, gcm, bytes('hello'))));
  await attempt('gcm broken', () => subtle.decrypt({ name: 'AES-GCM', iv: nonce }, gcm, new Uint8Array(40)));
  await attempt('gcm tag', () => subtle.encrypt({ name: 'AES-GCM', iv: nonce, tagLength: 7 }, gcm, bytes('hello')));
  await attempt('mismatch', () => subtle.encrypt({ name: 'AES-GCM', iv: nonce }, cbc, bytes('hello')));
  await attempt('unknown', () => subtle.encrypt({ name: 'XX' }, cbc, bytes('hello')));
  const once = await subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt']);
  await attempt('usage', () => subtle.decrypt({ name: 'AES-GCM', iv: nonce }, once, new Uint8Array(40)));
  await attempt('extractable', () => subtle.exportKey('raw', once));

  const password = await subtle.importKey('raw', bytes('password'), 'PBKDF2', false, ['deriveBits', 'deriveKey']);
  const pbkdf2 = { name: 'PBKDF2', hash: 'SHA-256', salt: bytes('salt'), iterations: 1000 };
  await attempt('pbkdf2', () => subtle.deriveBits(pbkdf2, password, 256));
  await attempt('pbkdf2 heavy', () => subtle.deriveBits({ ...pbkdf2, iterations: 20000 }, password, 128));
  await attempt('pbkdf2 key', async () => subtle.exportKey('raw', await subtle.deriveKey(pbkdf2, password, { name: 'AES-GCM', length: 256 }, true, ['encrypt'])));
  await attempt('pbkdf2 odd', () => subtle.deriveBits(pbkdf2, password, 9));
  await attempt('pbkdf2 none', () => subtle.deriveBits(pbkdf2, password, 0));

  await attempt('raw length', () => subtle.importKey('raw', key.slice(1), 'AES-CBC', true, ['encrypt']));
  await attempt('no usage', () => subtle.importKey('raw', key, 'AES-CBC', true, []));
  await attempt('wrong usage', () => subtle.importKey('raw', key, 'AES-CBC', true, ['sign']));
  await attempt('no hash', () => subtle.importKey('raw', key, 'HMAC', true, ['sign']));
  await attempt('format', () => subtle.importKey('zz', key, 'AES-CBC', true, ['encrypt']));
  await attempt('hkdf', () => subtle.importKey('raw', key, 'HKDF', true, ['deriveBits']));
  await attempt('generate', () => subtle.generateKey({ name: 'AES-CBC', length: 100 }, true, ['encrypt']));
  await attempt('curve', () => subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-1' }, true, ['sign']));
}
