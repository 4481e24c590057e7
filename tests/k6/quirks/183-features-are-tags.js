// 183: a feature that is on is a tag of every sample
// flags: --features freeze-env
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';
const own = new Counter('own');
const tag = '{k6_feature_freeze_env:true}';
export const options = {
  thresholds: { [`own${tag}`]: ['count==1'], [`iterations${tag}`]: ['count==1'], 'iterations{k6_feature_native_histograms:true}': ['count==0'] },
};
export default function () {
  own.add(1);
  console.log(JSON.stringify(exec.vu.metrics.tags));
}
