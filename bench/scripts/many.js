// Many VUs that GET and sleep: what one VU weighs, and how long until all are ready.
import http from 'k6/http';
import { sleep } from 'k6';

const url = __ENV.URL;

// Runs when all VUs are initialised.
export function setup() {
  console.log('READY ' + Date.now());
}

export default function () {
  http.get(url);
  sleep(2 + Math.random() * 2);
}
