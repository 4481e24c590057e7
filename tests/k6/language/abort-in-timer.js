// exec.test.abort() in a timer
import exec from 'k6/execution';
export default function () { setTimeout(() => exec.test.abort('in timer'), 5); }
