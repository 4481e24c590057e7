// Header names and values, both ways.
import http from 'k6/http';

const url = __ENV.DEMO_URL;

export default function () {
  const show = (name, params) => {
    const res = http.get(`${url}/headers`, params);
    const sent = Object.entries(res.request.headers).filter(([k]) => k !== 'User-Agent').sort();
    console.log(`${name}: ${res.status} ${JSON.stringify(sent)} ${res.error}`);
  };
  show('canonical', { headers: { 'x-a': 1, 'X-b-C': 'two', 'UPPER-CASE': 'x', 'a_b': 'c' } });
  show('twice', { headers: { 'x-a': 'first', 'X-A': 'second' } });
  show('values', { headers: { a: null, b: true, c: 1.5, d: [1, 2], e: '' } });
  show('undefined', { headers: { a: undefined } });
  show('host', { headers: { Host: 'other.test' } });
  for (const headers of [{ 'a b': 'c' }, { a: 'b\nc' }]) console.log(http.get(url, { headers }).error);
  show('no headers', { headers: null });
  show('user agent', { headers: { 'user-agent': 'mine' } });
  const res = http.get(`${url}/headers`, { headers: { 'User-Agent': '' } });
  console.log('agent left out:', res.json('User-Agent'));
  const own = http.get(`${url}/cookies/set?a=1&b=2`, { redirects: 0 });
  console.log(own.status, Object.keys(own.headers).indexOf('Set-Cookie') >= 0, Object.keys(own.cookies).sort());
}
