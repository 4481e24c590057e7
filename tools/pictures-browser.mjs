// What tools/pictures.mjs and tools/pictures-first.mjs share: Chromium, and a page of it with a report.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const web = path.resolve(process.env.WEB ?? new URL('../web', import.meta.url).pathname);
const puppeteer = createRequire(`${web}/package.json`)('puppeteer-core');

// Starts Chromium; ends the process if there is none.
export async function launch() {
  const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const executablePath = places.find((place) => place && existsSync(place));
  if (!executablePath) {
    console.error('no Chromium: install the package chromium, or name it with the variable CHROMIUM');
    process.exit(1);
  }
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb'];
  return puppeteer.launch({ executablePath, headless: true, args });
}

// Opens a report in a page of this size, in light colours, and waits until it is drawn.
export async function open(page, file, width, height) {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  await page.setViewport({ width, height, deviceScaleFactor: 1 });
  await page.goto(pathToFileURL(path.resolve(file)).href);
  const isReady = () => document.documentElement.dataset.ready !== undefined;
  await page.waitForFunction(isReady, { timeout: 120_000, polling: 200 });
}
