// res.html(), res.submitForm(), res.clickLink() against the demo target's page.
import http from 'k6/http';
import { check } from 'k6';

const demo = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
function attempt(what, run) {
  try {
    const value = run();
    console.log(what, value === undefined ? 'undefined' : typeof value === 'string' ? value : JSON.stringify(value));
  } catch (error) { console.log(what, 'throws', String(error).split(demo).join('DEMO').replace(/ at .*/s, '')); }
}
const told = (res) => `${res.status} ${res.url.replace(demo, '')} ${res.request.method} ${res.request.body}`;

export default function () {
  const page = http.get(`${demo}/html`);
  check(page.html(), {
    title: (doc) => doc.find('title').text() === 'Brunt demo',
    links: (doc) => doc.find('a').size() > 2,
    url: (doc) => doc.url === `${demo}/html`,
  });
  attempt('html selector', () => page.html('h1').text());
  attempt('html twice', () => page.html('li').size() === page.html().find('li').size());
  attempt('href', () => page.html('a').first().get(0).href().replace(demo, ''));
  attempt('attr', () => page.html('a').first().attr('href'));
  attempt('csrf', () => page.html('input[name=csrf]').val());
  attempt('login', () => told(page.submitForm({ formSelector: '#login', fields: { password: 'p&w', tags: ['a', 'b'] } })));
  attempt('login again', () => told(page.submitForm({ formSelector: '#login', submitSelector: '#none' })));
  attempt('search', () => told(page.submitForm({ formSelector: '#search', fields: { q: 'two words' } })));
  attempt('search empty', () => told(page.submitForm({ formSelector: '#search' })));
  attempt('params', () => told(page.submitForm({ formSelector: '#search', params: { redirects: 0, tags: { kind: 'search' } } })));
  attempt('no form', () => page.submitForm({ formSelector: '#none' }));
  attempt('click', () => told(page.clickLink()));
  attempt('click one', () => told(page.clickLink({ selector: 'a[rel=nofollow]' })));
  attempt('click redirects', () => told(page.clickLink({ selector: 'li:nth-child(2) a', params: { redirects: 0 } })));
  attempt('click none', () => page.clickLink({ selector: 'a.none' }));
  attempt('click no href', () => page.clickLink({ selector: 'h1' }));
  attempt('click null', () => page.clickLink(null));
  const empty = http.get(`${demo}/html`, { responseType: 'none' });
  attempt('null body', () => empty.html());
  attempt('null body form', () => empty.submitForm());
  attempt('null body link', () => empty.clickLink());
  const binary = http.get(`${demo}/html`, { responseType: 'binary' });
  attempt('binary', () => binary.html('h1').text());
}
