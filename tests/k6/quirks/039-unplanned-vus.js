// 39: VUs beyond preAllocatedVUs come up to maxVUs
// uncounted
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 20, duration: '1s', preAllocatedVUs: 1, maxVUs: 3 } } };
export default function () { if (exec.vu.idInTest > 3) console.log('too many'); sleep(0.2); }

