// Credentials: in the URL for Basic, in a header for anything else.

import http from 'k6/http';
import encoding from 'k6/encoding';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const [user, password] = ['ada', 'secret'];

http.setResponseCallback(http.expectedStatuses(200, 401));

export const options = {
  iterations: 3,
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
  },
};

export default function () {
  const path = `/basic/${user}/${password}`;
  check(http.get(`${base}${path}`), {
    'without credentials: 401': (r) => r.status === 401,
    'with a challenge': (r) => r.headers['Www-Authenticate'].startsWith('Basic'),
  });

  const withUser = base.replace('://', `://${user}:${password}@`);
  check(http.get(`${withUser}${path}`), {
    'credentials in the URL': (r) => r.status === 200 && r.json('user') === user,
  });

  const credentials = encoding.b64encode(`${user}:${password}`);
  const headers = { Authorization: `Basic ${credentials}` };
  check(http.get(`${base}${path}`, { headers }), {
    'credentials in a header': (r) => r.status === 200,
  });

  const bearer = http.get(`${base}/bearer`, { headers: { Authorization: 'Bearer t0ken' } });
  check(bearer, { 'a bearer token': (r) => r.json('token') === 't0ken' });
}
