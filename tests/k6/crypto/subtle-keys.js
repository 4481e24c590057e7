// crypto.subtle: keys of each kind through each of their formats.
const { subtle } = crypto;
const data = new Uint8Array([1, 2, 3]);
async function attempt(what, run) {
  try {
    const made = await run();
    console.log(what, made instanceof ArrayBuffer ? made.byteLength : JSON.stringify(made));
  } catch (error) {
    console.log(what, 'rejects', error.name);
  }
}
const sorted = (jwk) => Object.keys(jwk).sort().join();

export default async function () {
  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    const ecdsa = { name: 'ECDSA', namedCurve };
    const pair = await subtle.generateKey(ecdsa, true, ['sign', 'verify']);
    const { privateKey, publicKey } = pair;
    await attempt('usages', () => [privateKey.type, privateKey.usages, publicKey.type, publicKey.usages]);
    const hashed = { name: 'ECDSA', hash: 'SHA-256' };
    const signature = await subtle.sign(hashed, privateKey, data);
    await attempt('signature', () => signature);
    const point = await subtle.exportKey('raw', publicKey);
    await attempt('raw', () => point);
    await attempt('again raw', async () => subtle.verify(hashed, await subtle.importKey('raw', point, ecdsa, true, ['verify']), signature, data));
    const spki = await subtle.exportKey('spki', publicKey);
    await attempt('spki', () => spki);
    await attempt('again spki', async () => subtle.verify(hashed, await subtle.importKey('spki', spki, ecdsa, true, ['verify']), signature, data));
    const pkcs8 = await subtle.exportKey('pkcs8', privateKey);
    await attempt('pkcs8', () => pkcs8);
    const again = await subtle.importKey('pkcs8', pkcs8, ecdsa, true, ['sign']);
    await attempt('again pkcs8', async () => subtle.verify(hashed, publicKey, await subtle.sign(hashed, again, data), data));
    await attempt('jwk', async () => sorted(await subtle.exportKey('jwk', privateKey)));
    await attempt('other data', () => subtle.verify(hashed, publicKey, signature, new Uint8Array(3)));
    await attempt('private raw', () => subtle.exportKey('raw', privateKey));
    await attempt('wrong key', () => subtle.sign(hashed, publicKey, data));

    const ecdh = { name: 'ECDH', namedCurve };
    const [a, b] = [await subtle.generateKey(ecdh, true, ['deriveBits']), await subtle.generateKey(ecdh, true, ['deriveBits'])];
    const [x, y] = [
      new Uint8Array(await subtle.deriveBits({ name: 'ECDH', public: b.publicKey }, a.privateKey, 128)),
      new Uint8Array(await subtle.deriveBits({ name: 'ECDH', public: a.publicKey }, b.privateKey, 128)),
    ];
    await attempt('agreed', () => x.length === 16 && x.every((byte, i) => byte === y[i]));
    await attempt('too long', () => subtle.deriveBits({ name: 'ECDH', public: b.publicKey }, a.privateKey, 800));
    await attempt('private', () => subtle.deriveBits({ name: 'ECDH', public: b.privateKey }, a.privateKey, 128));
  }
  for (const name of ['RSA-OAEP', 'RSA-PSS', 'RSASSA-PKCS1-v1_5']) {
    const usages = name === 'RSA-OAEP' ? ['encrypt', 'decrypt'] : ['sign', 'verify'];
    const algorithm = { name, modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: { name: 'SHA-256' } };
    const { privateKey, publicKey } = await subtle.generateKey(algorithm, true, usages);
    await attempt(name, () => [privateKey.usages, publicKey.usages, publicKey.algorithm.modulusLength, publicKey.algorithm.hash.name]);
    await attempt('jwk', async () => sorted(await subtle.exportKey('jwk', privateKey)));
    await attempt('public jwk', async () => sorted(await subtle.exportKey('jwk', publicKey)));
    const spki = await subtle.exportKey('spki', publicKey);
    await attempt('spki', () => spki);
    const pkcs8 = await subtle.exportKey('pkcs8', privateKey);
    const imported = { name, hash: 'SHA-256' };
    const own = await subtle.importKey('pkcs8', pkcs8, imported, false, [usages[name === 'RSA-OAEP' ? 1 : 0]]);
    const other = await subtle.importKey('spki', spki, imported, true, [usages[name === 'RSA-OAEP' ? 0 : 1]]);
    if (name === 'RSA-OAEP') {
      const label = new Uint8Array([255, 254]);
      const sealed = await subtle.encrypt({ name, label }, other, data);
      await attempt('sealed', () => sealed);
      await attempt('opened', () => subtle.decrypt({ name, label }, own, sealed));
      await attempt('no label', () => subtle.decrypt({ name }, own, sealed));
      await attempt('too long', () => subtle.encrypt({ name }, other, new Uint8Array(100)));
    } else {
      const scheme = { name, saltLength: 32 };
      const signature = await subtle.sign(scheme, own, data);
      await attempt('signature', () => signature);
      await attempt('verified', () => subtle.verify(scheme, other, signature, data));
      await attempt('not verified', () => subtle.verify(scheme, other, signature, new Uint8Array(3)));
      await attempt('extractable', () => subtle.exportKey('pkcs8', own));
    }
    await attempt('raw', () => subtle.exportKey('raw', publicKey));
    await attempt('junk', () => subtle.importKey('spki', data, imported, true, []));
  }
}
