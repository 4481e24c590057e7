// Rows, counters and queues of `brunt/data` over three agents: rows per second, and how long a call waits for NATS.
//
//   nats-server --jetstream;  brunt agent (three of them);  brunt run --agents 3 -q bench/scripts/shared-agents.js
import { Trend } from 'k6/metrics';
import { counter, queue, rows } from 'brunt/data';

const TOTAL = 1000000;
const users = rows('users', () => Array.from({ length: TOTAL }, (_, id) => id), { share: 'leased', whenEmpty: 'null' });
const numbers = counter('numbers');
const jobs = queue('jobs', { max: 1000000 });
const began = new Trend('rows_began');
const ended = new Trend('rows_ended');

const phase = (exec, vus, startTime) => ({ executor: 'constant-vus', exec, vus, duration: '5s', startTime, gracefulStop: '1s' });
const calls = {
  add: () => numbers.add(),
  put: () => jobs.put({ n: 1 }),
  take: () => jobs.take(),
};
const steps = [];
const thresholds = {};
const scenarios = {
  rows: { executor: 'per-vu-iterations', exec: 'take', vus: 3, iterations: 1, maxDuration: '10s' },
};
let at = 10;
for (const name of Object.keys(calls)) {
  for (const vus of [3, 60]) {
    const step = `${name}_${vus}`;
    steps.push(step);
    // So that the summary has it: an iteration is one call.
    thresholds[`iteration_duration{scenario:${step}}`] = ['max>=0'];
    scenarios[step] = { ...phase('call', vus, `${at}s`), env: { CALL: name } };
    at += 7;
  }
}

export const options = { scenarios, thresholds, summaryTrendStats: ['min', 'med', 'p(95)', 'p(99)', 'max', 'count'] };

export function take() {
  began.add(Date.now());
  while (users.next() !== null);
  ended.add(Date.now());
}

export function call() {
  calls[__ENV.CALL]();
}

export function handleSummary({ metrics }) {
  const of = (name) => metrics[name].values;
  const took = of('rows_ended').max - of('rows_began').min;
  const lines = [`rows: ${TOTAL} in ${took} ms, ${Math.round(TOTAL / took)} 000 rows/s`];
  for (const step of steps) {
    const values = of(`iteration_duration{scenario:${step}}`);
    const shown = ['med', 'p(95)', 'p(99)', 'max'].map((name) => `${name} ${values[name].toFixed(2)}`);
    lines.push(`${step} VUs: ${Math.round(values.count / 5)} calls/s, ms: ${shown.join(', ')}`);
  }
  return { stdout: `${lines.join('\n')}\n` };
}
