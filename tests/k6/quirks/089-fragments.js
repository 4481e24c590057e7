// 89: fragments stay in res.url
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () { console.log(http.get(`${U}/ping#part`).url.replace(U, '')); }
