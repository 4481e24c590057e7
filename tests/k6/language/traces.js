// Stack traces name functions and places as k6 does
class A { constructor(){ thrower('ctor'); } m(){ thrower('m'); } static s(){ thrower('static'); } get g(){ return thrower('get'); } #p(){thrower('private')} callp(){this.#p()} }
class B extends A {}
class C extends A { constructor(){ super(); } }
function thrower(w){ throw new Error(w); }
function Old(){ thrower('old'); }
const arrow = () => thrower('arrow');
const obj = { meth(){ thrower('meth'); }, f: function(){ thrower('f'); }, a: () => thrower('objarrow'), get x(){ return thrower('objget'); }, ['comp'+1]() { thrower('computed'); } };
async function af(){ await null; thrower('async'); }
function* gen(){ yield 1; thrower('gen'); }
const told = (e) => e.stack.split('\n').filter((l) => !l.includes('(native)')).join('\n').replace(/\(\d+\)/g, '');
const tried = (f) => { try { f(); } catch (e) { console.log(told(e)); } };
export default async function () {
  tried(() => new A()); tried(() => new C()); tried(() => new Old()); tried(arrow);
  tried(() => obj.meth()); tried(() => obj.f()); tried(() => obj.a()); tried(() => obj.x); tried(() => obj.comp1());
  tried(() => Object.create(A.prototype).m()); tried(() => A.s()); tried(() => Object.create(A.prototype).g);
  tried(() => { const g = gen(); g.next(); g.next(); });
  tried(function () { thrower('anon'); });
  tried(() => [1].map((x) => thrower('map'))); tried(() => [1].forEach(function each(x) { thrower('forEach'); }));
  tried(() => thrower.call(null, 'call')); tried(() => Reflect.apply(thrower, null, ['apply'])); 
  tried(() => JSON.stringify({ toJSON() { thrower('toJSON'); } })); tried(() => eval('thrower("eval")')); tried(() => new Function('throw new Error("Function")')());
  tried(() => [3, 1].sort((a, b) => thrower('sort'))); tried(() => 'a'.replace(/a/, () => thrower('replace')));
  tried(() => (() => thrower('iife'))()); tried(() => { const n = null; n.x; }); tried(() => undefinedName); tried(() => `${obj.x}`);
  await new Promise((ok, no) => { setTimeout(() => { try { thrower('timer'); } catch (e) { console.log(told(e)); ok(); } }, 1); });
  try { await Promise.resolve().then(() => thrower('then')); } catch (e) { console.log(told(e)); }
  try { await new Promise(() => thrower('executor')); } catch (e) { console.log(told(e)); }
}
