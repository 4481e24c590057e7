// Is the host there at all? A ping before the test.

import http from 'k6/http';
import { ping } from 'k6/x/icmp';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const host = base.replace('http://', '').split(/[:/]/)[0];

export const options = {
  iterations: 3,
  thresholds: {
    checks: ['rate==1'],
  },
};

export function setup() {
  try {
    if (!ping(host, { timeout: '2s', count: 2, threshold: 50 })) {
      console.warn(`${host} does not answer pings`);
    }
  } catch (error) {
    // The kernel may keep ICMP from this user; the message tells what to do.
    console.warn(error.message);
  }
}

export default function () {
  check(http.get(base), { 'it answers': (res) => res.status === 200 });
}
