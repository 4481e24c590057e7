// 139: the elements of a SharedArray are parsed and frozen at each access
import { SharedArray } from 'k6/data';
const a = new SharedArray('mine', () => [{ x: 1, deep: { y: [1] } }, 2, 'three']);
const tried = (f) => { try { return f(); } catch (e) { return e.name; } };
const bad = [() => new SharedArray('', () => []), () => new SharedArray('b', () => 5), () => new SharedArray('c'), () => new SharedArray('d', async () => [])].map((f) => tried(() => typeof f()));
export default function () {
  console.log(a.length, a[0] === a[0], a[0].x, a[5], Array.isArray(a), JSON.stringify(a), [...a].length, 0 in a);
  console.log(a.map((v) => typeof v).join(), a.filter((v) => v === 2).length, a.indexOf('three'), a.slice(1).join(), a.find((v) => v.x).x);
  console.log(tried(() => { a[0] = 1; return 'set'; }), tried(() => a.push(1)), tried(() => { a[0].x = 2; return a[0].x; }), tried(() => { delete a[0]; return 'deleted'; }));
  console.log(bad.join(), tried(() => typeof new SharedArray('late', () => [])), Object.keys(a).join());
  for (const v of a) console.log(v);
}
