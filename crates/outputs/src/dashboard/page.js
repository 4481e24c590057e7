'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const make = (name, about = {}, ...inner) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(about)) {
      if (key in element) element[key] = value; else element.setAttribute(key, value);
    }
    element.append(...inner);
    return element;
  };
  const draw = (name, about = {}, text) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(about)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // --- The events' data -----------------------------------------------------------------------------------------

  // `points` are snapshots: { t, of: { metric: [numbers] } }.
  const fresh = () => ({ param: { aggregates: {}, thresholds: {} }, metrics: {}, names: [], points: [], total: {}, crossed: {}, exceptions: { told: [], others: 0 }, start: 0, now: 0, stop: 0 });
  let told = fresh();

  const unpack = (rows) => {
    const of = {};
    told.names.forEach((name, index) => { of[name] = rows[index]; });
    return of;
  };

  const take = {
    config() { told = fresh(); },
    param(data) { told.param = data; },
    metric(data) {
      Object.assign(told.metrics, data);
      told.names = Object.keys(told.metrics).sort();
    },
    start(data) { told.start = data[0][0]; },
    snapshot(data) {
      const of = unpack(data);
      told.points.push({ t: of.time[0], of });
    },
    cumulative(data) {
      told.total = unpack(data);
      told.now = told.total.time[0];
    },
    threshold(data) { told.crossed = data; },
    exceptions(data) { told.exceptions = data; },
    stop(data) { told.stop = data[0][0]; },
  };

  // A number of a metric's row, by its name; undefined if the row has none.
  const pick = (row, metric, number) => {
    const about = told.metrics[metric];
    if (!row || !about) return undefined;
    return row[(told.param.aggregates[about.type] || []).indexOf(number)];
  };

  // --- How numbers are written ----------------------------------------------------------------------------------

  const trim = (number, digits = 4) => String(Number(number.toPrecision(digits)));
  const scaled = (number, units, step) => {
    let index = 0;
    let size = Math.abs(number);
    while (size >= step && index < units.length - 1) { size /= step; number /= step; index += 1; }
    return trim(number) + units[index];
  };
  const plain = (number) => (Math.abs(number) < 1e5 ? trim(number, 5) : scaled(number, ['', ' k', ' M', ' G'], 1000));
  const write = {
    time(ms) {
      const size = Math.abs(ms);
      if (size === 0) return '0';
      if (size >= 60000) return `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
      if (size >= 1000) return trim(ms / 1000) + ' s';
      return size >= 1 ? trim(ms) + ' ms' : trim(ms * 1000) + ' µs';
    },
    data: (bytes) => scaled(bytes, [' B', ' kB', ' MB', ' GB', ' TB'], 1000),
    share: (part) => trim(part * 100, 4) + ' %',
    default: plain,
  };
  const perSecond = (kind) => (number) => write[kind](number) + '/s';

  // How this number of this metric is written.
  const writer = (metric, number) => {
    const about = told.metrics[metric] || {};
    if (about.type === 'rate') return write.share;
    const kind = write[about.contains] ? about.contains : 'default';
    if (number === 'rate') return perSecond(kind);
    return write[kind];
  };
  const clock = (ms) => {
    const seconds = Math.max(0, Math.round(ms / 1000));
    const two = (number) => String(number).padStart(2, '0');
    const hours = Math.floor(seconds / 3600);
    return (hours ? hours + ':' : '') + two(Math.floor(seconds / 60) % 60) + ':' + two(seconds % 60);
  };

  // --- Charts ---------------------------------------------------------------------------------------------------

  const colors = ['#4c9df0', '#e0a030', '#3fb27f', '#e5484d', '#9b7be8', '#3cb8c4', '#8fb339', '#d06ba8'];
  // Lines on the right have a scale of their own.
  const line = (metric, number, name, right) => ({ metric, number, name: name || number, right: Boolean(right), on: true });
  const trendLines = (metric) => ['avg', 'med', 'p(90)', 'p(95)', 'p(99)', 'max'].map((number) => line(metric, number));
  const planned = [
    ['Requests', line('http_reqs', 'rate', 'requests'), line('http_req_duration', 'p(95)', 'p(95) of their duration', true)],
    ['VUs and iterations', line('vus', 'value', 'VUs'), line('iterations', 'rate', 'iterations', true)],
    ['Request duration', ...trendLines('http_req_duration')],
    ['Failures and checks', line('http_req_failed', 'rate', 'failed requests'), line('checks', 'rate', 'passed checks', true), line('dropped_iterations', 'rate', 'dropped iterations', true)],
    ['Transfer', line('data_received', 'rate', 'received'), line('data_sent', 'rate', 'sent')],
    ['Parts of a request, on average', ...['blocked', 'connecting', 'tls_handshaking', 'sending', 'waiting', 'receiving'].map((part) => line(`http_req_${part}`, 'avg', part))],
    ['Iteration duration', ...trendLines('iteration_duration')],
  ];
  const charts = new Map();

  // One chart per metric that no planned chart shows.
  const wanted = () => {
    const shown = new Set(planned.flatMap(([, ...lines]) => lines.map((one) => one.metric)));
    const hidden = new Set(['time', 'vus_max']);
    const more = told.names.filter((name) => !name.includes('{') && !shown.has(name) && !hidden.has(name));
    const own = more.map((name) => {
      const numbers = { counter: ['rate'], gauge: ['value'], rate: ['rate'] }[told.metrics[name].type];
      return [name, ...(numbers ? numbers.map((number) => line(name, number)) : trendLines(name))];
    });
    return [...planned, ...own].filter(([, ...lines]) => lines.some((one) => told.metrics[one.metric]));
  };

  const niceTop = (value) => {
    if (!(value > 0)) return 1;
    const power = Math.pow(10, Math.floor(Math.log10(value)));
    return [1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15].find((digit) => digit * power >= value * 1.02) * power || value;
  };

  class Chart {
    constructor(title, lines) {
      this.lines = lines;
      this.svg = draw('svg', { role: 'img', 'aria-label': title });
      this.tip = make('div', { className: 'tip', hidden: true });
      this.legend = make('div', { className: 'legend' });
      this.element = make('article', { className: 'chart' }, make('h3', { textContent: title }), this.svg, this.tip, this.legend);
      this.hover = null;
      const move = (event) => {
        this.hover = event.clientX - this.svg.getBoundingClientRect().left;
        this.paint();
      };
      this.svg.addEventListener('pointermove', move);
      this.svg.addEventListener('pointerdown', move);
      this.svg.addEventListener('pointerleave', () => { this.hover = null; this.paint(); });
      lines.forEach((one, index) => { one.color = colors[index % colors.length]; });
      this.buttons = lines.map((one) => {
        const swatch = make('span', { className: 'swatch' });
        swatch.style.background = one.color;
        const button = make('button', { type: 'button', title: 'hide or show' }, swatch, one.name + (one.right ? ' →' : ''));
        button.addEventListener('click', () => { one.on = !one.on; this.paint(); });
        this.legend.append(button);
        return button;
      });
    }

    value(point, one) { return pick(point.of[one.metric], one.metric, one.number); }

    paint() {
      const { svg, lines } = this;
      const width = svg.clientWidth || 480;
      const height = 200;
      const there = lines.filter((one) => told.metrics[one.metric]);
      const shown = there.filter((one) => one.on);
      lines.forEach((one, index) => {
        this.buttons[index].hidden = !there.includes(one);
        this.buttons[index].classList.toggle('off', !one.on);
      });
      const points = inRange();
      const hasRight = shown.some((one) => one.right);
      const box = { left: 58, right: width - (hasRight ? 58 : 8), top: 6, bottom: height - 20 };
      const from = points.length ? points[0].t : 0;
      const span = points.length > 1 ? points[points.length - 1].t - from : 1;
      const x = (t) => box.left + ((t - from) / span) * (box.right - box.left);
      const top = (right) => {
        const values = shown.filter((one) => one.right === right).flatMap((one) => points.map((point) => this.value(point, one) || 0));
        const isShare = shown.some((one) => one.right === right && (told.metrics[one.metric] || {}).type === 'rate');
        const high = values.reduce((high, value) => Math.max(high, value), 0);
        return isShare && high > 0.5 ? 1 : niceTop(high);
      };
      const tops = [top(false), top(true)];
      const y = (value, right) => box.bottom - (value / tops[right ? 1 : 0]) * (box.bottom - box.top);
      svg.replaceChildren();
      svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
      for (const right of [false, true]) {
        const first = shown.find((one) => one.right === right);
        if (!first) continue;
        const text = writer(first.metric, first.number);
        for (const part of [0, 0.5, 1]) {
          const at = y(tops[right ? 1 : 0] * part, right);
          if (!right) svg.append(draw('line', { class: 'rule', x1: box.left, x2: box.right, y1: at, y2: at }));
          svg.append(draw('text', { x: right ? box.right + 5 : box.left - 5, y: at + 4, 'text-anchor': right ? 'start' : 'end' }, text(tops[right ? 1 : 0] * part)));
        }
      }
      if (points.length) {
        const count = Math.max(1, Math.floor((box.right - box.left) / 90));
        for (let index = 0; index <= count; index += 1) {
          const t = from + (span * index) / count;
          svg.append(draw('text', { x: x(t), y: height - 4, 'text-anchor': index === 0 ? 'start' : index === count ? 'end' : 'middle' }, clock(t - told.start)));
        }
      }
      for (const one of shown) {
        const path = [];
        let isOpen = false;
        for (const point of points) {
          const value = this.value(point, one);
          if (value === undefined) { isOpen = false; continue; }
          path.push(`${isOpen ? 'L' : 'M'}${x(point.t).toFixed(1)} ${y(value, one.right).toFixed(1)}`);
          isOpen = true;
        }
        if (points.length === 1 && path.length) svg.append(draw('circle', { cx: box.left, cy: path[0].split(' ')[1], r: 2.5, fill: one.color }));
        svg.append(draw('path', { d: path.join(''), fill: 'none', stroke: one.color, 'stroke-width': 1.5, 'stroke-linejoin': 'round' }));
      }
      this.showTip(points, shown, x, box);
    }

    showTip(points, shown, x, box) {
      this.tip.hidden = this.hover === null || points.length === 0;
      if (this.tip.hidden) return;
      const near = points.reduce((best, point) => (Math.abs(x(point.t) - this.hover) < Math.abs(x(best.t) - this.hover) ? point : best));
      const at = x(near.t);
      this.svg.append(draw('line', { class: 'cross', x1: at, x2: at, y1: box.top, y2: box.bottom }));
      const rows = shown.map((one) => {
        const value = this.value(near, one);
        const swatch = make('span', { className: 'swatch' });
        swatch.style.background = one.color;
        return make('div', {}, swatch, `${one.name}: ${value === undefined ? '–' : writer(one.metric, one.number)(value)}`);
      });
      this.tip.replaceChildren(make('b', { textContent: clock(near.t - told.start) }), ...rows);
      const isRight = at > (box.left + box.right) / 2;
      this.tip.style.top = '2.5rem';
      this.tip.style.left = isRight ? '' : `${at + 24}px`;
      this.tip.style.right = isRight ? `${this.svg.clientWidth - at + 24}px` : '';
    }
  }

  // --- The rest of the page -------------------------------------------------------------------------------------

  const ranges = [['everything', 0], ['the last 5 minutes', 300000], ['the last 15 minutes', 900000], ['the last hour', 3600000]];
  const range = byId('range');
  ranges.forEach(([name, ms]) => range.append(make('option', { value: String(ms), textContent: name })));
  const inRange = () => {
    const ms = Number(range.value);
    if (!ms || !told.points.length) return told.points;
    const from = told.points[told.points.length - 1].t - ms;
    return told.points.filter((point) => point.t >= from);
  };

  const tiles = [
    ['Iterations', 'iterations', 'rate', (row) => `${plain(pick(row, 'iterations', 'count'))} in all`],
    ['Requests', 'http_reqs', 'rate', (row) => `${plain(pick(row, 'http_reqs', 'count'))} in all`],
    ['Requests, p(95)', 'http_req_duration', 'p(95)', (row) => `${write.time(pick(row, 'http_req_duration', 'avg'))} on average`],
    ['Failed requests', 'http_req_failed', 'rate'],
    ['Passed checks', 'checks', 'rate'],
    ['Received', 'data_received', 'rate', (row) => `${write.data(pick(row, 'data_received', 'count'))} in all`],
    ['Sent', 'data_sent', 'rate', (row) => `${write.data(pick(row, 'data_sent', 'count'))} in all`],
    ['Dropped iterations', 'dropped_iterations', 'count'],
  ];
  const paintTiles = () => {
    const shown = tiles.filter(([, metric]) => told.total[metric]);
    byId('tiles').replaceChildren(...shown.map(([name, metric, number, more]) => {
      const row = told.total[metric];
      return make('div', { className: 'tile' }, make('span', { textContent: name }), make('b', { textContent: writer(metric, number)(pick(row, metric, number)) }), make('span', { textContent: more ? more(row) : '\u00a0' }));
    }));
  };

  const paintThresholds = () => {
    const rows = Object.entries(told.param.thresholds || {}).flatMap(([metric, sources]) => sources.map((source) => {
      const isCrossed = (told.crossed[metric] || []).includes(source);
      const isKnown = Object.keys(told.total).length > 0;
      const verdict = make('td', { className: isCrossed ? 'bad' : isKnown ? 'good' : '', textContent: isCrossed ? '✗ crossed' : isKnown ? '✓ holds' : '–' });
      return make('tr', {}, make('td', { textContent: metric }), make('td', { textContent: source }), verdict);
    }));
    byId('thresholds').hidden = rows.length === 0;
    byId('thresholds').lastElementChild.replaceChildren(...rows);
  };

  const paintExceptions = () => {
    const { told: known, others } = told.exceptions;
    const rows = known.map(({ message, place, count }) => make('tr', {}, make('td', { className: 'bad', textContent: `${count}×` }), make('td', { textContent: place ? `${message} (${place})` : message })));
    if (others) rows.push(make('tr', {}, make('td', { className: 'bad', textContent: `${others}×` }), make('td', { textContent: 'others' })));
    byId('exceptions').hidden = rows.length === 0;
    byId('exceptions').lastElementChild.replaceChildren(...rows);
  };

  const paintTables = () => {
    const sections = [['Times and trends', 'trend'], ['Counters', 'counter'], ['Rates', 'rate'], ['Gauges', 'gauge']].map(([title, type]) => {
      const names = told.names.filter((name) => told.metrics[name].type === type && name !== 'time' && told.total[name]);
      if (!names.length) return '';
      const numbers = told.param.aggregates[type] || [];
      const head = make('tr', {}, make('th', { textContent: 'Metric' }), ...numbers.map((number) => make('th', { textContent: number })));
      const rows = names.map((name) => make('tr', {}, make('td', { textContent: name, className: name.includes('{') ? 'part' : '' }),
        ...numbers.map((number) => make('td', { 'data-name': number, textContent: writer(name, number)(pick(told.total[name], name, number)) }))));
      return make('div', {}, make('h2', { textContent: title }), make('table', {}, head, ...rows));
    });
    byId('tables').replaceChildren(...sections);
  };

  let isLost = false;
  const paint = () => {
    const { param, start, stop } = told;
    const now = stop || told.now;
    const script = (param.scriptPath || '').split('/').pop();
    document.title = script ? `${script} – Brunt` : 'Brunt';
    byId('title').textContent = script || 'Brunt';
    const isCrossed = Object.keys(told.crossed).length > 0;
    const state = byId('state');
    state.textContent = (stop ? 'finished' : isLost ? 'no connection' : start ? 'running' : 'waiting') + (isCrossed ? ', thresholds crossed' : '');
    state.className = 'pill ' + (isCrossed || (isLost && !stop) ? 'bad' : stop ? '' : 'running');
    byId('clock').textContent = start && now ? clock(now - start) + (param.endOffset && !stop ? ` of at most ${clock(param.endOffset)}` : '') : '';
    byId('progress').value = stop ? 1 : param.endOffset ? Math.min(1, Math.max(0, (now - start) / param.endOffset)) : 0;
    const scenarios = (param.scenarios || []).join(', ');
    byId('about').textContent = [start ? new Date(start).toLocaleString() : '', scenarios && `scenarios: ${scenarios}`, param.period && `a point each ${write.time(param.period)}`].filter(Boolean).join(' · ');
    paintTiles();
    paintThresholds();
    const place = byId('charts');
    for (const [title, ...lines] of wanted()) {
      if (!charts.has(title)) {
        charts.set(title, new Chart(title, lines));
        place.append(charts.get(title).element);
      }
    }
    for (const chart of charts.values()) chart.paint();
    paintExceptions();
    paintTables();
  };

  // Many events at once make one picture.
  let isDue = false;
  const soon = () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => { isDue = false; paint(); }, 50);
  };

  range.addEventListener('change', soon);
  addEventListener('resize', soon);
  byId('theme').addEventListener('click', () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
  });

  const data = byId('data').textContent;
  if (data) {
    for (const [name, event] of JSON.parse(data)) if (take[name]) take[name](event);
    paint();
  } else {
    byId('save').hidden = false;
    const source = new EventSource('../events');
    for (const name of Object.keys(take)) {
      source.addEventListener(name, (event) => {
        isLost = false;
        take[name](JSON.parse(event.data));
        soon();
      });
    }
    source.addEventListener('error', () => { isLost = true; soon(); });
  }
})();
