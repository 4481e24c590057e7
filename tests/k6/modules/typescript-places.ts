// Places of TypeScript, which k6 tells at the token behind them.
interface Told { text: string }
const lines: Told[] = [];
function tried(f: () => unknown): void {
  try {
    f();
  } catch (e) {
    const stack: string = (e as Error).stack ?? '';
    lines.push({ text: `${e} ${stack.split('\n').filter((l) => l.includes('file:')).map((l) => l.replace(/\(\d+\)/, '').replace(/file:.*\//, '')).slice(0, 2).join(' ')}` });
  }
}
class Shop<T> {
  constructor(private name: string) {}
  sell(what: T): never {
    throw new Error(`${this.name} has no ${what}`);
  }
}
declare function nope(...x: unknown[]): any;
export default function (): void {
  const nothing = undefined as any;
  tried(() => new Shop<string>('shop').sell('tea'));
  tried((): any => nothing.foo);
  tried((): any => nothing.foo());
  tried((): any => nope());
  tried((): any => nope(
    1,
    2,
  ));
  tried(function named(): any { throw 'text' as any; });
  tried((): any => JSON.parse('<' as string));
  tried(() => [1].map((x: any) => x.y.z));
  for (const line of lines) console.log(line.text);
}
