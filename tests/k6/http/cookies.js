// Cookie jars.
import http from 'k6/http';

const url = __ENV.DEMO_URL;
const cookieLine = (r) => (r.request.headers.Cookie || ['none'])[0];

export default function () {
  const jar = http.cookieJar();
  console.log(jar.set(url, 'a', '1'), jar.set(url, 'b', 'x y', { path: '/anything' }), jar.set(url, 'gone', 'x', { max_age: -1 }));
  console.log(JSON.stringify(Object.entries(jar.cookiesForURL(url)).sort()), JSON.stringify(jar.cookiesForURL(`${url}/anything/z`)));
  const show = (name, params, path = '/anything/x') => {
    const r = http.get(`${url}${path}`, params);
    console.log(name, r.status, cookieLine(r), JSON.stringify(Object.entries(r.request.cookies).sort()), r.error);
  };
  show('jar');
  show('params', { cookies: { p: 'q' } });
  show('both', { cookies: { a: '2' } });
  show('replaced', { cookies: { a: { value: '3', replace: true } } });
  show('object', { cookies: { c: { value: 'v' } } });
  show('number', { cookies: { c: 5, d: true, e: null } });
  show('odd', { cookies: { c: 'a,b c' } });
  show('own jar', { jar: new http.CookieJar() });
  show('header', { headers: { Cookie: 'h=1' } });
  show('header and params', { headers: { Cookie: 'h=1' }, cookies: { p: '2' } });
  const set = http.get(`${url}/cookies/set?s=t&u=v`, { redirects: 0 });
  console.log(set.status, JSON.stringify(set.cookies.s && set.cookies.s.map((c) => [c.name, c.value, c.domain, c.path, c.http_only, c.secure, c.max_age])));
  console.log(JSON.stringify(Object.entries(jar.cookiesForURL(url)).sort()));
  jar.delete(url, 's');
  console.log(JSON.stringify(Object.entries(jar.cookiesForURL(url)).sort()));
  jar.clear(url);
  console.log(JSON.stringify(Object.entries(jar.cookiesForURL(url)).sort()), JSON.stringify(jar.cookiesForURL(`${url}/anything/z`)));
  for (const f of [
    () => jar.set(url, 'x', 'y', { expires: 'nonsense' }),
    () => jar.set(url, 'x', 'y', { expires: 'Mon, 02 Jan 2034 15:04:05 MST' }),
    () => jar.set(url, 'x', 'y', { domain: 'other.test' }),
    () => jar.set('nonsense', 'x', 'y'),
    () => JSON.stringify(jar.cookiesForURL('http://other.test/')),
    () => jar.clear('ftp://x'),
  ]) {
    try {
      console.log(f());
    } catch (e) {
      console.log(e.name, e.message);
    }
  }
  console.log(JSON.stringify(Object.entries(jar.cookiesForURL(url)).sort()));
}
