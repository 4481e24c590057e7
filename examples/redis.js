// A queue of users in Redis, of which each iteration takes one. Run it with a server:
//
//   brunt run --demo -e REDIS_URL=redis://127.0.0.1:6379 examples/redis.js

import http from 'k6/http';
import redis from 'k6/x/redis';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const client = __ENV.REDIS_URL ? new redis.Client(__ENV.REDIS_URL) : undefined;
const queue = 'brunt-example-users';

export const options = {
  iterations: 3,
  thresholds: {
    checks: ['rate==1'],
  },
};

export async function setup() {
  if (!client) {
    console.warn('REDIS_URL names no server: each iteration takes the same user');
    return;
  }
  await client.del(queue);
  await client.rpush(queue, 'ada', 'grace', 'edsger');
}

export default async function () {
  const user = client ? await client.lpop(queue) : 'ada';
  const res = http.post(`${base}/anything`, JSON.stringify({ user }));
  check(res, { 'the user got through': (r) => r.status === 200 });
}
