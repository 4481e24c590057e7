// The form application's script for browsers, in as much of a page as it looks at. Three quick clicks must be three
// requests one after the other, each with the token that the one before brought.

import http from 'k6/http';
import { check } from 'k6';

const name = 'javax.faces.ViewState';
const field = { name, value: 'token 0' };
const button = { id: 'form:search', name: 'form:search', value: 'Search' };
button.form = { id: 'form', action: '/app/orders.xhtml', querySelector: () => field };

const sent = [];
const told = [];
let answers = [];

// A document of one element: its name and its text.
class Answer {
  constructor(text) {
    [this.name, this.text] = text.split('=');
  }

  querySelector(wanted) {
    const isThere = wanted === this.name || (wanted === 'partial-response' && this.name !== 'html');
    return isThere ? { textContent: this.text } : null;
  }

  querySelectorAll() {
    return [{ id: `j_id1:${name}:0`, textContent: this.text }];
  }
}

Object.assign(globalThis, {
  window: globalThis,
  document: {
    getElementsByName: () => [field],
    querySelector: () => ({ insertAdjacentText: (_, text) => told.push(text) }),
  },
  DOMParser: class {
    parseFromString = (text) => new Answer(text);
  },
  FormData: class {},
  URLSearchParams: class extends Map {
    constructor() {
      super([[name, field.value]]);
    }
  },
  fetch: async (address, { body }) => {
    sent.push(body.get(name));
    await Promise.resolve();
    const text = answers.shift();
    if (!text) {
      throw new Error('no network');
    }
    return { status: 503, text: async () => text };
  },
});

export const options = { thresholds: { checks: ['rate==1'] } };

export default async function () {
  const script = http.get(`${__ENV.DEMO_URL}/app/javax.faces.resource/jsf.js`);
  (0, eval)(script.body);
  const { faces } = globalThis;

  answers = ['update=token 1', 'update=token 2', 'update=token 3'];
  const stays = [1, 2, 3].map(() => faces.ajax(button, 'form:orders'));
  await faces.last;
  answers = ['error-message=expired', 'html=busy'];
  [1, 2, 3].forEach(() => faces.ajax(button, 'form:orders'));
  await faces.last;

  check(null, {
    'the browser stays': () => stays.every((stay) => stay === false),
    'each request has the token of the one before': () =>
      sent.join() === 'token 0,token 1,token 2,token 3,token 3,token 3',
    'errors are shown': () => told.join() === 'expired,HTTP 503,no network',
  });
}
