// k6/execution in two scenarios with tags, env and metadata
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const c = new Counter('mine');
export const options = {
  scenarios: {
    a: { executor: 'shared-iterations', vus: 1, iterations: 2, exec: 'one', env: { WHO: 'a' }, tags: { team: 'red' } },
    b: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'two', startTime: '500ms', tags: { team: 'blue' } },
  },
  thresholds: { 'mine{team:red}': ['count==2'], 'mine{team:blue}': ['count==1'], 'mine{scenario:b,extra:x}': ['count==1'] },
};
export function one() {
  c.add(1);
  console.log(exec.scenario.name, __ENV.WHO, exec.vu.tags.team, exec.vu.iterationInScenario, exec.scenario.iterationInTest, exec.vu.tags.left);
  exec.vu.tags.left = 'over';
}
export function two() {
  exec.vu.tags.extra = 'x';
  c.add(1);
  console.log(exec.scenario.name, __ENV.WHO, exec.vu.tags.team, exec.vu.iterationInScenario, exec.vu.tags.left, exec.scenario.progress >= 0, Date.now() - exec.scenario.startTime < 2000);
}
export function teardown() { console.log(exec.test.options.scenarios.a.tags.team); }
