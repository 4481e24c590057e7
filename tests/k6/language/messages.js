// Messages of errors of the language.
const cases = [
  () => JSON.parse('{x'), () => JSON.parse('{ ]'), () => JSON.parse('{1:2}'), () => JSON.parse('{"a":1,x}'), () => JSON.parse('{"a":1,}'), () => JSON.parse('{"a" 1}'), () => JSON.parse('[1 2]'), () => JSON.parse("{'a':1}"), () => JSON.parse('{'),
  () => [...undefined], () => [...null], () => Math.max(...undefined), () => Array.from(null), () => Array.from(undefined), () => new Set(5), () => new Map(5),
  () => (1).toFixed(101), () => (1).toFixed(-1), () => 'a'.normalize('x'), () => 1 in 'x', () => 1 in 5, () => 1 instanceof 5, () => 'a' instanceof 'b',
];
export default function () {
  for (const f of cases) {
    try { console.log('returned', f()); } catch (error) { console.log(error.name, '|', error.message); }
  }
  throw Symbol('thrown');
}
