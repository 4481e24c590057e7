// 49: abortOnFail ends the run early
// uncounted
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const bad = new Counter('bad');
export const options = { duration: '20s', thresholds: { bad: [{ threshold: 'count<1', abortOnFail: true }] } };
let told = false;
export default function () { bad.add(1); if (!told) console.log('once'); told = true; sleep(30); }
export function teardown() { console.log('teardown'); }
