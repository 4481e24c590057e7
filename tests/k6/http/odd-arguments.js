// Arguments of k6/http of wrong types: what is told, what is sent all the same
import http from 'k6/http';

const url = `${__ENV.DEMO_URL}/ping`;

function tell(name, run) {
  try {
    console.log(name, JSON.stringify(run()));
  } catch (e) {
    console.log(name, 'threw', e.name, e.message);
  }
}
const facts = (res) => [res.status, res.error, res.error_code];

export default function () {
  const noUrls = {
    number: 1.5, big: 1e21, infinite: Infinity, none: null, list: ['a', 1, null], object: { b: 1, a: { c: true } },
    map: new Map([['a', 1]]), set: new Set(['x']), bytes: new Uint8Array([1, 2]), boxed: new Number(5), bool: true,
  };
  for (const [name, value] of Object.entries(noUrls)) tell(`url ${name}`, () => facts(http.get(value)));
  tell('url empty', () => facts(http.get('')));
  tell('name empty', () => facts(http.get(url, { tags: { name: '' } })));
  const timeouts = {
    nan: NaN, infinite: Infinity, huge: 1e300, text: 'soon', blank: ' 1s', inside: '1 s', unit: '5m5', other: '1x', boxed: new Number(5000),
    function: () => 1, bigint: 10n, map: new Map(), set: new Set(), date: new Date(0), bytes: new Uint8Array(2),
  };
  for (const [name, timeout] of Object.entries(timeouts)) {
    if (name !== 'date') tell(`timeout ${name}`, () => facts(http.get(url, { timeout })));
  }
  for (const compression of ['GZIP', ' gzip', 'gzip,', ',', 'x', 'br,x']) {
    tell(`compression ${compression}`, () => facts(http.post(url, 'x', { compression })));
  }
  const cookies = { function: Math.max, map: new Map(), view: new Uint8Array([1, 2]), boxed: new Number(5), value: { value: undefined }, none: {} };
  for (const [name, value] of Object.entries(cookies)) {
    if (name !== 'function') tell(`cookie ${name}`, () => http.get(url, { cookies: { a: value } }).request.cookies.a);
  }
  for (const tag of [new Number(5), new Boolean(true), new String('x')]) tell('boxed tag', () => facts(http.get(url, { tags: { tag } })));
  const batches = {
    short: [['GET']], empty: [[]], method: [[5, url]], noMethod: [[undefined, url]], object: [{ method: undefined, url }],
    noUrl: [{ method: 'GET' }], nested: [[{ a: [1, 'x'] }, url]], odd: [new Map([['a', 1]])],
  };
  for (const [name, batch] of Object.entries(batches)) {
    if (name !== 'odd') tell(`batch ${name}`, () => http.batch(batch).map((res) => res && facts(res)));
  }
  for (const value of [5n, 1.5, () => 1]) tell('batch of', () => http.batch(value));
  for (const status of [undefined, null, 1.5, 'x', [], {}, { min: 200 }, { min: '200', max: 300 }, new Map()]) {
    tell('expected', () => typeof http.expectedStatuses(status));
  }
  const json = http.get(`${__ENV.DEMO_URL}/json`);
  for (const selector of [undefined, null, '', 'a', 5, {}]) tell('selector', () => typeof json.json(selector));
  tell('no host', () => facts(http.get(url, { headers: { Host: '' } })));
  tell('length', () => facts(http.post(url, 'x', { headers: { 'Content-Length': '' } })));
  tell('callback of nothing', () => http.setResponseCallback());
  tell('callback of undefined', () => http.setResponseCallback(undefined));
}
