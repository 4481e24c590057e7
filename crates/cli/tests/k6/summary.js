// Something of everything that a summary can show. The text that k6 1.8.1 printed for it, with numbers masked,
// lies beside this file; the test `out_summary` compares.
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const base = __ENV.DEMO_URL;
const counter = new Counter('my_counter');
const seconds = new Counter('my_counter_time', true);
const gauge = new Gauge('my_gauge');
const moment = new Gauge('my_gauge_time', true);
const rate = new Rate('my_rate');
const trend = new Trend('my_trend');
const times = new Trend('my_trend_time', true);
const prefixed = new Counter('http_reqs_mine');
const hidden = new Counter('checks_mine');
new Counter('never_used');

export const options = {
  scenarios: {
    first: { executor: 'per-vu-iterations', vus: 2, iterations: 2, exec: 'first', tags: { kind: 'x' } },
    second: { executor: 'shared-iterations', vus: 1, iterations: 2, exec: 'second', startTime: '300ms' },
    ticking: { executor: 'constant-vus', vus: 1, duration: '1300ms', exec: 'tick' },
  },
  thresholds: {
    http_req_duration: ['p(95)<60000', 'avg>100000'],
    'http_req_duration{kind:x}': ['max<60000', 'p(42)<60000'],
    'http_req_failed{nope:1}': ['rate<0.1'],
    my_counter: ['count>1', 'rate<0.001'],
    my_rate: ['rate>0.9'],
    my_gauge: ['value<100'],
    checks: ['rate>0.1'],
    'checks{kind:x}': ['rate>0.1'],
    never_used: ['count<1'],
    'http_reqs_mine{a:b}': ['count<5'],
  },
};

export function setup() {
  http.get(`${base}/ping`);
}

export function first() {
  group('outer', () => {
    check(1, { 'holds': (v) => v === 1, 'never holds': (v) => v === 2 });
    group('in ner', () => {
      const res = http.get(`${base}/ping`);
      check(res, { 'status ok': (r) => r.status === 200, 'holds': () => __ITER === 0 });
      trend.add(1.5);
    });
  });
  counter.add(3.25);
  seconds.add(1234.5);
  gauge.add(7);
  moment.add(1500);
  rate.add(true);
  times.add(0.0005);
  times.add(100000);
}

export function second() {
  group('other', () => check(null, { 'is null': (v) => v === null }));
  rate.add(0);
  prefixed.add(1);
  hidden.add(1);
}

export function tick() {
  sleep(0.2);
}

export function teardown() {
  group('last', () => check(1, { 'at the end': () => true }));
}
