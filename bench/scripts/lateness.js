// An open model at a high rate with nothing to do: how late does work start?
const seconds = Number(__ENV.SECONDS || 5);

export const options = {
  summaryTrendStats: ['count', 'min', 'med', 'p(90)', 'p(99)', 'p(99.9)', 'max'],
  scenarios: {
    open: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE || 10000),
      timeUnit: '1s',
      duration: `${seconds}s`,
      preAllocatedVUs: 50,
      maxVUs: 50,
    },
  },
};

export default function () {}
