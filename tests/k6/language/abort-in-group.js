// The group in which the test is ended still has a duration; the check in which it is has no result.
import exec from 'k6/execution';
import { check, group } from 'k6';

export default function () {
  group('outer', () => {
    check(1, { before: true });
    group('inner', () => exec.test.abort('enough'));
    console.log('never');
  });
}
