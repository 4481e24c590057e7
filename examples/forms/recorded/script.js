// Made from HAR of Brunt 0.1.0 on 2026-09-21.
//
//   brunt run script.js
//   k6 run --secret-source=file=secrets.env script.js
//
// data.json: texts that the user typed, a row for each user; add more rows
// secrets.env: passwords and keys; keep it to yourself
// bodies/: files that the user sent

import { check, fail, group, sleep } from 'k6';
import http from 'k6/http';
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import secrets from 'k6/secrets';

const BASE = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 1,
  iterations: 1,
  // As many connections as a browser opens to a server.
  batchPerHost: 6,
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<500'],
  },
  // More users: put one of these in place of `vus` and `iterations`.
  //
  // Up to 20 users at the same time:
  // stages: [
  //   { duration: '1m', target: 20 },
  //   { duration: '5m', target: 20 },
  //   { duration: '1m', target: 0 },
  // ],
  //
  // 2 users come each second, however long the others take:
  // scenarios: {
  //   arrivals: { executor: 'constant-arrival-rate', rate: 2, timeUnit: '1s', duration: '5m', preAllocatedVUs: 100 },
  // },
};

// 1 is the user's own pace, 0 is without pauses.
const PACE = Number(__ENV.PACE || 1);

const headers = {
  'Accept-Encoding': 'gzip, deflate, br',
  'Accept-Language': 'en-GB,en;q=0.9',
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
};

const pageHeaders = {
  ...headers,
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'Upgrade-Insecure-Requests': '1',
};

const resourceHeaders = { ...headers, Accept: '*/*' };

// Each iteration takes a row.
const inputs = new SharedArray('inputs', () => JSON.parse(open('./data.json')));

const dotFile = open('./bodies/dot.png', 'b');

export default async function () {
  const input = inputs[exec.scenario.iterationInTest % inputs.length];
  const password = await secrets.get('password');
  let form2, id, logoutForm;

  group('log in', () => {
    let res = http.get(`${BASE}/app/login.xhtml`, { headers: pageHeaders });
    check(res, {
      'GET /app/login.xhtml is 200': (r) => r.status === 200,
      'page “Log in”': (r) => (r.body || '').includes('<title>Log in</title>'),
    });
    const form = formFields(res.html(), 'form[id="form"]');

    const parts = [
      `${BASE}/app/javax.faces.resource/theme.css?ln=demo&v=1_0`,
      `${BASE}/app/javax.faces.resource/jsf.js?ln=javax.faces&v=1_0`,
      `${BASE}/app/javax.faces.resource/logo.png?ln=demo&v=1_0`,
    ];
    const answers = http.batch(parts.map((url) => ['GET', url, null, { headers: resourceHeaders }]));
    check(answers, {
      'the parts of the page came': (all) => all.every((r) => r.status > 0 && r.status < 400),
    });

    think(2.4);

    res = http.post(
      `${BASE}/app/login.xhtml`,
      { ...form, 'form:user': input.user, 'form:password': password, 'form:submit': 'Log in' },
      { headers: { ...pageHeaders, Origin: BASE, Referer: `${BASE}/app/login.xhtml` } },
    );
    check(res, {
      'POST /app/login.xhtml is 200': (r) => r.status === 200,
      'page “Orders”': (r) => (r.body || '').includes('<title>Orders</title>'),
    });
    // From the answer to POST /app/login.xhtml: href of a[id="form:orders:0:link"].
    id = found('id', () => parameter(res.html('a[id="form:orders:0:link"]').attr('href'), 'id'));
    form2 = formFields(res.html(), 'form[id="form"]');
  });

  think(1.8);

  group('change an order', () => {
    let res = http.post(
      `${BASE}/app/orders.xhtml`,
      { ...form2, 'form:filter': input.filter, 'form:search': 'Search' },
      { headers: { ...pageHeaders, Origin: BASE, Referer: `${BASE}/app/orders.xhtml` } },
    );
    check(res, {
      'POST /app/orders.xhtml is 200': (r) => r.status === 200,
      'page “Orders”': (r) => (r.body || '').includes('<title>Orders</title>'),
    });

    think(1.3);

    res = http.get(`${BASE}/app/order.xhtml?id=${id}`, {
      headers: pageHeaders,
      tags: { name: '/app/order.xhtml?id={id}' },
    });
    check(res, { 'GET /app/order.xhtml is 200': (r) => r.status === 200 });
    const form3 = formFields(res.html(), 'form[id="form"]');

    think(3.1);

    res = http.post(
      `${BASE}/app/order.xhtml`,
      { ...form3, 'form:quantity': input.quantity, 'form:note': input.note, 'form:save': 'Save' },
      { headers: { ...pageHeaders, Origin: BASE, Referer: `${BASE}/` } },
    );
    check(res, {
      'POST /app/order.xhtml is 200': (r) => r.status === 200,
      'page “Orders”': (r) => (r.body || '').includes('<title>Orders</title>'),
    });
  });

  group('upload', () => {
    let res = http.get(`${BASE}/app/upload.xhtml`, { headers: pageHeaders });
    check(res, {
      'GET /app/upload.xhtml is 200': (r) => r.status === 200,
      'page “Upload”': (r) => (r.body || '').includes('<title>Upload</title>'),
    });
    const form4 = formFields(res.html(), 'form[id="form"]');

    think(4.2);

    res = http.post(
      `${BASE}/app/upload.xhtml`,
      {
        ...form4,
        form_field_1: input.formField1,
        form_field_2: input.formField2,
        'form:file': http.file(dotFile, 'dot.png', 'image/png'),
        'form:upload': 'Upload',
      },
      { headers: { ...pageHeaders, Origin: BASE, Referer: `${BASE}/app/upload.xhtml` } },
    );
    check(res, {
      'POST /app/upload.xhtml is 200': (r) => r.status === 200,
      'page “Upload”': (r) => (r.body || '').includes('<title>Upload</title>'),
    });
    logoutForm = formFields(res.html(), 'form[id="logout"]');
  });

  think(0.9);

  group('log out', () => {
    const res = http.post(`${BASE}/app/logout.xhtml`, { ...logoutForm, 'logout:submit': 'Log out' }, {
      headers: { ...pageHeaders, Origin: BASE, Referer: `${BASE}/app/upload.xhtml` },
    });
    check(res, {
      'POST /app/logout.xhtml is 200': (r) => r.status === 200,
      'page “Log in”': (r) => (r.body || '').includes('<title>Log in</title>'),
    });
  });
}

// Pauses as long as the user did, give or take a fifth.
function think(seconds) {
  sleep(seconds * PACE * (0.8 + 0.4 * Math.random()));
}

// The value that `take` gives, as text. Without one the iteration ends: nothing is sent with a wrong value.
function found(name, take) {
  let value;
  try {
    value = take();
  } catch (error) {
    // It is not there: not found.
  }
  const isFound = value !== undefined && value !== null && value !== '';
  if (!check(value, { [`found ${name}`]: () => isFound })) fail(`${name} is not in the answer`);
  return String(value);
}

// The fields that a browser sends with a form, as the page filled them in; several of one name are a list.
function formFields(page, selector) {
  const form = page.find(selector).first();
  found(`form ${selector}`, () => form.size() || '');
  const fields = {};
  const add = (name, value) => {
    const text = value.replace(/\r?\n/g, '\r\n');
    fields[name] = name in fields ? [].concat(fields[name], text) : text;
  };
  const all = form.find('input, select, textarea');
  for (let i = 0; i < all.size(); i += 1) {
    const field = all.eq(i);
    const name = field.attr('name');
    const type = (field.attr('type') || 'text').toLowerCase();
    const isBox = type === 'checkbox' || type === 'radio';
    const isOff = field.attr('disabled') !== undefined || field.closest('fieldset[disabled]').size() > 0;
    if (!name || isOff || (field.is('input') && /^(submit|button|reset|image|file)$/.test(type))) continue;
    if (field.is('select')) {
      const options = field.find('option');
      let chosen = field.find('option[selected]');
      if (chosen.size() === 0 && field.attr('multiple') === undefined) chosen = options.first();
      for (let k = 0; k < chosen.size(); k += 1) {
        const value = chosen.eq(k).attr('value');
        add(name, value === undefined ? chosen.eq(k).text().trim() : value);
      }
    } else if (field.is('textarea')) {
      add(name, field.text());
    } else if (!isBox || field.attr('checked') !== undefined) {
      add(name, field.attr('value') || (isBox && field.attr('value') === undefined ? 'on' : ''));
    }
  }
  return fields;
}

// A parameter of a URL's query or fragment.
function parameter(url, name) {
  const decoded = (text) => decodeURIComponent(text.replace(/\+/g, ' '));
  const pairs = url.split(/[?#&]/).map((pair) => pair.split('='));
  const pair = pairs.find(([key, ...value]) => value.length > 0 && decoded(key) === name);
  return pair && decoded(pair.slice(1).join('='));
}
