// The module itself.
import http, { get, post, CookieJar, expectedStatuses, setResponseCallback } from 'k6/http';
import * as all from 'k6/http';

console.log(JSON.stringify(Object.keys(http).filter((k) => k !== 'default').sort()));
console.log(typeof all.get);
const jar = new CookieJar();
console.log(typeof jar.set, typeof get, typeof post);
for (const f of [
  () => http.get('http://x'), () => http.batch([]), () => http.cookieJar(), () => http.asyncRequest('GET', 'http://x'),
  () => expectedStatuses(), () => expectedStatuses('x'), () => expectedStatuses(1.5), () => expectedStatuses({ min: 1 }), () => expectedStatuses({ min: 200, max: 299 }, 404) && 'fine',
  () => setResponseCallback(5), () => setResponseCallback({}), () => setResponseCallback(), () => setResponseCallback(null) || 'fine', () => setResponseCallback(expectedStatuses(404)) || 'fine',
  () => JSON.stringify(Object.keys(http.file('data', 'name.txt', 'text/plain'))), () => http.file('x', 'n', 't').content_type, () => http.file('x').content_type, () => http.file(5), () => http.file(),
  () => http.nonsense(), () => http.request('GET', 'http://x'),
]) {
  try {
    console.log(f());
  } catch (e) {
    console.log(e.name, e.message);
  }
}

export default async function () {
  const url = __ENV.DEMO_URL;
  console.log(http.get(`${url}/status/404`).status);
  const p = http.asyncRequest('GET', `${url}/ping`);
  console.log(p instanceof Promise, (await p).status);
  for (const args of [[], ['GET'], ['GET', 'http://[::1'], ['GET', 'nonsense'], ['GET', 'http://127.0.0.1:1/'], ['GET', `${url}/ping`, null, { responseType: 'x' }], ['GET', 'http://127.0.0.1:1/', null, { throw: true }], ['GET', 'http://[::1', null, { throw: true }]]) {
    try {
      const r = await http.asyncRequest(...args);
      console.log('resolved', r.status, r.error_code, r.error);
    } catch (e) {
      console.log('rejected', String(e).replace('GoError: ', ''));
    }
  }
  for (const f of [
    () => http.request('GET', `${url}/ping`).status, () => http.request('get', `${url}/ping`).status, () => http.request(undefined, `${url}/ping`).status, () => http.request('', `${url}/ping`).status,
    () => http.request('A B', `${url}/ping`).error, () => http.request('PROPFIND', `${url}/anything/x`).status,
    () => http.get('http://127.0.0.1:1/', { throw: true }), () => http.get('http://[::1', { throw: true }).error, () => http.post(`${url}/ping`, 5, { throw: true }).error,
    () => http.del(`${url}/anything/x`, 'body').request.body, () => http.options(`${url}/ping`).status, () => http.patch(`${url}/anything/x`, 'p').request.body,
  ]) {
    try {
      console.log(f());
    } catch (e) {
      console.log(e.name, e.message);
    }
  }
}
