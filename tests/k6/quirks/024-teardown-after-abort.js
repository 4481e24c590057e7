// 24: teardown and summary run after an abort
import exec from 'k6/execution';
export default function () { exec.test.abort('enough'); }
export function teardown() { console.log('teardown'); }
export function handleSummary() { console.log('summary'); return {}; }
