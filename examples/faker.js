// Made-up users: each iteration sends another one, and a seed sends the same ones again.

import http from 'k6/http';
import faker, { Faker } from 'k6/x/faker';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

// `brunt run -e XK6_FAKER_SEED=11` makes the default export repeat itself; so does a Faker with a seed of its own.
const products = new Faker(11);

export const options = {
  iterations: 3,
  thresholds: {
    checks: ['rate==1'],
  },
};

export default function () {
  const user = {
    name: faker.person.name(),
    email: faker.person.email(),
    city: faker.address.city(),
    password: faker.internet.password(true, true, true, false, false, 16),
  };
  const order = { ...products.product.product(), note: products.word.sentence(6) };
  const res = http.post(`${base}/anything/users`, JSON.stringify({ user, order }), {
    headers: { 'Content-Type': 'application/json' },
  });
  check(res, { 'it was taken': (r) => r.status === 200 });
}
