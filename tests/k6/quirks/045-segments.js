// 45: a segment does its share of iterations and VUs
// flags: --execution-segment 1/2:1 --execution-segment-sequence 0,1/2,1
// unordered
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 2, iterations: 7 } } };
export default function () { console.log(exec.scenario.iterationInInstance, exec.scenario.iterationInTest, exec.vu.idInInstance, exec.vu.idInTest); }
