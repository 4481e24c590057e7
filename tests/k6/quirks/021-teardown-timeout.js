// 21: a teardown that takes too long ends with exit code 101
import { sleep } from 'k6';
export const options = { teardownTimeout: '300ms' };
export default function () { console.log('ran'); }
export function teardown() { sleep(5); }
