// A key of an elliptic curve is of the curve that it says, whichever importKey was asked for
const { subtle } = crypto;
const message = new Uint8Array(4);
const how = { name: 'ECDSA', hash: 'SHA-256' };

export default async function () {
  for (const from of ['P-256', 'P-384', 'P-521']) {
    const { privateKey, publicKey } = await subtle.generateKey({ name: 'ECDSA', namedCurve: from }, true, ['sign', 'verify']);
    for (const to of ['P-256', 'P-384', 'P-521', 'P-999']) {
      for (const [format, key] of [['jwk', privateKey], ['pkcs8', privateKey], ['jwk', publicKey], ['spki', publicKey]]) {
        const usage = key.type === 'private' ? 'sign' : 'verify';
        const read = await subtle.importKey(format, await subtle.exportKey(format, key), { name: 'ECDSA', namedCurve: to }, true, [usage]);
        const again = await subtle.exportKey('jwk', read);
        const [signer, verifier] = usage === 'sign' ? [read, publicKey] : [privateKey, read];
        const signature = await subtle.sign(how, signer, message);
        console.log(from, to, format, key.type, again.crv, signature.byteLength, await subtle.verify(how, verifier, signature, message));
      }
      if (to !== from) {
        const point = await subtle.exportKey('raw', publicKey);
        const refused = await subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: to }, true, ['verify']).then(() => 'read', (error) => error.name);
        console.log(from, to, 'raw', refused);
      }
    }
  }
}
