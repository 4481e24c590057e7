// A value that is assigned to a variable of the environment becomes text.
const own = 'ABCDEFQ'.split('');
__ENV.A = 5; __ENV.B = { x: 1 }; __ENV.C = null; __ENV.D = undefined; __ENV.E = [1, 2]; __ENV.F = true;
for (const k of own) console.log(k, typeof __ENV[k], __ENV[k]);
try { __ENV.O = { toString() { throw new Error('no text'); } }; } catch (e) { console.log(String(e)); }
delete __ENV.A;
Object.assign(__ENV, { Q: 1 });
console.log('A' in __ENV, typeof __ENV.Q, Object.keys(__ENV).filter((k) => k.length === 1 && own.includes(k)).sort().join());
console.log(Object.prototype.hasOwnProperty.call(__ENV, 'Q'), __ENV.hasOwnProperty('nope'), String(__ENV), JSON.parse(JSON.stringify(__ENV)).Q);
export default function () {
  __ENV.COUNT = Number(__ENV.COUNT || 0) + 1;
  console.log(typeof __ENV.COUNT, __ENV.COUNT, __ENV.Q);
}
export const options = { iterations: 2 };
