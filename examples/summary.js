// The summary is the script's to shape: what handleSummary returns is printed, or written to files.

import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 2,
  iterations: 20,
  summaryTrendStats: ['med', 'p(99)', 'max'],
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  check(http.get(`${base}/memory/1`), { 'status is 200': (r) => r.status === 200 });
}

export function handleSummary(data) {
  const duration = data.metrics.http_req_duration.values;
  const lines = [
    `requests  ${data.metrics.http_reqs.values.count}`,
    `median    ${duration.med.toFixed(2)} ms`,
    `p(99)     ${duration['p(99)'].toFixed(2)} ms`,
    `checks    ${data.metrics.checks.values.passes} passed`,
  ];
  // A path as key would write a file: 'summary.json': JSON.stringify(data)
  return { stdout: `${lines.join('\n')}\n` };
}
