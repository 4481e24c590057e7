// Params that are null, empty or undefined, and what they come to.
import http from 'k6/http';
const U = `${__ENV.DEMO_URL}/anything/x`;
export default function () {
  for (const params of [{ responseType: null }, { responseType: '' }, { responseType: undefined }, { compression: null }, { compression: undefined }, { compression: '' }, { tags: { a: null } }, { tags: { a: [] } }, { cookies: { a: { replace: true } } }, { cookies: { a: { value: null } } }]) {
    const res = http.post(U, 'body', params);
    console.log(JSON.stringify(params), res.status, res.error, JSON.stringify(res.request && res.request.headers.Cookie));
  }
  const jar = http.cookieJar();
  console.log(Object.keys(jar).join(), JSON.stringify(jar), jar, typeof jar.set);
  const { set, cookiesForURL } = jar;
  console.log(set(U, 'taken', 'out'), JSON.stringify(cookiesForURL(U)), set.name !== '');
  for (const key in new http.CookieJar()) console.log(key);
}
