// One scripted GET and a check, all metrics, tags and thresholds on.
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  insecureSkipTLSVerify: true,
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<60000'],
    'http_req_duration{status:200}': ['max>=0'],
    checks: ['rate>0.99'],
  },
};

const url = __ENV.URL;
const pause = Number(__ENV.PAUSE || 0);

export default function () {
  const response = http.get(url);
  check(response, { 'status is 200': (r) => r.status === 200 });
  if (pause > 0) sleep(pause);
}
