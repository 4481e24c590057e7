// Records of CSV files: ends of lines, quotes, byte order marks, and where a file breaks the rules
import csv from 'k6/experimental/csv';
import { open } from 'k6/experimental/fs';

const names = ['ends', 'quotes', 'mark', 'marked-quote', 'bare', 'after', 'doubled', 'far', 'open', 'open-line', 'open-lines', 'one-quote', 'open-return', 'late', 'fewer', 'more', 'nothing', 'empty-lines'];
const parsers = {};
for (const name of names) parsers[name] = new csv.Parser(await open(`csv/${name}.csv`));

const whole = [];
for (const name of ['ends', 'bare', 'open-lines', 'fewer', 'nothing']) {
  try {
    const records = await csv.parse(await open(`csv/${name}.csv`));
    whole.push(`parse ${name} ${JSON.stringify(records)}`);
  } catch (error) {
    whole.push(`parse ${name} ${error.name} ${error.message}`);
  }
}

export default async function () {
  for (const name of names) {
    try {
      for (;;) {
        const { done, value } = await parsers[name].next();
        if (done) break;
        console.log(name, JSON.stringify(value));
      }
    } catch (error) {
      console.log(name, error.message || error);
    }
    console.log(name, 'is over');
  }
  for (const line of whole) console.log(line);
}
