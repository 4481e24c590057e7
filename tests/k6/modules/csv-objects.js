// Records of csv.parse() as objects: the order of their keys. seek() counts from the last byte.
import csv from 'k6/experimental/csv';
import { open, SeekMode } from 'k6/experimental/fs';

const file = await open('csv-objects.csv');
const records = await csv.parse(file, { asObjects: true });
const plain = await open('csv-objects.csv');

export default async function () {
  console.log(JSON.stringify(records), Object.keys(records[1]).join(), records[1].mango);
  const { size } = await plain.stat();
  for (const [offset, whence] of [[0, SeekMode.End], [-2, SeekMode.End], [1 - size, SeekMode.End], [-size, SeekMode.End], [2, SeekMode.Start], [1, SeekMode.Current]]) {
    try {
      console.log(size - (await plain.seek(offset, whence)));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}
