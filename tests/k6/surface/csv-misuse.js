// k6/experimental/csv: values that are no files, and what else cannot be read
import csv from 'k6/experimental/csv';
import { open as openFile } from 'k6/experimental/fs';

async function tell(name, run) {
  try {
    const made = await run();
    if (__VU === 0) console.log(name, JSON.stringify(made));
  } catch (e) {
    if (__VU === 0) console.log(name, 'threw', e.name, e.message);
  }
}

const file = await openFile('../modules/csv-objects.csv');
const things = { nothing: undefined, null: null, ascii: 'a,b', unicode: 'ä,b', number: 5, fraction: 1.5, bool: true, object: {}, promise: Promise.resolve(), big: 5n };
for (const [name, thing] of Object.entries(things)) {
  await tell(`parse ${name}`, () => csv.parse(thing));
  await tell(`Parser ${name}`, () => new csv.Parser(thing));
}
await tell('a text', () => csv.parse(open('../modules/csv-objects.csv')));
for (const options of [undefined, null]) {
  await tell('options', () => csv.parse(file, options));
}
for (const delimiter of ['"', '\n', 'é', 'ab']) await tell('delimiter', () => csv.parse(file, { delimiter }));

export default function () {}
