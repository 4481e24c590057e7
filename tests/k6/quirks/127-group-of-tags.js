// 127: the group that a script sets as a tag of the VU is that in which its groups begin, and stays
import exec from 'k6/execution';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
export const options = { iterations: 2 };
const tell = (where) => console.log(where, exec.vu.metrics.tags.group);
export default function () {
  tell('begin');
  exec.vu.metrics.tags.group = 'mine';
  group('one', () => {
    tell('inside');
    seen.add(1);
    check(1, { fine: () => true });
    exec.vu.metrics.tags.group = '::other';
    group('two', () => tell('deeper'));
    tell('after two');
  });
  tell('after one');
  seen.add(1);
  delete exec.vu.metrics.tags.group;
  group('three', () => tell('inside'));
  tell('end');
}
