// Test data: one copy in memory for all VUs. JSON and CSV, both read with open().

import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';
import { SharedArray } from 'k6/data';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

const users = new SharedArray('users', () => JSON.parse(open('./data/users.json')));
const cities = new SharedArray('cities', () => {
  const [head, ...lines] = open('./data/cities.csv').trim().split('\n');
  const names = head.split(',');
  return lines.map((line) => {
    const values = line.split(',');
    return Object.fromEntries(names.map((name, at) => [name, values[at]]));
  });
});

export const options = {
  vus: 3,
  iterations: 12,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  // Each iteration of the whole test takes the next user: none twice until all were.
  const user = users[exec.scenario.iterationInTest % users.length];
  const city = cities[user.id % cities.length];
  const res = http.post(`${base}/anything`, { user: user.name, city: city.name });
  check(res, {
    'user and city arrive': (r) =>
      r.json('form.user') === user.name && r.json('form.city') === city.name,
    'the array is shared and read-only': () => users.length === 6,
  });
}
