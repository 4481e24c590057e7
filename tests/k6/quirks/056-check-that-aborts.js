// 56, 28: a check that aborts the test has failed
import { check, group } from 'k6';
import exec from 'k6/execution';
export default function () {
  group('outer', () => check(1, {
    before: () => true,
    aborts: () => { exec.test.abort('enough'); return true; },
    after: () => true,
  }));
}
