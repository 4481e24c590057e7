// Many VUs, with a SharedArray of 1 MB of JSON or without: what it adds to each.
import { SharedArray } from 'k6/data';
import { sleep } from 'k6';

const records =
  __ENV.SHARED === '1' ? new SharedArray('records', () => JSON.parse(open('./records.json'))) : [{ id: 0 }];

// Runs when all VUs are initialised.
export function setup() {
  console.log('READY ' + Date.now());
}

export default function () {
  const record = records[(__VU * 31) % records.length];
  if (record.id === undefined) throw new Error('a record has an id');
  sleep(1 + Math.random());
}
