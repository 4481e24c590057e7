// Reads a page with selectors, sends its form, follows a link.

import http from 'k6/http';
import { parseHTML } from 'k6/html';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  iterations: 5,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const page = http.get(`${base}/html`);
  const doc = page.html();

  // Selections are lists of nodes, as in jQuery.
  const names = doc.find('#records tr:has(td)').map((index, row) => row.find('td').last().text());
  check(doc, {
    'the title': (d) => d.find('title').text() === 'Brunt demo',
    'the records': () => names.join() === 'anvil,bellows',
    'the token': (d) => d.find('input[name=csrf]').val() === '4f2a&9c',
  });

  // Elements have what the DOM has, as methods.
  /** @type {import('k6/html').AnchorElement | undefined} */
  const link = doc.find('a').get(0);
  check(link, {
    'where it leads': (a) => a?.href() === `${base}/json` && a.pathname() === '/json',
  });

  // Hidden fields come along; ours are set or replaced.
  const login = page.submitForm({ formSelector: '#login', fields: { password: 'secret' } });
  check(login, {
    'the form arrives': (r) => r.json('form.csrf') === '4f2a&9c' && r.json('form.password') === 'secret',
    'by the button': (r) => r.json('form.go') === 'login',
  });
  check(page.clickLink({ selector: 'a[href="/json"]' }), { 'the link works': (r) => r.status === 200 });

  check(parseHTML('<p>any <b>text</b></p>'), { 'is a document': (d) => d.find('p > b').text() === 'text' });
}
