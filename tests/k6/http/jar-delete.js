// delete() and clear() of a jar reach the cookies that the URL itself would set: not those of other paths or domains.
import http from 'k6/http';

const url = 'http://www.target.test/a/b/c';

function filled() {
  const jar = new http.CookieJar();
  jar.set(url, 'own', '1');
  jar.set(url, 'deep', '2', { path: '/a/b/c' });
  jar.set(url, 'up', '3', { path: '/' });
  jar.set(url, 'wide', '4', { domain: 'target.test' });
  jar.set(url, 'named', '5', { domain: 'www.target.test' });
  jar.set(url, 'sealed', '6', { secure: true });
  return jar;
}

function left(jar) {
  return Object.keys(jar.cookiesForURL(url.replace('http:', 'https:'))).sort().join();
}

export default function () {
  for (const name of ['own', 'deep', 'up', 'wide', 'named', 'sealed', 'absent']) {
    const jar = filled();
    jar.delete(url, name);
    console.log(`delete ${name}: ${left(jar)}`);
  }
  for (const at of [url, 'http://www.target.test/', 'http://target.test/a/b/c', 'https://www.target.test/a/b/']) {
    const jar = filled();
    jar.clear(at);
    console.log(`clear ${at}: ${left(jar)}`);
  }
}
