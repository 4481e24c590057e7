// http.batch in its forms.
import http from 'k6/http';

const url = __ENV.DEMO_URL;
const host = url.split('://')[1];
const hide = (text) => String(text).split(host).join('HOST');

export default function () {
  const show = (name, ...args) => {
    try {
      const got = http.batch(...args);
      const entries = Array.isArray(got) ? Array.from(got).map((r, i) => [i, r]) : Object.entries(got).sort();
      const text = entries.map(([k, r]) => `${k}=${r === undefined ? r : [r.status, r.request && r.request.method, hide(r.url), r.error_code, hide(r.error)].join('|')}`);
      console.log(name, Array.isArray(got), got.length, text.join(' ; '));
    } catch (e) {
      console.log(name, 'threw', e.name, hide(e.message));
    }
  };
  show('urls', [`${url}/ping`, `${url}/status/404`]);
  show('arrays', [['GET', `${url}/ping`], ['post', `${url}/anything/x`, 'body'], ['DELETE', `${url}/anything/x`, null, { tags: { a: 'b' } }]]);
  show('objects', [{ url: `${url}/ping` }, { method: 'post', url: `${url}/anything/x`, body: { a: 1 } }, { method: 'GET', url: `${url}/ping`, body: 'ignored' }]);
  show('named', { a: `${url}/ping`, b: { method: 'HEAD', url: `${url}/ping` }, 1: `${url}/status/500` });
  show('template', [http.url`${url}/status/${201}`]);
  show('empty', []);
  show('empty object', {});
  show('nothing');
  show('null', null);
  show('undefined', undefined);
  show('string', 'x');
  show('number', 5);
  show('two', [], []);
  show('bad url', [`${url}/ping`, 'http://[::1', `${url}/ping`]);
  show('no scheme', [`${url}/ping`, 'nonsense']);
  show('null entry', [null]);
  show('number entry', [5]);
  show('bad params', [['GET', `${url}/ping`, null, { responseType: 'x' }]]);
  show('refused', ['http://127.0.0.1:1/']);
}
