// Groups at the top: in the scenario called default, in setup and teardown, beside other scenarios.
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';

const counter = new Counter('my_counter');

export const options = {
  scenarios: {
    default: { executor: 'shared-iterations', vus: 1, iterations: 2 },
    zother: { executor: 'shared-iterations', vus: 1, iterations: 1, exec: 'other', startTime: '0.1s' },
    another: { executor: 'shared-iterations', vus: 1, iterations: 1, exec: 'other', startTime: '0.2s' },
    silent: { executor: 'shared-iterations', vus: 1, iterations: 1, exec: 'nothing' },
  },
};

export function setup() {
  counter.add(1);
  check(1, { s: true });
  group('SG', () => counter.add(2));
}

export default function () {
  counter.add(1);
  group('b', () => counter.add(1));
  group('a', () => {
    check(1, { x: true });
    counter.add(1);
    group('n', () => {});
  });
  group('empty', () => {});
}

export function other() {
  counter.add(5);
  group('q', () => {
    check(1, { x: true });
    counter.add(1);
  });
}

export function nothing() {}

export function teardown() {
  counter.add(1);
  check(1, { t: true });
  group('SG', () => counter.add(2));
}
