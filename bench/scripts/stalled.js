// An open model at a server that stalls: the 99th percentile of what a user would have waited, from the planned start of
// each iteration on.
import http from 'k6/http';

export const options = {
  summaryTrendStats: ['p(99)', 'count'],
  // Named, so that it is in the exported summary.
  thresholds: { iteration_duration_planned: [] },
  scenarios: {
    open: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE || 100),
      timeUnit: '1s',
      duration: `${Number(__ENV.SECONDS || 20)}s`,
      preAllocatedVUs: 250,
      maxVUs: 250,
    },
  },
};

export default function () {
  http.get(__ENV.URL);
}
