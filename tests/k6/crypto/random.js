// The global crypto: random values and UUIDs.
export default function () {
  const array = new Uint32Array(8);
  console.log(crypto.getRandomValues(array) === array, array.some((n) => n !== 0));
  console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()));
  for (const wrong of [new Float32Array(1), new Uint8Array(70000), 5]) {
    try { crypto.getRandomValues(wrong); } catch (error) { console.log(error.name, error.message.split(':')[0]); }
  }
  console.log(Object.keys(crypto.subtle).join(), typeof CryptoKey);
}
