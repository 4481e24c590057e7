// Params of each type, right and wrong.
import http from 'k6/http';

const url = `${__ENV.DEMO_URL}/ping`;

export default function () {
  const show = (name, params) => {
    try {
      const res = http.get(url, params);
      console.log(`${name}: ${res.status} ${typeof res.body} ${res.error_code} ${res.error}`);
    } catch (e) {
      console.log(`${name}: threw ${e.name}: ${e.message}`);
    }
  };
  show('none');
  show('null', null);
  show('undefined', undefined);
  show('string', 'x');
  show('number', 5);
  show('array', []);
  show('unknown key', { nonsense: 1 });
  show('tags', { tags: { a: 1, b: 'x', c: true } });
  for (const a of [null, undefined, {}, [1]]) console.log(http.get(url, { tags: { a }, throw: true }).status);
  show('tags null', { tags: null });
  show('timeout text', { timeout: '10s' });
  show('timeout number', { timeout: 10000 });
  show('timeout float', { timeout: 10000.5 });
  show('timeout digits', { timeout: '10000' });
  show('timeout nonsense', { timeout: 'soon' });
  show('timeout object', { timeout: {} });
  show('timeout null', { timeout: null });
  show('response type binary', { responseType: 'binary' });
  show('response type none', { responseType: 'none' });
  show('response type text', { responseType: 'text' });
  show('response type wrong', { responseType: 'json' });
  show('callback null', { responseCallback: null });
  show('callback', { responseCallback: http.expectedStatuses(200) });
  show('callback wrong', { responseCallback: 5 });
  show('callback function', { responseCallback: () => true });
  show('jar null', { jar: null });
  show('jar', { jar: new http.CookieJar() });
  show('redirects text', { redirects: '3' });
  show('redirects negative', { redirects: -1 });
  show('compression wrong', { compression: 'lzw' });
  show('compression', { compression: 'gzip' });
  show('auth unknown', { auth: 'basic' });
  show('throw', { throw: true, timeout: 'soon' });
  show('throw type', { throw: true, responseType: 'json' });
  show('throw compression', { throw: true, compression: 'lzw' });
  for (const args of [[], [undefined], [null], [5], [''], ['nonsense'], ['/relative'], ['ftp://x/']]) {
    try {
      const res = http.get(...args);
      console.log(`url ${JSON.stringify(args)}: ${res.status} ${res.error_code} ${res.error}`);
    } catch (e) {
      console.log(`url ${JSON.stringify(args)}: threw ${e.name}: ${e.message}`);
    }
  }
}
