// 48: thresholds of metrics without samples
import { Counter, Rate, Trend, Gauge } from 'k6/metrics';
new Counter('my_counter'); new Rate('my_rate'); new Trend('my_trend'); new Gauge('my_gauge');
export const options = {
  thresholds: { my_rate: ['rate>0.9'], my_trend: ['p(95)<500', 'avg<1'], my_gauge: ['value<1'], my_counter: ['count<1'] },
};
export default function () {}
