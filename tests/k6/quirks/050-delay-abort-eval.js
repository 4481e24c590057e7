// 50: delayAbortEval puts off the end
// uncounted
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const bad = new Counter('bad');
export const options = { duration: '20s', thresholds: { bad: [{ threshold: 'count<1', abortOnFail: true, delayAbortEval: '3s' }] } };
const start = Date.now();
export default function () { bad.add(1); sleep(0.5); }
export function teardown() { console.log('teardown'); }
