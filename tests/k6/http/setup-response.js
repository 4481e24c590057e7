// A response may be part of what setup() returns: its data goes on, its methods don't.
import { parseHTML } from 'k6/html';
import http from 'k6/http';

const url = __ENV.DEMO_URL;

export async function setup() {
  const res = await http.asyncRequest('GET', `${url}/json`);
  const page = parseHTML('<p>a</p>');
  return { res, list: [http.get(`${url}/status/404`)], jar: http.cookieJar(), page, element: page.find('p').get(0) };
}

export default function (data) {
  console.log(Object.keys(data.res).sort().join());
  console.log(data.res.status, data.res.body.length > 2, typeof data.res.json, data.res.request.method, data.list[0].status);
  console.log(JSON.stringify([data.jar, data.page, data.element]), typeof data.res.timings.duration, data.res.headers['Content-Type']);
}
