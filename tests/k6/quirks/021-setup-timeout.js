// 21: a setup that takes too long ends with exit code 100
import { sleep } from 'k6';
export const options = { setupTimeout: '300ms' };
export function setup() { sleep(5); }
export default function () { console.log('never'); }
export function teardown() { console.log('never'); }
