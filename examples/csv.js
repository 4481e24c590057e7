// Test data from a CSV file: shared by all VUs as objects, and read record by record.

import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';
import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

const file = await open('./data/cities.csv');
// One copy for all VUs, which can be read like an array.
const cities = await csv.parse(file, { asObjects: true });
// Each VU reads on its own, from the second line on.
const records = new csv.Parser(file, { skipFirstLine: true });

export const options = {
  vus: 2,
  iterations: 6,
  thresholds: { checks: ['rate==1'] },
};

export default async function () {
  const city = cities[exec.scenario.iterationInTest % cities.length];
  const res = http.post(`${base}/anything`, { city: city.name });
  const { done, value } = await records.next();
  check(res, {
    'the city arrives': (r) => r.json('form.city') === city.name,
    'a record has two fields': () => done || value.length === 2,
  });
}
