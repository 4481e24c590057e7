// The types of options and of the summary: what must compile, and behind `@ts-expect-error` what must not.

import type { Options } from 'brunt/options';
import type { Finding, SummaryData, SummaryOutput } from 'brunt/summary';
import type { Options as OfK6 } from 'k6/options';

/** Exactly this type. */
function is<T>() {
  return <U>(_value: U & (([T] extends [U] ? ([U] extends [T] ? unknown : never) : never))) => {};
}

export const all: Options = {
  seed: 7,
  maxBodySize: '64MiB',
  scenarios: {
    users: { executor: 'constant-vus', vus: 10, duration: '1m', warmup: '10s' },
    visits: {
      executor: 'constant-arrival-rate',
      rate: 100,
      duration: '1h',
      preAllocatedVUs: 50,
      arrivals: 'poisson',
      sine: { amplitude: 60, period: '10m', start: 'trough' },
    },
    day: { executor: 'ramping-arrival-rate', rateFile: 'day.txt', preAllocatedVUs: 50 },
    hand: { executor: 'externally-controlled', vus: 1, maxVUs: 10, duration: '0' },
  },
  thresholds: {
    http_req_duration: [
      'p(95)<500',
      { threshold: 'p(95)<200', window: '30s', for: '10s', after: '1m', onNoData: 'fail', exitCode: 20, name: 'slow' },
    ],
  },
};

export const wrong: Options[] = [
  // @ts-expect-error: this executor has a rate, and no file
  { scenarios: { a: { executor: 'constant-arrival-rate', rateFile: 'day.txt', preAllocatedVUs: 1 } } },
  // @ts-expect-error: it is one of three words
  { thresholds: { checks: [{ threshold: 'rate==1', onNoData: 'maybe' }] } },
  // @ts-expect-error: an option is misspelt
  { maxBodysize: 1 },
];

/** Options that the declarations of k6 have no place for are in `brunt/options` alone. */
export const ofK6: OfK6 = { seed: 7, scenarios: { users: { executor: 'constant-vus', duration: '1m', warmup: 1000 } } };

export function handleSummary(data: SummaryData): SummaryOutput {
  is<number>()(data.metrics.http_reqs.values.count);
  is<number | undefined>()(data.seed);
  is<Finding[] | undefined>()(data.verdict?.findings);
  // @ts-expect-error: a counter has no percentiles
  data.metrics.http_reqs.values.med;
  // @ts-expect-error: there may be no verdict
  data.verdict.level;
  return { stdout: data.root_group.checks.map((check) => `${check.name} ${check.passes}`).join('\n') };
}

// @ts-expect-error: a number is no text to write
export const output: SummaryOutput = { stdout: 1 };
