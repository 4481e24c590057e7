// 44: shared iterations are each done once, by whoever is free
// unordered
import exec from 'k6/execution';
import { sleep } from 'k6';
export const options = { vus: 2, iterations: 6 };
export default function () { console.log(exec.scenario.iterationInTest); sleep(0.01); }
