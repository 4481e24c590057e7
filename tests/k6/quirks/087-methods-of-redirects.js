// 86, 87, 88: which method and body a redirect goes on with, which request and URL are told, and how many are followed
import http from 'k6/http';
const U = __ENV.DEMO_URL;
const told = (name, res) => console.log(name, res.status, res.request.method, res.request.url, res.url, JSON.stringify(res.request.body), res.error_code);
export const options = { maxRedirects: 4 };
export default function () {
  for (const status of [301, 302, 303, 307, 308]) {
    for (const method of ['POST', 'PUT', 'DELETE', 'HEAD']) {
      const res = http.request(method, `${U}/redirect-to?status=${status}&status_code=${status}&url=${encodeURIComponent('/anything/there')}`, method === 'HEAD' ? null : 'body');
      told(`${status} ${method}`, res);
      if (res.body) console.log(res.json().method, JSON.stringify(res.json().body || res.json().data || ''));
    }
  }
  for (const redirects of [0, 1, 2, 9]) told(`limit ${redirects}`, http.get(`${U}/redirect/3`, { redirects }));
  told('option', http.get(`${U}/redirect/6`));
}
