// {{ .ScriptName }}: one user who opens a page in a browser and looks at its heading.
//
// The module k6/browser drives a Chromium; k6 has it.
import { browser } from 'k6/browser';
import { check } from 'k6';

export const options = {
  scenarios: {
    ui: {
      executor: 'shared-iterations',
      vus: 1,
      iterations: 1,
      options: { browser: { type: 'chromium' } },
    },
  },
  thresholds: { checks: ['rate==1'] },
};

const url = __ENV.URL || 'http://127.0.0.1:8080/';

export default async function () {
  const page = await browser.newPage();
  try {
    await page.goto(url);
    const heading = await page.locator('h1').textContent();
    check(heading, { 'there is a heading': (text) => text !== '' });
  } finally {
    await page.close();
  }
}
