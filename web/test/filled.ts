/** The built page with data in it, and the system's Chromium to open it. */

import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import puppeteer, { type Browser } from 'puppeteer-core';

export const template = () => readFileSync(new URL('../../dist/page.html', import.meta.url), 'utf8');

/** Fills the places of the template, as DATA.md §1 says. */
export function fill(config: unknown, title: string, document?: Uint8Array): string {
  const escaped = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const data = document ? gzipSync(document, { level: 9 }).toString('base64') : '';
  const [start, rest] = template().split('__BRUNT_TITLE__');
  const [middle, last] = rest!.split('__BRUNT_CONFIG__');
  const [between, end] = last!.split('__BRUNT_DATA__');
  return [start, escaped, middle, JSON.stringify(config).replaceAll('<', '\\u003c'), between, data, end].join('');
}

export function chromium(): string {
  const found = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => path && existsSync(path));
  if (!found) throw new Error('These tests need Chromium: install the package chromium, or name it with the variable CHROMIUM.');
  return found;
}

export function launch(): Promise<Browser> {
  return puppeteer.launch({ executablePath: chromium(), headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb'] });
}
