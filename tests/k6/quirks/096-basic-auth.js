// 96: credentials stand in the URL, and auth: 'basic' changes nothing
import http from 'k6/http';
const U = __ENV.DEMO_URL;
const host = U.split('://')[1];
export default function () {
  for (const [url, auth] of [[`${U}/basic/user/pass`], [`http://user:pass@${host}/basic/user/pass`], [`http://user:pass@${host}/basic/user/pass`, 'basic'], [`${U}/basic/user/pass`, 'basic'], [`http://user:wrong@${host}/basic/user/pass`]]) {
    console.log(http.get(url, auth ? { auth } : {}).status);
  }
  const encoded = http.get(`${U}/basic/user/pass`, { headers: { Authorization: 'Basic dXNlcjpwYXNz' } });
  console.log(encoded.status, JSON.stringify(encoded.request.headers.Authorization));
}
