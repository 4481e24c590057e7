// Messages as JSON, both ways: every kind of field, and what does not fit.
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
client.load(['../../../crates/demo/proto'], 'brunt/demo.proto');
const sorted = (value) => {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  return `{${Object.keys(value).sort().map((key) => `${key}:${sorted(value[key])}`).join()}}`;
};

export default function () {
  client.connect(__ENV.DEMO_GRPC, { plaintext: true });
  const echo = (request) => client.invoke('brunt.demo.Echo/Unary', request).message;
  const empty = echo({});
  console.log(sorted(empty));
  const requests = [
    { aDouble: 1.5, aFloat: 0.1, anInt32: -5, anInt64: '9007199254740993', aUint32: 4294967295, aUint64: '18446744073709551615', aSint32: -1, aSint64: -1 },
    { aFixed32: 1, aFixed64: 2, anSfixed32: -3, anSfixed64: -4, aBool: true, aString: 'ä😀\n"', someBytes: 'AQID', kind: 'KIND_GOOD' },
    { inner: { label: 'l', size: 5, inner: {} }, numbers: [1, 2, 0], words: ['a', ''], kinds: [1, 'KIND_BAD', 7], inners: [{}, { size: '1' }] },
    { counts: { b: 1, a: 2, '': 0 }, byNumber: { 2: { label: 'x' }, '-1': {} }, byTruth: { true: 1, false: 'KIND_BAD' } },
    { left: '' }, { right: 0 }, { both: {} }, { left: 'a', right: 1 }, { maybe: 0 }, { otherName: 'a' }, { renamed: 'b' }, { a_string: 'snake' }, { aString: 'a', a_string: 'b' },
    { at: '2024-02-29T12:00:00.5Z' }, { at: '2024-02-29T12:00:00+01:00' }, { at: 'x' }, { at: 5 }, { took: '1.5s' }, { took: '-3s' }, { took: 'x' },
    { any: { '@type': 'type.googleapis.com/brunt.demo.Inner', label: 'in' } }, { any: { '@type': 'type.googleapis.com/google.protobuf.Duration', value: '1s' } },
    { any: { '@type': 'nope/x.Y' } }, { any: {} }, { any: { label: 'x' } }, { structure: { a: 1, b: [true, null, 'x', { c: 2 }] } }, { value: 5 }, { value: null },
    { value: [1, 'a'] }, { value: { a: {} } }, { list: [1, { a: 'b' }] }, { mask: 'aB,c.dE' }, { mask: '' }, { mask: 'a_b' }, { nothing: {} }, { nothing: { x: 1 } },
    { wrappedString: 'w' }, { wrappedInt64: '5' }, { wrappedBool: false }, { wrappedDouble: 2.5 }, { wrappedBytes: 'AQ==' }, { wrappedString: null }, { unpacked: [1, 2] }, { null: null },
    { aDouble: NaN }, { aDouble: Infinity }, { aFloat: -Infinity }, { aDouble: 'NaN' }, { aFloat: 1e300 }, { aDouble: '1e5' }, { aDouble: 1e21 }, { aDouble: 1e-7 }, { aFloat: 16777217 },
    { anInt32: 1.5 }, { anInt32: 1e3 }, { anInt32: '7' }, { anInt32: ' 7' }, { anInt32: 3e9 }, { anInt32: '1e2' }, { aUint32: -1 }, { anInt64: 1.5 }, { aBool: 'true' }, { aBool: 1 },
    { kind: 'NOPE' }, { kind: 77 }, { kind: 1.5 }, { kind: null }, { someBytes: '!!' }, { someBytes: 'AQI' }, { someBytes: '_-8' }, { someBytes: new Uint8Array([1, 2]) },
    { numbers: 5 }, { numbers: [null] }, { numbers: { a: 1 } }, { numbers: null }, { inner: 5 }, { inner: [] }, { inner: null }, { inners: [null] }, { counts: 5 }, { counts: { a: 'x' } },
    { counts: { a: null } }, { byNumber: { x: {} } }, { byTruth: { x: 1 } }, { words: [5] }, { inner: { nope: 1 } }, { inner: { inner: { label: 5 } } }, { aString: undefined },
    { toJSON() { return { aString: 'json' }; } }, { aString: new Date(0) }, { at: new Date(0) }, { '[x.y]': 1 },
  ];
  for (const request of requests) {
    const about = JSON.stringify(request);
    try {
      const message = echo(request);
      const kept = Object.keys(message).filter((key) => sorted(message[key]) !== sorted(empty[key]));
      console.log(about, sorted(Object.fromEntries(kept.map((key) => [key, message[key]]))));
    } catch (error) {
      console.log(about, error.message.replace(/\u00a0/g, ' '));
    }
  }
  client.close();
}
