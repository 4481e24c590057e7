import { check } from 'k6';
type Fn = (...a: any[]) => any;
// ECMAScript
function logged(value: Fn, context: ClassMethodDecoratorContext) { return function (this: any, ...args: any[]) { console.log('call', String(context.name), context.kind, context.static, context.private); return value.call(this, ...args); }; }
function bound(_: Fn, { name, addInitializer }: ClassMethodDecoratorContext) { addInitializer(function (this: any) { this[name] = this[name].bind(this); }); }
const times = (n: number) => (_: undefined, ctx: ClassFieldDecoratorContext) => { fields.add(`${ctx.kind} ${String(ctx.name)}`); return (v: number) => v * n; };
function min(n: number) { return ({ set, get }: any, ctx: any) => ({ get(this: any) { return get.call(this); }, set(this: any, v: number) { if (v < n) throw new RangeError(`${ctx.name} below ${n}`); set.call(this, v); }, init(v: number) { return v + 100; } }); }
const registry: string[] = [];
const fields = new Set<string>();
function register(value: any, ctx: ClassDecoratorContext) { registry.push(ctx.name!); ctx.addInitializer(function (this: any) { this.ready = true; }); return class extends value { extra = 'e'; } as any; }
// TypeScript's older kind
function timed(target: any, key: string, descriptor: PropertyDescriptor) { const old = descriptor.value; descriptor.value = function (...a: any[]) { console.log('timed', key, typeof target); return old.apply(this, a); }; return descriptor; }
function tagged(tag: string) { return function (target: any, propertyKey: string) { (target.tags ??= {})[propertyKey] = tag; }; }
function upper(target: any, propertyKey: string) { let v: string; Object.defineProperty(target, propertyKey, { get: () => v, set: (x: string) => { v = x.toUpperCase(); }, configurable: true }); }
function sealed(constructor: Function) { Object.seal(constructor); Object.seal(constructor.prototype); }

@register @sealed
export class Page<T = string> {
  @tagged('id') public readonly id: number = 7;
  @upper name = 'ann';
  @times(3) @times(2) private count: number = 2;
  @times(5) static total = 4;
  @min(5) accessor age = 1;
  accessor plain: string = 'p';
  static accessor many = 2;
  static get twice() { return Page.many * 2; }
  @times(2)
  #secret = 21;
  constructor(private base: string) {}
  @logged
  @timed
  open(path: string): string { return this.base + path; }
  @logged static make(): Page { return new Page('m'); }
  @bound later() { return this.base; }
  @logged get full() { return `${this.name}:${this.count}:${this.#secret}`; }
  @logged async ['comp' + 'uted'](x: number) { await null; return x; }
  @logged *gen() { yield 1; }
}
const Expr = @sealed class { @times(10) v = 1; @logged m() { return this.v; } };
function scope() { @sealed class Inner { @times(2) x = 2 } return new Inner().x; }
abstract class Base { abstract a(): void; @logged protected hello<T>(x: T) { return x; } }
class Sub extends Base { a() {} @times(2) own = 4; hi() { return this.hello('hi'); } }
class M { @
  tagged(
    'multi'
  ) field = 1; @logged   method() { throw new Error('where'); } }
export default async function () {
  const p = new Page('/b');
  console.log([...fields].sort().join());
  console.log(p.open('/x'), (p as any).count, (Page as any).total, p.age, p.plain, (Page as any).ready, registry.join(), (p as any).extra, JSON.stringify((p as any).tags), p.name, p.full);
  const { later } = p; console.log(later());
  try { p.age = 2; } catch (e) { console.log(String(e)); } p.age = 50; console.log(p.age); p.plain = 'q'; console.log(p.plain);
  console.log((Page as any).make() instanceof Page, await (p as any).computed(4), [...p.gen()].join());
  const e = new Expr(); console.log(e.m(), Expr.name, scope(), new Sub().own, new Sub().hi());
  try { (class { @(5 as any) x() {} }); } catch (err) { console.log(String(err)); }
  try { new M().method(); } catch (error) { console.log(/s\.ts:46:42/.test((error as Error).stack!)); }
}
