// Methods of a response are its own: they work when a script takes them away.
import http from 'k6/http';

const url = __ENV.DEMO_URL;

export default function () {
  const { json, status } = http.get(`${url}/json`);
  console.log(status, typeof json(), Object.keys(json()).length > 0);
  const page = http.get(`${url}/html`);
  const html = page.html;
  console.log(typeof html, typeof html().find);
  console.log([http.get(`${url}/json`)].map((response) => response.json).map((read) => typeof read())[0]);
  const failed = http.get('http://127.0.0.1:1/');
  const { json: read } = failed;
  try { read(); } catch (e) { console.log(String(e)); }
}
