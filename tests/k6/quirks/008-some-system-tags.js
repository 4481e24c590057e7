// 8: only the system tags that are listed are set
import exec from 'k6/execution';
export const options = { systemTags: ['scenario', 'iter', 'vu'] };
export default function () {
  console.log(Object.keys(exec.vu.tags).sort().join(), Object.keys(exec.vu.metrics.metadata).sort().join());
}
