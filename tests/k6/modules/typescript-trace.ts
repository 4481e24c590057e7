// A stack trace of a TypeScript file shows the author's lines
interface A { x: number }
enum E { One }
function inner(a: A): never { throw new Error(`boom ${a.x} ${E.One}`); }
export default function (): void {
  inner({ x: 1 });
}
