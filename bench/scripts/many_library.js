// The same with a library of about 70 kB, which each VU evaluates for itself.
import http from 'k6/http';
import { sleep } from 'k6';
import library from './library.js';

const url = __ENV.URL;

export function setup() {
  console.log('READY ' + Date.now());
}

export default function () {
  http.get(url);
  if (library.chunk([1, 2, 3, 4], 2).length !== 2) throw new Error('the library does not work');
  sleep(2 + Math.random() * 2);
}
