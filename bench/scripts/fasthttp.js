// The same GET and check through k6/x/fasthttp, all metrics, tags and thresholds on.
import { Client, Request, checkstatus } from 'k6/x/fasthttp';

export const options = {
  insecureSkipTLSVerify: true,
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<60000'],
    'http_req_duration{status:200}': ['max>=0'],
    checks: ['rate>0.99'],
  },
};

const client = new Client();
const hit = new Request(__ENV.URL);

export default function () {
  checkstatus(200, client.get(hit));
}
