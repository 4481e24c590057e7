// 38, 41: iterations that are dropped have the tags of the run and the name of their scenario, but not the scenario's tags
// uncounted
import { sleep } from 'k6';
const common = { gracefulStop: '0s', tags: { flow: 'buy' } };
export const options = {
  tags: { run: 'x' },
  scenarios: {
    rate: { executor: 'constant-arrival-rate', rate: 10, duration: '1050ms', preAllocatedVUs: 1, ...common },
    shared: { executor: 'shared-iterations', vus: 1, iterations: 5, maxDuration: '1s', ...common },
    each: { executor: 'per-vu-iterations', vus: 1, iterations: 5, maxDuration: '1s', ...common },
  },
  thresholds: {
    'dropped_iterations{flow:buy}': ['count==0'],
    'dropped_iterations{scenario:rate,run:x}': ['count>=5'],
    'dropped_iterations{scenario:shared}': ['count==3'],
    'dropped_iterations{scenario:each}': ['count==3'],
    'iterations{flow:buy}': ['count>=3'],
  },
};
export default function () { sleep(0.6); }
