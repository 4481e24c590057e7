// Cookies: what the server sets comes back by itself; what the script sets goes along.

import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  iterations: 3,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  // Answers 302 to /cookies; the cookie is sent there already.
  let res = http.get(`${base}/cookies/set?session=abc123&theme=dark`);
  check(res, {
    'the jar keeps what the server sets': (r) => r.json('cookies.session') === 'abc123',
  });

  const jar = http.cookieJar();
  jar.set(base, 'basket', 'full', { path: '/cookies' });
  res = http.get(`${base}/cookies`, { cookies: { once: 'only' } });
  check(res, {
    'the jar sends what the script sets': (r) => r.json('cookies.basket') === 'full',
    'a request can bring its own': (r) => r.json('cookies.once') === 'only',
    'and keep the others': (r) => r.json('cookies.theme') === 'dark',
  });

  http.get(`${base}/cookies/delete?session`);
  check(jar.cookiesForURL(base), {
    'the server can delete': (cookies) => cookies.session === undefined,
  });
}
