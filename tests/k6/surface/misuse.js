// Messages of k6's own functions about wrong calls
import { check } from 'k6';
import exec from 'k6/execution';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

function tell(name, run) {
  try {
    console.log(name, String(run()));
  } catch (e) {
    console.log(name, 'threw', e.name, e.message);
  }
}

const counter = new Counter('counted');
new Trend('timed', true);
if (__VU === 0) {
  for (const name of ['', 'a', '1a', 'a-b', 'a.b', 'é', undefined]) tell(`name ${name}`, () => new Counter(name));
  tell('other kind', () => new Gauge('counted'));
  tell('other contents', () => new Trend('timed'));
  tell('of k6', () => new Rate('http_req_duration'));
  tell('contents of k6', () => new Trend('http_req_duration'));
  tell('add in init', () => counter.add(1));
  tell('scenario in init', () => exec.scenario.name);
  tell('fail in init', () => exec.test.fail('x'));
}

export function setup() {
  tell('scenario in setup', () => exec.scenario.iterationInTest);
}

export default function () {
  tell('nothing', () => counter.add());
  tell('undefined', () => counter.add(undefined));
  tell('boxed tag', () => counter.add(1, { tag: new Number(5) }));
  tell('no checks', () => check(1));
  tell('undefined checks', () => check(1, undefined));
  tell('null checks', () => check(1, null));
  for (const value of [undefined, null, 5, 'x()', {}, [], true]) {
    tell('setTimeout', () => setTimeout(value, 1));
    tell('setInterval', () => setInterval(value, 1));
  }
  tell('tags of metrics', () => { exec.vu.metrics.tags = {}; });
  tell('metadata', () => { exec.vu.metrics.metadata = {}; });
}
