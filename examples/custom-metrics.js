// The four kinds of metrics, filled by the script itself.

import http from 'k6/http';
import { check } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

const items = new Counter('items_seen');
const price = new Gauge('last_price');
const cheap = new Rate('cheap_items');
const server = new Trend('server_time', true);

export const options = {
  vus: 2,
  iterations: 10,
  thresholds: {
    items_seen: ['count==100'],
    last_price: ['value>0'],
    cheap_items: ['rate>0.1', 'rate<0.9'],
    server_time: ['p(95)<200'],
    'server_time{route:json}': ['max<1000'],
  },
};

export default function () {
  const res = http.get(`${base}/json?n=10`);
  check(res, { 'status is 200': (r) => r.status === 200 });
  for (const item of res.json('items')) {
    items.add(1);
    price.add(item.price);
    cheap.add(item.price < 50);
  }
  // The time of the server, beside our own measurement: Server-Timing: …, total;dur=0.12
  const total = /total;dur=([\d.]+)/.exec(res.headers['Server-Timing']);
  if (total) server.add(Number(total[1]), { route: 'json' });
}
