// Exports of CommonJS are read when they are used; its namespace has the names that were there at the start
import value, { count, step, drop, spoil, reads, fragile, hidden, missing } from './lib/live.js';
import * as all from './lib/live.js';
import { again, count as through } from './lib/live-through.js';
import whole, { fresh, replace } from './lib/replaced.js';
import * as parts from './lib/replaced.js';

function tell(title, get) {
  let told;
  try {
    told = JSON.stringify(get());
  } catch (error) {
    told = `throws ${error}`;
  }
  console.log(title, told);
}
const both = () => [value, count, all.default, all.count, again, through];
const inner = (given = count) => given;

tell('at first', both);
tell('names', () => [Object.keys(all), 'default' in all, typeof missing, hidden, all.hidden]);
step();
tell('changed', both);
tell('forms', () => [{ count }, `${count}`, inner(), [...[count]], typeof count, all.late, 'late' in all]);
tell('getter', () => { const one = reads; return [reads - one, all.reads - one]; });
tell('described', () => Object.getOwnPropertyDescriptor(all, 'count'));
tell('fragile', () => [fragile, all.fragile]);
spoil();
tell('import', () => fragile);
tell('member', () => all.fragile);
tell('keys', () => Object.keys(all));
tell('in', () => 'fragile' in all);
drop();
tell('dropped', () => [typeof value, typeof count, typeof all.default, all.count, again, through, 'count' in all]);
replace();
tell('replaced', () => [fresh, parts.fresh, whole.fresh, Object.keys(parts)]);

export default function () {
  tell('in a VU', () => [typeof value, typeof count, fresh]);
}
