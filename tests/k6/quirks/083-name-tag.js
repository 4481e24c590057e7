// 83: a name is also the url, and http.url makes names
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export const options = { thresholds: { 'http_reqs{name:mine}': ['count==1'], 'http_reqs{url:mine}': ['count==1'] } };
export default function () {
  http.get(`${U}/ping?a=1`, { tags: { name: 'mine' } });
  const id = 5, url = http.url`${U}/anything/${id}`;
  console.log(Object.keys(url).includes('name'), url.name === '${}/anything/${}', url.url === `${U}/anything/5`);
  console.log(http.get(url).url === `${U}/anything/5`);
}
