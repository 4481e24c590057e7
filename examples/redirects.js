// Redirects are followed, up to a limit, and the script can look at them itself.

import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  iterations: 3,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const end = http.get(`${base}/redirect/3`);
  check(end, {
    'three redirects lead to ok': (r) => r.status === 200 && r.body === 'ok',
    'url is where it ended': (r) => r.url === `${base}/redirect/0`,
  });

  const first = http.get(`${base}/redirect/3`, { redirects: 0 });
  check(first, {
    'none followed: 302': (r) => r.status === 302,
    'and its Location': (r) => r.headers.Location === '/redirect/2',
  });

  const kept = http.post(`${base}/redirect-to?status=307&url=/anything`, 'hello');
  check(kept, {
    '307 keeps method and body': (r) =>
      r.json('method') === 'POST' && r.json('data') === 'hello',
  });
}
