import { check, group, sleep } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const cc = new Counter('cc_total'); const cd = new Counter('cd_frac');
const g = new Gauge('g_gauge'); const r = new Rate('my_rate'); const t = new Trend('my_trend'); const tt = new Trend('my_time', true);
const gt = new Gauge('g_time', true); const ct = new Counter('c_time', true);
export const options = { vus: 2, iterations: 10, thresholds: { checks: ['rate>0.9'], my_time: ['p(95)<500','p(99.9)<3'], 'my_time{name:x}': ['max<100'], 'my_trend{name:x}':['avg>1'], cc_total:['count>3','rate<1'], g_gauge:['value<3'], my_rate:['rate>0.2'], 'iterations':['count>3'] } };
export default function () {
  cc.add(1); cd.add(0.123456789); g.add(__ITER); r.add(__ITER%3==0); t.add(__ITER*1.5); tt.add(__ITER*12.3456, {name:'x'}); tt.add(__ITER*1200.3456, {name:'y'}); gt.add(4.5); ct.add(1234.5);
  check(1, { 'status ok': (v)=>v==1, 'sometimes': ()=>__ITER%2==0 });
  group('G1', ()=>{ check(1,{'in g1': true, 'status ok': true}); group('G2', ()=>{ check(1,{'deep':false}); t.add(3);});});
  group('setup', ()=>{ check(1,{'in setup group':true}); t.add(1);});
}
