// 119: a jar of one's own may be made in init code
import http from 'k6/http';
let told;
try { http.cookieJar(); told = 'ok'; } catch (e) { told = e.name; }
const jar = new http.CookieJar();
export default function () { console.log(told, typeof jar.set, jar.set(__ENV.DEMO_URL, 'a', 'b'), JSON.stringify(jar.cookiesForURL(__ENV.DEMO_URL))); }
