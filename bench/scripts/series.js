// Five hundred series: a GET and a check under sixty names, one after the other.
import http from 'k6/http';
import { check } from 'k6';

const url = __ENV.URL;
const names = Array.from({ length: 60 }, (_, n) => ({ tags: { name: `route ${n}` } }));

export default function () {
  const response = http.get(url, names[__ITER % names.length]);
  check(response, { 'status is 200': (r) => r.status === 200 });
}
