// 18: what setup returns goes through the host's JSON
export function setup() {
  return {
    u: undefined, n: null, d: new Date(0), d2: new Date(1500), t: new Uint8Array([1, 2]), b: new ArrayBuffer(2),
    m: new Map([['a', 1]]), s: new Set([1]), r: /x/, big: 5n, sym: Symbol('s'),
    p: new (class P { constructor() { this.x = 1; } })(), e: new Error('x'), arr: [undefined, 1, 'z'], z: -0, f: 1.5,
    nested: { a: { b: [1, { c: 2 }] } }, str: 'ä"\\\n', bool: true,
  };
}
export default function (data) {
  for (const key of Object.keys(data).sort()) console.log(key, JSON.stringify(data[key]));
}
