// Globals of the language that scripts use
export default function () {
  const names = 'Array ArrayBuffer BigInt Boolean DataView Date Error EvalError Float32Array Float64Array Function GoError Infinity Int16Array Int32Array Int8Array JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet AggregateError decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval isFinite isNaN parseFloat parseInt unescape globalThis'.split(' ');
  for (const k of names) console.log(k, typeof globalThis[k]);
}
