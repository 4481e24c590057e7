// Several workloads in one test, each with its own executor, function, start and tags.

import http from 'k6/http';
import exec from 'k6/execution';
import { check, sleep } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    // Open model: 20 requests a second, whatever the answers take.
    readers: {
      executor: 'constant-arrival-rate',
      rate: 20,
      timeUnit: '1s',
      duration: '3s',
      preAllocatedVUs: 5,
      exec: 'read',
    },
    // Closed model: users come and go.
    browsers: {
      executor: 'ramping-vus',
      startVUs: 0,
      stages: [
        { duration: '1s', target: 3 },
        { duration: '1s', target: 0 },
      ],
      gracefulRampDown: '1s',
      exec: 'browse',
    },
    // A fixed amount of work, shared.
    writers: {
      executor: 'shared-iterations',
      vus: 2,
      iterations: 6,
      startTime: '500ms',
      exec: 'write',
      env: { NAME: 'renamed' },
      tags: { kind: 'write' },
    },
    // The same amount of work for each.
    auditors: {
      executor: 'per-vu-iterations',
      vus: 2,
      iterations: 3,
      maxDuration: '4s',
      exec: 'read',
    },
  },
  thresholds: {
    checks: ['rate==1'],
    'iterations{scenario:writers}': ['count==6'],
    'iterations{scenario:auditors}': ['count==6'],
    'http_req_duration{kind:write}': ['p(95)<2000'],
    'http_req_duration{scenario:readers}': ['p(95)<500'],
  },
};

export function read() {
  check(http.get(`${base}/json`), { 'read: 200': (r) => r.status === 200 });
}

export function browse() {
  check(http.get(`${base}/html`), { 'browse: 200': (r) => r.status === 200 });
  sleep(0.1);
}

export function write() {
  const id = 1000 + exec.scenario.iterationInTest;
  const res = http.put(`${base}/nocache/${id}`, JSON.stringify({ name: __ENV.NAME }));
  check(res, { 'write: renamed': (r) => r.json('name') === 'renamed' });
}
