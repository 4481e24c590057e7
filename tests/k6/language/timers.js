// Timers: order, arguments, clearing, nesting
import { setTimeout as later, clearTimeout as forget } from 'k6/timers';
export default function () {
  const seen = [], note = (x) => () => { seen.push(x); };
  setTimeout(note('b'), 20); setTimeout(note('a'), 5); setTimeout(note('zero')); setTimeout(note('neg'), -5);
  later((x, y) => seen.push(x + y), 1, 'ar', 'gs');
  forget(setTimeout(note('never'), 10)); clearTimeout(undefined); clearInterval(12345);
  let n = 0;
  const id = setInterval(() => { n += 1; seen.push(`i${n}`); if (n === 3) clearInterval(id); }, 8);
  Promise.resolve().then(note('micro'));
  setTimeout(() => setTimeout(note('nested'), 1), 30);
  setTimeout(() => console.log(seen.filter((s) => s !== 'i1' && s !== 'i2' && s !== 'i3').join(), n), 60);
  seen.push('sync');
}
