// 7: tags of a higher layer replace all of the lower
// flags: --tag b=2
import exec from 'k6/execution';
export const options = { tags: { a: '1' }, thresholds: { iterations: ['count>0'] } };
export default function () {
  console.log(JSON.stringify(exec.test.options.tags), Object.keys(exec.vu.tags).sort().join());
}
