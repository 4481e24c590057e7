// Names that are hard to sort, sections chosen by prefix, thresholds without samples.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const trends = ['http_req_durationx', 'http_req_duration_x', 'http_req_duration2', 'Http_req_durationx', 'http_req_waiting_x', 'sp', 'sp_b', 'browser_web_vital_zz', 'ws_thing'].map((name) => new Trend(name, true));
const counters = ['__', '_1', '_a', 'a1', 'A1', 'A2', 'ab', 'aB', 'AB', 'ww', 'wW', 'WW', 'www', 'w_w', 'w1', 'zz', 'zZ', 'Zz', 'http_reqs_mine', 'checks_mine', 'group_durations_of_mine_are_long', 'iteration_x', 'data_foo', 'httpx', 'browser_r'].map((name) => new Counter(name));
const gauges = ['vusfoo', 'grpc_g'].map((name) => new Gauge(name));
new Trend('no_trend');
new Counter('no_counter');
new Rate('no_rate');
new Gauge('no_gauge');

const unseen = {};
for (const pair of ['a b:c', 'a_b:c', 'a-b:c', 'a:_', 'a:-', 'a:;', 'a:::', 'a:!', 'a:?', 'a:.', 'a:"q"', 'a:(q)', 'a:[q]', 'a:@', 'a:*', 'a:/x', 'a:\\', 'a:&', 'a:#', 'a:%', 'a:`', 'a:^', 'a:+', 'a:<', 'a:=', 'a:>', 'a:|', 'a:~', 'a:$', 'a:9', 'a:c,x:y', 'a:c', 'A:c', 'a:e', 'a:f', 'a.b:c', 'ab:c d']) {
  unseen[`sp{${pair}}`] = ['max<1'];
}

export const options = {
  vus: 1,
  iterations: 1,
  thresholds: {
    ...unseen,
    'sp_b{x:y}': ['max<1'],
    'http_req_durationx{a:b}': ['max<1'],
    http_req_duration: ['max<1'],
    'http_req_duration{a:b}': ['max<1'],
    'http_reqs{a:b}': ['count<1'],
    http_req_failed: ['rate<0.1'],
    'ww{c:d}': ['count<1'],
    'ww{a:b}': ['count<1'],
    Zz: ['count<9', 'rate>0'],
    no_trend: ['p(95)<5'],
    no_counter: ['count>0'],
    no_rate: ['rate>0.9'],
    no_gauge: ['value<1'],
  },
};

export default function () {
  for (const trend of trends) trend.add(1.5, { a: 'b' });
  for (const counter of counters) counter.add(2, { a: 'b', c: 'd' });
  for (const gauge of gauges) gauge.add(4);
}
