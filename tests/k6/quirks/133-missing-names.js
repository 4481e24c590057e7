// 133, 134: a name that a built-in module lacks is undefined
import http, { nope, get } from 'k6/http';
import * as all from 'k6/http';
import k6, { sleep } from 'k6';
import metrics from 'k6/metrics';
export default function () {
  console.log(nope, typeof get, typeof all.get, typeof k6.sleep === typeof sleep, typeof metrics.Trend);
}
