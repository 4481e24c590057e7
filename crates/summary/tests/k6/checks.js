// Checks, groups, thresholds of every kind; offline.
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const counter = new Counter('cc_total');
const fraction = new Counter('cd_frac');
const gauge = new Gauge('g_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend');
const time = new Trend('my_time', true);
const timeGauge = new Gauge('g_time', true);
const timeCounter = new Counter('c_time', true);

export const options = {
  vus: 1,
  iterations: 10,
  thresholds: {
    checks: ['rate>0.9'],
    my_time: ['p(95)<500', 'p(99.9)<3'],
    'my_time{name:x}': ['max<100'],
    'my_trend{name:x}': ['avg>1'],
    cc_total: ['count>3', 'rate<1'],
    g_gauge: ['value<3'],
    my_rate: ['rate>0.2'],
    iterations: ['count>3'],
  },
};

export default function () {
  counter.add(1);
  fraction.add(0.123456789);
  gauge.add(__ITER);
  rate.add(__ITER % 3 == 0);
  trend.add(__ITER * 1.5);
  time.add(__ITER * 12.3456, { name: 'x' });
  time.add(__ITER * 1200.3456, { name: 'y' });
  timeGauge.add(4.5);
  timeCounter.add(1234.5);
  check(1, { 'status ok': (v) => v == 1, sometimes: () => __ITER % 3 == 0 });
  group('G1', () => {
    check(1, { 'in g1': true, 'status ok': true });
    group('G2', () => {
      check(1, { deep: false, 'ünï – é': true });
      trend.add(3);
    });
  });
  group('setup', () => check(1, { 'in a group called setup': true }));
}
