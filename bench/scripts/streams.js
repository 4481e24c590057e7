// As many GETs at once as one connection has streams, and a check of each.
import http from 'k6/http';
import { check } from 'k6';

export const options = { insecureSkipTLSVerify: true, batch: 100, batchPerHost: 100 };

const requests = Array.from({ length: Number(__ENV.STREAMS) }, () => __ENV.URL);

export default function () {
  for (const res of http.batch(requests)) {
    check(res, { 'status is 200': (r) => r.status === 200 });
  }
}
