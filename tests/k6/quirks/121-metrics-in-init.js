// 121: metrics are made in init code; a second of one type is the same
import { Counter, Trend, Rate } from 'k6/metrics';
const a = new Counter('mine'), b = new Counter('mine'), c = Trend('other', true);
const tried = (f) => { try { return f(); } catch (e) { return e.name; } };
const second = tried(() => new Rate('mine')), time = tried(() => new Trend('other')), built = tried(() => new Counter('http_reqs').name);
export const options = { thresholds: { mine: ['count==3'] } };
export default function () {
  a.add(1); b.add(2);
  console.log(second, time, built, tried(() => new Counter('late')), a.name, c.name, c instanceof Trend);
}
