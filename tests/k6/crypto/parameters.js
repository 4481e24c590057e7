// Answers of Web Crypto to parameters that are missing, odd or for another algorithm.
const subtle = crypto.subtle;
const bytes = (size) => new Uint8Array(size).map((_, i) => i);
const hex = (data) => Array.from(new Uint8Array(data)).map((byte) => byte.toString(16).padStart(2, '0')).join('');

async function attempt(what, ask) {
  try {
    const got = await ask();
    console.log(what, got instanceof ArrayBuffer ? hex(got) : JSON.stringify(got));
  } catch (error) {
    console.log(what, error.name, error.message);
  }
}

const tell = (key) => [key.type, key.extractable, key.algorithm.name, key.algorithm.length, key.usages];

export default async function () {
  const text = bytes(5);
  for (const name of [5, undefined, '', 'x']) await attempt(`digest ${name}`, () => subtle.digest({ name }, text));
  await attempt('digest 0', () => subtle.digest(0, text));

  for (const wanted of [['sign'], [], undefined, ['encrypt', 'encrypt'], ['nothing']]) {
    await attempt(`import ${wanted}`, async () => tell(await subtle.importKey('raw', bytes(16), 'AES-CBC', true, wanted)));
    await attempt(`make ${wanted}`, async () => tell(await subtle.generateKey({ name: 'AES-CBC', length: 128 }, true, wanted)));
  }
  for (const data of [undefined, null, 'abc', {}]) {
    await attempt(`import of ${data}`, () => subtle.importKey('raw', data, 'AES-CBC', true, ['encrypt']));
  }
  for (const length of [undefined, 0, 8, 128, 129]) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256', length };
    await attempt(`hmac of ${length}`, async () => tell(await subtle.importKey('raw', bytes(16), algorithm, true, ['sign'])));
  }
  await attempt('no length', () => subtle.generateKey({ name: 'AES-GCM' }, true, ['encrypt']));
  for (const name of ['ECDSA', 'ECDH']) {
    for (const wanted of [[], ['encrypt']]) {
      await attempt(`${name} ${wanted}`, () => subtle.generateKey({ name, namedCurve: 'P-256' }, true, wanted));
    }
  }
  const rsa = { name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
  await attempt('RSA for nothing', () => subtle.generateKey(rsa, true, []));

  const cbc = await subtle.importKey('raw', bytes(16), 'AES-CBC', true, ['encrypt', 'decrypt']);
  await attempt('iv of text', () => subtle.encrypt({ name: 'AES-CBC', iv: 'abcdefghijklmnop' }, cbc, text));
  await attempt('no iv', () => subtle.encrypt({ name: 'AES-CBC' }, cbc, text));
  await attempt('no name', () => subtle.encrypt({}, cbc, text));
  for (const data of [undefined, null, 'abc', 5]) {
    await attempt(`encrypt ${data}`, () => subtle.encrypt({ name: 'AES-CBC', iv: bytes(16) }, cbc, data));
  }
  const gcm = await subtle.importKey('raw', bytes(16), 'AES-GCM', true, ['encrypt']);
  for (const tagLength of [0, 32, 64, 96, 97, 128, 129, 'x']) {
    await attempt(`tag of ${tagLength}`, () => subtle.encrypt({ name: 'AES-GCM', iv: bytes(12), tagLength }, gcm, text));
  }
  await attempt('more of text', () => subtle.encrypt({ name: 'AES-GCM', iv: bytes(12), additionalData: 'x' }, gcm, text));
  const ctr = await subtle.importKey('raw', bytes(16), 'AES-CTR', true, ['encrypt']);
  for (const length of [undefined, 0, 1, 64, 128, 129, -1, 'x', '64']) {
    const counter = new Uint8Array(16).fill(255);
    await attempt(`counter of ${length}`, () => subtle.encrypt({ name: 'AES-CTR', counter, length }, ctr, bytes(40)));
  }
  const password = await subtle.importKey('raw', bytes(8), 'PBKDF2', false, ['deriveBits']);
  await attempt('salt of text', () => subtle.deriveBits({ name: 'PBKDF2', salt: 'abc', iterations: 10, hash: 'SHA-256' }, password, 64));
}
