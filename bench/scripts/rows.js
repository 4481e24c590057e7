// The cost of `next()` of `brunt/data`, a row, beside reading an element of a SharedArray, and of the other calls of the module.
//
//   brunt run -q --no-summary --log-format raw [--vus 2 --iterations 2] bench/scripts/rows.js
import { SharedArray } from 'k6/data';
import { counter, queue, rows } from 'brunt/data';

const TIMES = 200000;
const table = new SharedArray('table', () => Array.from({ length: 1000 }, (_, id) => ({ id, name: `user ${id}` })));
const texts = new SharedArray('texts', () => Array.from({ length: 1000 }, (_, id) => `user ${id}`));
const circular = { strategy: 'circular' };
const given = {
  'rows of objects, circular': rows('objects', table, circular),
  'rows of texts, circular': rows('texts', texts, circular),
  'rows of texts, random': rows('random', texts, { strategy: 'random' }),
};
const numbers = counter('numbers');
const jobs = queue('jobs', { max: TIMES * 10 });

function time(what, call) {
  const start = Date.now();
  for (let n = 0; n < TIMES; n++) call(n);
  console.log(`${what}: ${Math.round(((Date.now() - start) * 1e6) / TIMES)} ns`);
}

export default function () {
  time('an empty function', () => {});
  time('SharedArray, an object', (n) => table[n % 1000]);
  time('SharedArray, a text', (n) => texts[n % 1000]);
  for (const [name, feed] of Object.entries(given)) time(name, () => feed.next());
  time('counter, add()', () => numbers.add());
  time('queue, put() of a small object', (n) => jobs.put({ n }));
  time('queue, take()', () => jobs.take());
}
