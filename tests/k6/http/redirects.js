// Redirects, and what is kept on the way.
import http from 'k6/http';

const url = __ENV.DEMO_URL;
const host = url.split('://')[1];
const hide = (text) => String(text).split(host).join('HOST');

export default function () {
  const show = (name, r) => console.log(hide(`${name}: ${r.status} ${r.url} ${r.request.method} ${r.request.url} ${r.error} ${r.error_code} ${r.headers.Location || ''}`));
  show('three', http.get(`${url}/redirect/3`));
  show('none', http.get(`${url}/redirect/3`, { redirects: 0 }));
  show('one', http.get(`${url}/redirect/3`, { redirects: 1 }));
  show('too many', http.get(`${url}/redirect/12`));
  for (const status of [301, 302, 303, 307, 308]) {
    show(`post ${status}`, http.post(`${url}/redirect-to?url=/anything/x&status=${status}`, 'body', { headers: { 'X-Own': 'kept', 'Content-Type': 'text/x' } }));
    show(`head ${status}`, http.head(`${url}/redirect-to?url=/ping&status=${status}`));
    show(`put ${status}`, http.put(`${url}/redirect-to?url=/anything/x&status=${status}`, 'body'));
  }
  show('absolute', http.get(`${url}/redirect-to?url=${encodeURIComponent(`${url}/ping?x=1#y`)}`));
  show('fragment', http.get(`${url}/redirect-to?url=/ping%23there`));
  show('refused', http.get(`${url}/redirect-to?url=${encodeURIComponent('http://127.0.0.1:1/')}`));
  show('scheme', http.get(`${url}/redirect-to?url=${encodeURIComponent('ftp://x/')}`));
  show('bad', http.get(`${url}/redirect-to?url=${encodeURIComponent('http://[::1')}`));
  show('encoded', http.get(`${url}/redirect-to?url=/anything/a%2520b`));
}
