// 48: an empty list of thresholds still has the summary show the metric, though it saw nothing.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const counters = [new Counter('named_counter'), new Counter('other_counter')];
const others = [new Gauge('named_gauge'), new Rate('named_rate'), new Trend('named_trend', true), new Trend('silent')];

export const options = {
  thresholds: {
    'named_counter{tag:xyz}': [],
    named_gauge: [],
    'named_rate{a:b}': ['rate>=0'],
    named_trend: [],
    'http_req_duration{name:x}': [],
    'checks{a:b}': ['rate>=0'],
  },
};

export default function () {
  counters[1].add(42);
}

export function handleSummary(data) {
  const names = Object.keys(data.metrics).filter((name) => !/^(vus|data_|iteration)/.test(name)).sort();
  for (const name of names) {
    const { values, thresholds } = data.metrics[name];
    delete values.rate;
    console.log(name, JSON.stringify(Object.keys(values).sort()), JSON.stringify(thresholds), Object.values(values).join());
  }
  return {};
}
