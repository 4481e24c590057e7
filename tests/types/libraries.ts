// The types of the libraries of jslib that are built in: what must compile, and behind `@ts-expect-error` what must not.

import { FormData as Form } from 'https://jslib.k6.io/formdata/0.0.2/index.js';
import { Get, Httpx } from 'https://jslib.k6.io/httpx/0.1.0/index.js';
import { jUnit, textSummary } from 'https://jslib.k6.io/k6-summary/0.1.0/index.js';
import { expect as expectTest } from 'https://jslib.k6.io/k6-testing/0.6.1/index.js';
import { findBetween, randomItem, uuidv4 } from 'https://jslib.k6.io/k6-utils/1.6.0/index.js';
import chai, { describe, expect } from 'https://jslib.k6.io/k6chaijs/4.5.0.1/index.js';
import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js';
import { TOTP } from 'https://jslib.k6.io/totp/1.0.0/index.js';
import { URL as Url } from 'https://jslib.k6.io/url/1.0.0/index.js';
import type { SummaryData } from 'brunt/summary';
import http from 'k6/http';

/** Exactly this type. */
function is<T>() {
  return <U>(_value: U & (([T] extends [U] ? ([U] extends [T] ? unknown : never) : never))) => {};
}

export function forms() {
  const form = new Form();
  form.append('picture', http.file('x', 'a.png'));
  is<ArrayBuffer>()(form.body());
  // @ts-expect-error: it is not the form of browsers
  form.get('picture');
}

export function sessions() {
  const session = new Httpx({ baseURL: 'http://a.test', headers: { 'X-Run': '7' } });
  is<number>()(session.get('/a').status);
  is<number>()(session.batch([new Get('/a'), '/b', ['POST', '/c', 'x']])[0]!.status);
  // @ts-expect-error: there is no such method
  session.request('BREW', '/coffee');
}

export function handleSummary(data: SummaryData) {
  // @ts-expect-error: it is a truth value
  textSummary(data, { enableColors: 'yes' });
  return { stdout: textSummary(data, { indent: ' ', enableColors: true }), 'junit.xml': jUnit(data, { name: 'x' }) };
}

export async function expectations() {
  expectTest(1).not.toBe(2);
  await expectTest({}).toHaveText(/x/, { timeout: 10 });
  // @ts-expect-error: there is no such matcher
  expectTest(1).toBeOne();
  is<boolean>()(describe('page', () => void expect(1, 'one').to.be.a('number').and.above(0)));
  is<string>()(chai.version);
  // @ts-expect-error: there is no such assertion
  expect(1).to.be.lovely;
}

export async function utilities() {
  is<string>()(uuidv4());
  is<number>()(randomItem([1, 2]));
  is<string | null>()(findBetween('a[b]c', '[', ']'));
  is<string[] | null>()(findBetween('a[b]c', '[', ']', true));
  // @ts-expect-error: it is a list
  randomItem(1);
  is<{ a: string }[]>()(papaparse.parse<{ a: string }>('a\n1', { header: true }).data);
  // @ts-expect-error: nothing is downloaded
  papaparse.parse('http://a.test/a.csv', { download: true });
  is<string>()(await new TOTP('GEZDGNBV').gen());
  // @ts-expect-error: the secret is missing
  new TOTP();
  is<string>()(new Url('http://a.test').host);
}
