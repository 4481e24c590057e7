// console.* prints values as k6 does
export default function () {
  console.log('a', 1, true, null, undefined);
  console.log({ a: 1, b: 'x', c: [1, 'x', null], d: { e: {} }, f: [] });
  console.log([undefined, null, () => 1, Symbol('s')]);
  console.log(new Date(0), new Error('boom'), [new Date(0)]);
  console.log(new Uint8Array([1, 255]), new Uint8Array([1, 255]).buffer);
  console.log(new Map([[1, 2]]), new Set([1]), /x/g, Promise.resolve(1));
  console.log(10n, -0, 1e21, 0.1 + 0.2, NaN, Infinity);
  console.log('%s %d', 'x', 1);
  const cycle = { name: 'c' };
  cycle.self = cycle;
  console.log(cycle);
  console.info('info');
  console.warn('warn');
  console.error('error');
  console.debug('debug');
  console.log();
  console.log('');
  console.log('line\nbreak');
  console.log(function named() {}, class A {}, Math.max);
  console.log(new (class Point { constructor() { this.x = 1; } })());
  console.log(JSON.stringify({ a: undefined, b: null, c: new Date(0) }));
  console.log(Object.create(null), new Number(5), new String('s'), new Boolean(false));
  console.log([[1, [2, [3]]]], [{ a: 1 }], { 'a-b': 1, 2: 3 });
  console.log(Symbol('top'), [1n], { s: Symbol('x'), f() {} });
  console.log(typeof console.table, typeof console.trace, Object.keys(console).sort().join());
}
