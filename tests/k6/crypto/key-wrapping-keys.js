// Keys of AES-KW can be made, read and written; nothing is wrapped with them
const { subtle } = crypto;
const bytes = new Uint8Array(16).fill(7);

async function tell(name, run) {
  try {
    const key = await run();
    console.log(name, key.algorithm ? [key.type, key.algorithm.name, key.usages].join() : JSON.stringify(key));
  } catch (e) {
    console.log(name, e.name, e.message);
  }
}

export default async function () {
  for (const usages of [['wrapKey'], ['unwrapKey', 'wrapKey'], ['encrypt'], ['sign'], []]) {
    await tell(`read ${usages}`, () => subtle.importKey('raw', bytes, 'AES-KW', true, usages));
    await tell(`make ${usages}`, () => subtle.generateKey({ name: 'AES-KW', length: 128 }, true, usages));
  }
  await tell('size', () => subtle.importKey('raw', bytes.slice(1), 'AES-KW', true, ['wrapKey']));
  const key = await subtle.importKey('raw', bytes, { name: 'AES-KW' }, true, ['wrapKey']);
  await tell('encrypt', () => subtle.encrypt('AES-KW', key, bytes));
  for (const [name, curve] of [['ECDH', 'P-256'], ['ECDSA', 'P-384']]) {
    await tell(`point of ${name}`, () => subtle.importKey('raw', bytes, { name, namedCurve: curve }, true, []));
  }
}
