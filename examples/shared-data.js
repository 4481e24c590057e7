// Data that all VUs share: each customer orders once, another scenario pays the orders, and a number belongs to one order. It runs over
// agents, too: brunt run --agents 2 shared-data.js

import http from 'k6/http';
import { check, sleep } from 'k6';
import { counter, queue, rows } from 'brunt/data';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

// Six rows. `whenEmpty` is what happens at the seventh: 'stop' ends the test, 'throw' the iteration, 'null' is for scripts that ask.
const customers = rows('customers', () => JSON.parse(open('./data/users.json')), {
  strategy: 'shuffle',
  whenEmpty: 'null',
});
const orders = queue('orders', { max: 100 });
const numbers = counter('numbers', { start: 1000 });
const paid = counter('paid');

export const options = {
  scenarios: {
    order: { executor: 'shared-iterations', exec: 'order', vus: 3, iterations: 8 },
    pay: { executor: 'per-vu-iterations', exec: 'pay', vus: 2, iterations: 1, maxDuration: '20s' },
  },
  thresholds: { checks: ['rate==1'] },
};

export function order() {
  const customer = customers.next();
  if (customer === null) return; // Two of the eight iterations find none left.
  const number = numbers.add();
  const res = http.post(`${base}/anything`, { customer: customer.name, number: `${number}` });
  check(res, { 'the order arrives': (r) => r.json('form.customer') === customer.name });
  orders.put({ customer: customer.name, number });
}

export function pay() {
  while (paid.value < customers.length) {
    const next = orders.take();
    if (next === null) {
      sleep(0.01);
      continue;
    }
    const res = http.post(`${base}/anything`, { pay: `${next.number}` });
    if (res.status === 200) paid.add();
    else orders.putBack(next); // Whoever comes next tries again.
  }
}

export function teardown() {
  check(null, {
    'all customers ordered, and all orders are paid': () =>
      numbers.value === 1006 && paid.value === 6 && orders.length === 0,
  });
}
