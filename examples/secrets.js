// A secret that the script knows and no log line shows. Run it with a source:
//
//   brunt run --demo --secret-source=mock=token=t0ken examples/secrets.js

import http from 'k6/http';
import secrets from 'k6/secrets';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  iterations: 1,
  thresholds: {
    checks: ['rate==1'],
  },
};

/** Without a source there is no secret: then anything will do. */
async function token() {
  try {
    return await secrets.get('token');
  } catch (error) {
    console.warn(`no token: ${error.message}`);
    return 'nothing-secret';
  }
}

export default async function () {
  const value = await token();
  console.log(`the token is ${value}`);
  const res = http.get(`${base}/bearer`, { headers: { Authorization: `Bearer ${value}` } });
  check(res, { 'the token arrived': (r) => r.json('token') === value });
}
