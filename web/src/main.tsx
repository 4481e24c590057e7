/** Opens the data of the page, or follows a run, and shows them. */

import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import type { Config } from './data/model.js';
import { fromBase64, unpack } from './data/open.js';
import { Run } from './data/run.js';
import { App } from './view/app.js';
import { follow } from './view/live.js';
import { Page } from './view/page.js';
import { recolour } from './view/plot.js';
import { drawAll } from './view/section.js';

const root = document.getElementById('app')!;

function failed(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  root.replaceChildren();
  const line = document.createElement('p');
  line.className = 'opening';
  line.setAttribute('role', 'alert');
  line.textContent = `These results cannot be shown. ${text}`;
  root.append(line);
}

/** Told while there is nothing to show yet. */
function waitFor(why: string): void {
  const line = root.querySelector('.opening');
  if (line) line.textContent = why;
}

/** The stretch and the route that the address names: #from=12.5&to=60&route=GET+/cart, in seconds. */
function fromAddress(app: App): void {
  const wish = new URLSearchParams(location.hash.slice(1));
  const [from, to] = [Number(wish.get('from') ?? Number.NaN), Number(wish.get('to') ?? Number.NaN)];
  app.route = wish.get('route');
  if (to > from) app.chooseSeconds(from, to);
  else if (wish.get('from') === null) app.choose(null);
}

function toAddress(app: App): void {
  const wish = new URLSearchParams();
  const { from, to } = app.stretch;
  if (!app.whole) {
    wish.set('from', String(app.run.border(from)));
    wish.set('to', String(app.run.border(to)));
  }
  if (app.route !== null) wish.set('route', app.route);
  const hash = wish.toString();
  if (hash !== location.hash.slice(1)) history.replaceState(null, '', hash ? `#${hash}` : `${location.pathname}${location.search}`);
}

async function open(): Promise<void> {
  const text = document.getElementById('brunt-config')?.textContent ?? '{}';
  const config = JSON.parse(text) as Config;
  const app = new App(new Run());
  if (config.mode === 'live' && config.live) {
    await follow(app, config.live, waitFor, failed);
  } else {
    const element = document.getElementById('brunt-data')!;
    const packed = fromBase64((element.textContent ?? '').trim());
    // The text is not needed again.
    element.textContent = '';
    app.run.apply(await unpack(packed));
  }
  fromAddress(app);
  if (config.stretch && !/(^#|&)from=/.test(location.hash)) app.chooseSeconds(config.stretch.from, config.stretch.to);
  let planned = 0;
  app.listen(() => {
    // Browsers refuse addresses that change too often.
    clearTimeout(planned);
    planned = window.setTimeout(() => toAddress(app), 150);
  });
  addEventListener('hashchange', () => fromAddress(app));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
  addEventListener('beforeprint', () => {
    drawAll();
    document.documentElement.dataset.theme = 'print';
    recolour();
  });
  addEventListener('afterprint', () => {
    delete document.documentElement.dataset.theme;
    recolour();
  });
  if (!document.title.trim()) document.title = app.run.facts.run.name || 'Brunt';
  root.replaceChildren();
  render(<Page app={app} config={config} />, root);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

open().catch(failed);
