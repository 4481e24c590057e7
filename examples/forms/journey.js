// The journey through the demo target's form application, written by hand: nine steps, a new token at each, an upload.
// At the end the server's own count is compared. THINK=3 makes users think for about three seconds.

import http from 'k6/http';
import crypto from 'k6/crypto';
import { SharedArray } from 'k6/data';
import { check, fail, group, sleep } from 'k6';
import { Faces } from './faces.js';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const think = Number(__ENV.THINK || 0.1);
const users = new SharedArray('users', () => JSON.parse(open('../data/users.json')));
const picture = open('../data/dot.png', 'b');

export const options = {
  scenarios: {
    journeys: { executor: 'per-vu-iterations', vus: 5, iterations: 3 },
  },
  thresholds: { checks: ['rate==1'] },
};

const pause = () => sleep(think * (0.5 + Math.random()));

export function setup() {
  http.post(`${base}/_demo/reset`);
}

export default function () {
  const app = new Faces(base);
  const user = users[__VU % users.length];

  group('log in', () => {
    app.get('/app/login.xhtml');
    pause();
    const res = app.post('/app/login.xhtml', {
      form: 'form',
      'form:user': user.name,
      'form:password': 'secret',
      'form:submit': 'Log in',
    });
    check(res, { 'the orders come': (r) => r.html('h1').text() === 'Orders' });
  });
  pause();

  group('change an order', () => {
    const found = app.ajax('/app/orders.xhtml', {
      form: 'form',
      'form:filter': 'anvil',
      'form:search': 'Search',
    });
    const [, id] = /order\.xhtml\?id=(\d+)/.exec(found.body) ?? fail('no order was found');
    pause();
    // One name for all orders: else each id would be an entry of its own in the results.
    const order = app.get(`/app/order.xhtml?id=${id}`, { tags: { name: 'order' } });
    pause();
    const saved = app.post('/app/order.xhtml', {
      form: 'form',
      'form:version': order.html('input[name="form:version"]').val(),
      'form:quantity': '12',
      'form:note': 'as agreed',
      'form:save': 'Save',
    });
    check(saved, { 'the change is in the table': (r) => r.html(`tr:contains("${id}")`).text().endsWith('12') });
  });
  pause();

  group('upload', () => {
    app.get('/app/upload.xhtml');
    pause();
    const file = http.file(picture, 'dot.png', 'image/png');
    const fields = { form_field_1: user.name, form_field_2: 'a dot' };
    const res = app.upload('/app/upload.xhtml', 'form:file', file, fields);
    check(res, {
      'the file arrives byte for byte': (r) => r.body.includes(crypto.sha256(picture, 'hex')),
    });
  });
  pause();

  group('log out', () => {
    const res = app.post('/app/logout.xhtml', { logout: 'logout', 'logout:submit': 'Log out' });
    check(res, { 'the login comes': (r) => r.html('h1').text() === 'Log in' });
  });
}

export function teardown() {
  const stats = http.get(`${base}/_demo/stats`).json('forms');
  const { journeys, tokens } = stats;
  check(stats, {
    'the server saw each journey to its end': () => journeys.done > 0 && journeys.done === journeys.begun,
    'and refused no token': () => Object.values(tokens.refused).every((count) => count === 0),
  });
}
