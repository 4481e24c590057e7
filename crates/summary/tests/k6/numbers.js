// Values that are hard to print: shares, sizes and times at the edges of their units.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const counters = [1e21, 1e-9, 123456789012.5, 999999.9999999, 0, 0.1 + 0.2].map((value, at) => [
  new Counter(`count_${at}`),
  value,
]);
const shares = [];
for (const total of [3, 7, 13, 29, 100, 1000]) {
  for (const hits of [1, 2, total - 1]) {
    shares.push([new Rate(`share_${hits}_${total}`), hits, total]);
  }
}
const times = [
  0.0000004, 0.00004, 0.0009999, 0.001, 0.00115, 0.29, 0.9999999, 0.99999, 1, 1.15, 2.675, 57.29,
  999.999, 1000, 1000.1, 1150, 4350, 8190.5, 59999, 59999.99, 60000, 60001.5, 61234.567, 3599999.9,
  3600000, 3661001, 86400000, 123456789, 1e12, -5, -1500.5, -0.0005,
].map((value, at) => [new Gauge(`time_${at}`, true), value]);
const trend = new Trend('trend');
const timeTrend = new Trend('trend_time', true);

export const options = { vus: 1, iterations: 1, summaryTrendStats: ['count', 'avg', 'p(99.9)', 'min', 'med', 'max', 'p(0)', 'p(33.333)', 'p(100)'] };

export default function () {
  for (const [counter, value] of counters) counter.add(value);
  for (const [rate, hits, total] of shares) {
    for (let i = 0; i < total; i++) rate.add(i < hits);
  }
  for (const [gauge, value] of times) gauge.add(value);
  for (const value of [0.0000004, 1.5e21, -7.25, 1e300]) trend.add(value);
  for (const [, value] of times) timeTrend.add(value);
}
