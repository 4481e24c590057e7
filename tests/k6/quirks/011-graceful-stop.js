// 11: the graceful stop is 30 s and the longest duration 10 min by default
import exec from 'k6/execution';
export default function () {
  const { gracefulStop, maxDuration, startTime, env, tags, exec: fn } = exec.test.options.scenarios.default;
  console.log(gracefulStop, maxDuration, startTime, env, tags, fn);
}
