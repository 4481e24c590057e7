// 29: exec.test.fail marks the run and goes on
import exec from 'k6/execution';
export default function () { exec.test.fail('marked'); console.log('goes on'); }
