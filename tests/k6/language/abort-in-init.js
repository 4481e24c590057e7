// exec.test.abort() in init code
import exec from 'k6/execution';
exec.test.abort('not today');
export default function () { console.log('never'); }
