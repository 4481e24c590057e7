// Two scenarios, nested groups, HTTP against the recorder's server, setup and teardown.
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Trend } from 'k6/metrics';

const trend = new Trend('my_trend');
const url = __ENV.URL;

export const options = {
  summaryTrendStats: ['avg', 'count', 'p(99.99)', 'max', 'med'],
  scenarios: {
    sc1: { executor: 'shared-iterations', vus: 1, iterations: 3, exec: 'one' },
    sc2: { executor: 'per-vu-iterations', vus: 2, iterations: 2, exec: 'two' },
  },
  thresholds: {
    http_req_duration: ['p(95)<500', 'p(90.5)<0.0001'],
    'http_req_duration{scenario:sc1}': ['max<10000'],
    'http_req_duration{scenario:sc1,status:200}': ['max<10000'],
    'http_reqs{status:404}': ['count>=0'],
    http_req_failed: ['rate<0.1'],
    data_received: ['count>0', 'rate>1'],
  },
};

export function setup() {
  http.get(url + '/setup');
  check(1, { 'in setup': true });
  return { a: 1 };
}

export function one() {
  check(http.get(url + '/'), { 'is 200': (r) => r.status == 200 });
}

export function two() {
  group('G1', () => {
    trend.add(1.5);
    group('G2', () => {
      check(http.get(url + '/missing'), { 'is one': true, 'is two': false });
      trend.add(1.5);
      group('G3', () => {
        check(1, { deepest: __ITER == 0 });
        sleep(0.4);
      });
    });
  });
  group('Empty', () => {});
  sleep(0.2);
}

export function teardown() {
  group('tear', () => {
    http.get(url + '/teardown');
    check(1, { 'in teardown': true });
  });
}
