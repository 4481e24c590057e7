// 153: numbers of iterations
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'per-vu-iterations', iterations: 2, exec: 'told' }, b: { executor: 'per-vu-iterations', iterations: 2, exec: 'told', startTime: '300ms' } } };
export function told() {
  const { scenario: s, vu, instance: i } = exec;
  console.log(s.name, s.executor, s.iterationInTest, s.iterationInInstance, vu.iterationInInstance, vu.iterationInScenario, vu.idInInstance, vu.idInTest, __ITER, i.vusActive, i.vusInitialized, i.iterationsCompleted, i.iterationsInterrupted, i.currentTestRunDuration > 0, s.progress);
}
