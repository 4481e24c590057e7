// 64: group gives what its function gives and counts also if that throws
import { group } from 'k6';
export default function () {
  console.log(group('a', () => 5), group('b', function () { return [1]; }));
  try { group('c', () => { throw new Error('inside'); }); } catch (e) { console.log(e.message); }
  for (const bad of [() => group('d'), () => group('d', 5), () => group()]) {
    try { console.log(bad()); } catch (e) { console.log(e.name); }
  }
}
