// 127: a name set as a tag of the VU is also the url
import exec from 'k6/execution';
import http from 'k6/http';
export const options = { thresholds: { 'http_reqs{name:mine}': ['count==1'], 'http_reqs{url:mine}': ['count==1'], 'http_reqs{method:GET}': ['count==1'], 'http_reqs{group:g}': ['count==1'] } };
export default function () {
  Object.assign(exec.vu.metrics.tags, { name: 'mine', method: 'NOPE', group: 'g' });
  http.get(`${__ENV.DEMO_URL}/ping`);
}
