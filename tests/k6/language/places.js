// Errors of the language stand where k6 puts them: calls at their bracket, what is read of nothing at the last thing before it.
const o = {}, a = [], s = 'x', n = null;
let u, y = 0;
const all = [
  () => u.bar(), () => { y = 1; u.bar(y); }, () => o.foo.bar(), () => o.foo.bar.baz(), () => { y = [u.bar()]; }, () => s.foo.bar().baz(),
  () => o
    .foo
    .bar(),
  () => nope(), () => nope(1, y), () => nope, () => new nope(), () => `${nope}`, () => ({ nope }), () => ({ nope: nope }), () => typeof nope.x,
  () => u.x, () => o.x.y, () => o['x'].y, () => u[0], () => u[s], () => o[s][s], () => o[s].x(), () => a[0](), () => a[0].x, () => o[s](),
  () => { const { q } = u; return q; }, () => { const { q } = o.x; return q; }, () => { const { q: { r } } = o; return r; }, () => { const { q: { r } } = { q: 1, w: n }.z; return r; },
  () => { const { q: { r } } = {}; return r; }, () => { const [q] = u; return q; }, () => { const [q] = o.x; return q; }, () => { const [[q]] = [5]; return q; },
  () => { let q; ({ q } = u); return q; }, () => { let q; [q] = u; return q; }, () => (({ q }) => q)(u), () => { const { q } = o.f(); return q; },
  () => { u.x = 1; }, () => { o.x.y = 1; }, () => { o.x[s] = 1; }, () => y + o.a.b, () => 'é' + o.f(), () => '日本' + u.x,
  () => Error('called').foo.bar, () => { throw Error('called'); }, () => { throw new Error('made'); }, () => { throw TypeError('called'); },
  () => 'a'.replace(/a/, () => nope()), () => [...'ab'].map((x) => x.y.z), () => JSON.stringify({ toJSON() { return nope(); } }),
];
const told = (e) => `${e} ${String(e.stack).split('\n').filter((l) => /^\tat /.test(l)).map((l) => l.replace(/\(\d+\)/, '').replace(/file:.*\//, '').replace(/at [\w.$/]+\.(\w+) \(native\)/, 'at $1 (native)')).slice(0, 3).join(' ')}`;
export default async function () {
  for (const f of all) {
    try { console.log('returned', f()); } catch (e) { console.log(told(e)); }
  }
  try { await new Promise(() => { throw new Error('executor'); }); } catch (e) { console.log(told(e)); }
}
