// {{ .ScriptName }}: a test with stages, groups, checks, thresholds and a metric of its own.
//
//   brunt run --demo {{ .ScriptName }}        against the demo server inside brunt
//   brunt run -e URL=http://… {{ .ScriptName }}   against your own
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Trend } from 'k6/metrics';

const base = __ENV.URL || __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const writing = new Trend('writing_time', true);

export const options = {
  stages: [
    { duration: '10s', target: 10 }, // up to ten users
    { duration: '30s', target: 10 }, // stay
    { duration: '10s', target: 0 }, // and down
  ],
  thresholds: {
    http_req_failed: ['rate<0.01'], // fewer than 1 % of requests fail
    http_req_duration: ['p(95)<2000'], // 95 % are answered within two seconds
    checks: ['rate>0.99'],
  },
};

// Runs once, before the users start. Each of them is given the value that it returns.
export function setup() {
  const response = http.get(`${base}/ping`);
  if (response.status !== 200) {
    throw new Error(`${base} doesn't answer`);
  }
  return { first: 1, last: 20 };
}

export default function (data) {
  const id = data.first + Math.floor(Math.random() * (data.last - data.first + 1));

  group('read', () => {
    const response = http.get(`${base}/lazywrite/${id}`, { tags: { name: '/lazywrite/{id}' } });
    check(response, {
      'status is 200': (r) => r.status === 200,
      'it is the item': (r) => r.json('id') === id,
    });
  });

  group('write', () => {
    const body = JSON.stringify({ name: `item ${id}`, price: 10 });
    const response = http.put(`${base}/lazywrite/${id}`, body, {
      headers: { 'Content-Type': 'application/json' },
      tags: { name: '/lazywrite/{id}' },
    });
    check(response, { 'write is accepted': (r) => r.status < 300 });
    writing.add(response.timings.duration);
  });

  sleep(1);
}
