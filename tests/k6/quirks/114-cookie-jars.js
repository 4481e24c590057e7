// 114, 115, 116, 117, 118: jars
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export const options = { iterations: 2 };
export default function () {
  const jar = http.cookieJar();
  console.log(JSON.stringify(jar.cookiesForURL(U)));
  jar.set(U, 'a', 'jar', { secure: true });
  jar.set(U, 'b', 'jar');
  const sent = (params) => JSON.stringify(http.get(`${U}/anything`, params).request.cookies, Object.keys);
  const cookie = (params) => { const h = http.get(`${U}/anything`, params).json('headers'); const k = Object.keys(h).find((k) => k.toLowerCase() === 'cookie'); return [].concat(h[k]).join('; ').split('; ').sort().join('; '); };
  console.log(cookie());
  console.log(cookie({ cookies: { b: 'mine', c: 'own' } }));
  console.log(cookie({ cookies: { b: { value: 'replaced', replace: true } } }));
  console.log(cookie({ jar: null }), cookie({ jar: new http.CookieJar() }));
  http.get(`${U}/cookies/set?hop=1`);
  console.log(Object.keys(jar.cookiesForURL(U)).sort().join());
  jar.delete(U, 'a');
  console.log(Object.keys(jar.cookiesForURL(U)).sort().join());
  jar.clear(U);
  console.log(Object.keys(jar.cookiesForURL(U)).length);
}
