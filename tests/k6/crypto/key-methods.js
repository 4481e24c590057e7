// Methods of k6's own that are listed when a script prints a key or a pair of keys
export default async function () {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt']);
  console.log(key);
  console.log(Object.keys(key).join(), JSON.stringify(key));
  const found = Object.getOwnPropertyDescriptor(key, 'validate');
  console.log(found.enumerable, found.configurable, found.writable, typeof found.value);
  console.log(key.containsUsage('encrypt'), key.containsUsage('sign'), key.isKeyPair(), key.resolveCryptoKey() === key, key.validate());
  try {
    key.resolveCryptoKeyPair();
  } catch (error) {
    console.log(String(error));
  }
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  console.log(Object.keys(pair).join(), pair.isKeyPair(), pair.resolveCryptoKeyPair() === pair);
  try {
    pair.resolveCryptoKey();
  } catch (error) {
    console.log(String(error));
  }
}
