// {{ .ScriptName }}: two visitors open a page in a browser, three times each, and look whether it says anything.
//
// The module k6/browser drives a Chromium; k6 has it.
import { browser } from 'k6/browser';
import { check, fail } from 'k6';
import { Trend } from 'k6/metrics';

const address = __ENV.URL || 'http://127.0.0.1:8080/';
const opening = new Trend('page_opening', true);

export const options = {
  thresholds: { checks: ['rate>0.99'], page_opening: ['p(95)<3000'] },
  scenarios: {
    visitors: {
      executor: 'per-vu-iterations',
      vus: 2,
      iterations: 3,
      maxDuration: '2m',
      options: { browser: { type: 'chromium' } },
    },
  },
};

export default async function () {
  const tab = await browser.newPage();
  try {
    const begin = Date.now();
    const answer = await tab.goto(address, { waitUntil: 'load' });
    opening.add(Date.now() - begin);
    if (!answer) fail(`${address} doesn't answer`);
    const text = await tab.locator('body').innerText();
    check(text, { 'the page says something': (words) => words.trim() !== '' });
  } finally {
    // Also of a page that can't be opened: a tab that stays open takes memory.
    await tab.close();
  }
}
