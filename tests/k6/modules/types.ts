// TypeScript: enums, namespaces, generics, parameter properties, satisfies
import http from 'k6/http';
import { Options } from 'k6/options';
import type { Thing } from './lib/thing.ts';
import { make } from './lib/thing.ts';
export const options: Options = { vus: 1, iterations: 1 };
enum Color { Red, Green = 5, Blue }
const enum Flat { A = 'a' }
namespace Space { export const inner = 3; export function f<T>(x: T): T { return x; } }
abstract class Animal { constructor(public name: string, private readonly age = 2) {} abstract noise(): string; get info(): string { return `${this.name} ${this.age}`; } }
class Dog extends Animal { noise(): string { return 'wuff'; } declare extra: number; override get info() { return super.info + '!'; } }
function over(a: string): string; function over(a: number): number; function over(a: any): any { return a; }
const t: Thing = make('x') as Thing, s = { a: 1 } satisfies Record<string, number>;
const id = <T,>(x: T): T => x;
export default function (data?: unknown): void {
  console.log(Color.Blue, Color[5], Flat.A, Space.inner, Space.f('g'), new Dog('rex').info, new Dog('b').noise());
  console.log(over(4), t.label!, s.a, id<number>(7), (data as any) === undefined, typeof http.get, typeof data);
}
