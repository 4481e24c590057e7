// URLs as they are sent.
import http from 'k6/http';

const base = __ENV.DEMO_URL;
const host = base.split('://')[1];
const hide = (text) => text.split(host).join('HOST');

export default function () {
  for (const url of [
    `${base}/anything/a b?c d=e f`,
    `${base}/anything/ä?ö=ü#ß`,
    `${base}/anything/%20%2F?q=%zz`,
    `${base}/anything/x#fragment`,
    `${base}/anything/a;b,c'(d)*!$&+=:@~_-.`,
    `${base}/anything/{curly}|pipe^hat\`tick"quote<angle>`,
    `${base}/anything/../up/./here`,
    `${base}//anything//double`,
    `http://user:pa%20ss@${host}/anything/credentials`,
    `HTTP://${host}/anything/scheme`,
    `${base}?only=query`,
    `${base}/anything/?`,
    `${base}/anything/#`,
  ]) {
    const res = http.get(url);
    console.log(hide(`${url} -> ${res.status} ${res.url} ${res.error}`));
  }
  for (const url of ['http:///x', 'http://[::1', 'http://a b/', 'http://a:b/', 'http://%zz/', '://x', 'x:y']) {
    const res = http.get(url);
    console.log(hide(`${url} -> ${res.status} ${res.error_code} ${res.error} ${res.url}`));
  }
  const id = 7;
  const tagged = http.url`${base}/anything/${id}/x`;
  console.log(hide(JSON.stringify(tagged)));
  console.log(hide(http.get(tagged).url));
  console.log(hide(http.get(http.url`${base}/anything/plain`).url));
}
