// 80: what counts as failed is decided by the response callback
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export const options = {
  thresholds: {
    'http_req_failed{case:plain404}': ['rate==1'], 'http_req_failed{case:expected404}': ['rate==0'], 'http_req_failed{case:range}': ['rate==0'],
    'http_reqs{expected_response:true}': ['count==3'], 'http_req_failed': ['rate>0'],
  },
};
export default function () {
  http.get(`${U}/status/404`, { tags: { case: 'plain404' } });
  http.get(`${U}/status/404`, { tags: { case: 'expected404' }, responseCallback: http.expectedStatuses(404) });
  http.get(`${U}/status/503`, { tags: { case: 'range' }, responseCallback: http.expectedStatuses({ min: 500, max: 599 }, 200) });
  http.get(`${U}/status/404`, { responseCallback: null });
  http.setResponseCallback(http.expectedStatuses(418));
  http.get(`${U}/status/418`);
  http.setResponseCallback(null);
  http.get(`${U}/status/200`);
  for (const bad of [5, 'x', {}, undefined]) { try { http.setResponseCallback(bad); console.log('ok'); } catch (e) { console.log(e.name); } }
  for (const bad of [[], ['x'], [{ min: 1 }], [{ min: 5, max: 1 }]]) { try { http.expectedStatuses(...bad); console.log('ok'); } catch (e) { console.log(e.name); } }
}
