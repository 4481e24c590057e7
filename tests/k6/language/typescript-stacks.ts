// Where the stacks of TypeScript point to.
import { check } from 'k6';
interface Told { stack: string }
const places = (run: () => void): void => {
  try {
    run();
  } catch (error) {
    console.log((error as Told).stack.match(/\d+:\d+\(/g)!.join(' '));
  }
};
function inner<T>(value: T): void { throw new TypeError(String(value)); }
const outer = (value: number): void => { inner<number>(value); };

export default function (): void {
  places((): void => { throw new Error('a'); });
  places((): void => { outer(5); });
  places((): void => { const nothing: any = undefined; nothing.a.b; });
  places((): void => {
    check(
      1,
      { throws: (): boolean => { throw new Error('b'); } },
    );
  });
  places((): void => { JSON.parse('x'); });
}
