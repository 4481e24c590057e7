'use strict';
(() => {
  const series = JSON.parse(document.getElementById('data').textContent);
  const canvas = document.getElementById('chart');
  const tip = document.getElementById('tip');
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const errors = ['#e5484d', '#f2754f', '#c2264f', '#ff8fa0', '#a8323a', '#e8618c', '#b3541e'];
  const others = ['#4c9df0', '#3fb27f', '#d9a441', '#9b7be8', '#3cb8c4', '#8fb339', '#7d8da8'];
  let used = { error: 0, ok: 0 };
  for (const one of series) {
    const [palette, kind] = one.error ? [errors, 'error'] : [others, 'ok'];
    one.color = palette[used[kind]++ % palette.length];
    one.on = true;
  }

  // The visible part: a range of x in seconds, or everything.
  let zoom = null;
  let isLog = true;
  let drag = null;
  let hover = null;
  let view = null;

  const ends = () => {
    let high = 0;
    for (const one of series) if (one.on && one.x.length) high = Math.max(high, one.x[one.x.length - 1]);
    return [0, high || 1];
  };

  // The first index whose x is not below the value.
  const firstFrom = (xs, value) => {
    let low = 0, high = xs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (xs[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  };

  const niceStep = (span, count) => {
    const raw = span / count;
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const digit = raw / power;
    return power * (digit > 5 ? 10 : digit > 2 ? 5 : digit > 1 ? 2 : 1);
  };

  // Beyond seconds, people count in sixties.
  const timeStep = (span, count) => {
    const step = niceStep(span, count);
    if (step < 10) return step;
    const steps = [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
    return steps.find((one) => one >= span / count) || 3600 * niceStep(span / 3600, count);
  };

  const milliseconds = (ms) => {
    if (ms === 0) return '0';
    const trim = (number) => String(Number(number.toPrecision(4)));
    if (ms >= 1000) return trim(ms / 1000) + ' s';
    if (ms >= 1) return trim(ms) + ' ms';
    if (ms >= 0.001) return trim(ms * 1000) + ' µs';
    return trim(ms * 1e6) + ' ns';
  };
  const seconds = (s) => {
    if (s < 60) return Number(s.toFixed(3)) + ' s';
    const minutes = Math.floor(s / 60);
    const rest = Number((s - minutes * 60).toFixed(3));
    return (minutes >= 60 ? Math.floor(minutes / 60) + 'h' : '') + (minutes % 60) + 'm' + (rest ? rest + 's' : '');
  };

  const layout = () => {
    const box = canvas.getBoundingClientRect();
    const [x0, x1] = zoom || ends();
    let low = Infinity, high = 0;
    for (const one of series) {
      if (!one.on) continue;
      for (let i = firstFrom(one.x, x0); i < one.x.length && one.x[i] <= x1; i++) {
        if (one.y[i] > 0) low = Math.min(low, one.y[i]);
        high = Math.max(high, one.y[i]);
      }
    }
    if (!(low < Infinity)) { low = 0.1; high = 10; }
    let y0, y1;
    if (isLog) {
      y0 = Math.log10(low) - 0.05;
      y1 = Math.log10(high) + 0.05;
      if (y1 - y0 < 0.5) { y0 -= 0.25; y1 += 0.25; }
    } else { y0 = 0; y1 = high * 1.05; }
    const area = { left: 72, right: box.width - 12, top: 10, bottom: box.height - 34 };
    const toY = (ms) => {
      const value = isLog ? Math.log10(Math.max(ms, 1e-6)) : ms;
      return area.bottom - (value - y0) / (y1 - y0) * (area.bottom - area.top);
    };
    const toX = (s) => area.left + (s - x0) / (x1 - x0) * (area.right - area.left);
    const fromX = (px) => x0 + (px - area.left) / (area.right - area.left) * (x1 - x0);
    return { box, area, x0, x1, y0, y1, toX, toY, fromX };
  };

  // The points nearest to the pointer, and the moment it is at.
  const look = () => {
    tip.hidden = hover === null;
    if (hover === null) return;
    const at = view.fromX(hover.px);
    hover.near = [];
    for (const one of series) {
      if (!one.on || !one.x.length) continue;
      let i = firstFrom(one.x, at);
      if (i === one.x.length || (i > 0 && at - one.x[i - 1] < one.x[i] - at)) i--;
      if (one.x[i] >= view.x0 && one.x[i] <= view.x1) hover.near.push({ one, i });
    }
    const from = drag ? view.fromX(drag.from) : at;
    tip.textContent = from === at ? seconds(at) : seconds(Math.min(from, at)) + ' – ' + seconds(Math.max(from, at));
    tip.style.left = Math.min(hover.px + 10, view.box.width - tip.offsetWidth) + 'px';
    tip.style.top = '14px';
  };

  const draw = () => {
    view = layout();
    look();
    const { box, area, x0, x1, y0, y1, toX, toY } = view;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(box.width * scale);
    canvas.height = Math.round(box.height * scale);
    const pen = canvas.getContext('2d');
    const style = getComputedStyle(root);
    const color = (name) => style.getPropertyValue(name).trim();
    pen.scale(scale, scale);
    pen.fillStyle = color('--ground');
    pen.fillRect(0, 0, box.width, box.height);
    pen.font = '12px system-ui, sans-serif';
    pen.lineWidth = 1;
    pen.strokeStyle = color('--rule');
    pen.fillStyle = color('--pale');

    const lineY = (ms, text) => {
      const y = Math.round(toY(ms)) + 0.5;
      pen.beginPath(); pen.moveTo(area.left, y); pen.lineTo(area.right, y); pen.stroke();
      if (text) pen.fillText(text, area.left - 8, y);
    };
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    if (isLog) {
      const few = y1 - y0 < 2.2;
      for (let power = Math.floor(y0); power <= Math.ceil(y1); power++) {
        for (let digit = 1; digit < 10; digit++) {
          const ms = digit * Math.pow(10, power);
          const value = Math.log10(ms);
          if (value < y0 || value > y1) continue;
          const isNamed = digit === 1 || (few && (digit === 2 || digit === 5));
          if (isNamed || y1 - y0 < 4) lineY(ms, isNamed ? milliseconds(ms) : '');
        }
      }
    } else {
      const step = niceStep(y1, 8);
      for (let ms = 0; ms <= y1; ms += step) lineY(ms, milliseconds(Number(ms.toPrecision(10))));
    }
    pen.textAlign = 'center';
    pen.textBaseline = 'top';
    const step = timeStep(x1 - x0, Math.max(2, (area.right - area.left) / 110));
    for (let s = Math.ceil(x0 / step) * step; s <= x1; s += step) {
      const x = Math.round(toX(s)) + 0.5;
      pen.beginPath(); pen.moveTo(x, area.top); pen.lineTo(x, area.bottom); pen.stroke();
      pen.fillText(seconds(Number(s.toPrecision(10))), x, area.bottom + 8);
    }

    pen.save();
    pen.beginPath();
    pen.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    pen.clip();
    for (const one of series) {
      if (!one.on) continue;
      const from = Math.max(0, firstFrom(one.x, x0) - 1);
      const to = Math.min(one.x.length, firstFrom(one.x, x1) + 1);
      pen.strokeStyle = pen.fillStyle = one.color;
      pen.globalAlpha = 0.75;
      pen.beginPath();
      for (let i = from; i < to; i++) pen.lineTo(toX(one.x[i]), toY(one.y[i]));
      pen.stroke();
      pen.globalAlpha = 1;
      if (one.error || to - from < (area.right - area.left) / 6) {
        for (let i = from; i < to; i++) pen.fillRect(toX(one.x[i]) - 1.5, toY(one.y[i]) - 1.5, 3, 3);
      }
    }
    if (hover !== null && !drag) {
      pen.strokeStyle = color('--pale');
      pen.beginPath(); pen.moveTo(hover.px, area.top); pen.lineTo(hover.px, area.bottom); pen.stroke();
      for (const near of hover.near) {
        pen.fillStyle = near.one.color;
        pen.beginPath();
        pen.arc(toX(near.one.x[near.i]), toY(near.one.y[near.i]), 4, 0, 7);
        pen.fill();
      }
    }
    if (drag && drag.to !== drag.from) {
      pen.fillStyle = color('--pale');
      pen.globalAlpha = 0.25;
      pen.fillRect(Math.min(drag.from, drag.to), area.top, Math.abs(drag.to - drag.from), area.bottom - area.top);
    }
    pen.restore();
    byId('reset').disabled = !zoom;
    legend();
  };

  let queued = false;
  const redraw = () => {
    if (!queued) {
      queued = true;
      requestAnimationFrame(() => { queued = false; draw(); });
    }
  };

  const cell = (row, text) => { const td = row.insertCell(); td.textContent = text; return td; };
  const rows = new Map();
  const table = byId('legend');
  const head = table.createTHead().insertRow();
  for (const name of ['', 'hits', 'points', 'time', 'latency']) {
    const th = document.createElement('th');
    th.textContent = name;
    head.append(th);
  }
  const body = table.createTBody();
  for (const one of series) {
    const row = body.insertRow();
    const swatch = document.createElement('span');
    swatch.className = 'swatch';
    swatch.style.background = one.color;
    const name = cell(row, '');
    name.append(swatch, one.label.startsWith(': ') ? one.label.slice(2) : one.label);
    cell(row, one.hits.toLocaleString('en'));
    cell(row, one.x.length.toLocaleString('en'));
    rows.set(one, [row, cell(row, ''), cell(row, '')]);
    row.addEventListener('click', () => { one.on = !one.on; redraw(); });
  }
  const legend = () => {
    for (const [one, [row, time, latency]] of rows) {
      row.className = one.on ? '' : 'off';
      const near = hover && hover.near.find((near) => near.one === one);
      time.textContent = near ? seconds(one.x[near.i]) : '–';
      latency.textContent = near ? milliseconds(one.y[near.i]) : '–';
    }
  };

  const clampX = (px) => Math.min(view.area.right, Math.max(view.area.left, px));
  const place = (event) => event.clientX - canvas.getBoundingClientRect().left;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const px = clampX(place(event));
    drag = { from: px, to: px };
  });
  canvas.addEventListener('pointermove', (event) => {
    const px = clampX(place(event));
    if (drag) drag.to = px;
    hover = { px, near: [] };
    redraw();
  });
  canvas.addEventListener('pointerup', () => {
    if (drag && Math.abs(drag.to - drag.from) > 4) {
      const [a, b] = [view.fromX(drag.from), view.fromX(drag.to)];
      zoom = [Math.min(a, b), Math.max(a, b)];
      if (zoom[1] - zoom[0] < 0.002) zoom[1] = zoom[0] + 0.002;
    }
    drag = null;
    redraw();
  });
  canvas.addEventListener('pointercancel', () => { drag = null; redraw(); });
  canvas.addEventListener('pointerleave', () => { if (!drag) { hover = null; redraw(); } });
  const reset = () => { zoom = null; redraw(); };
  canvas.addEventListener('dblclick', reset);
  byId('reset').addEventListener('click', reset);
  canvas.addEventListener('keydown', (event) => { if (event.key === 'Escape') reset(); });
  byId('log').addEventListener('click', (event) => {
    isLog = !isLog;
    event.currentTarget.setAttribute('aria-pressed', isLog);
    redraw();
  });
  byId('theme').addEventListener('click', (event) => {
    const toLight = root.dataset.theme === 'dark';
    root.dataset.theme = toLight ? 'light' : 'dark';
    event.currentTarget.textContent = toLight ? 'Dark' : 'Light';
    redraw();
  });
  byId('png').addEventListener('click', () => {
    hover = null;
    draw();
    const link = document.createElement('a');
    link.download = 'plot.png';
    link.setAttribute('href', canvas.toDataURL('image/png'));
    link.click();
  });
  window.addEventListener('resize', redraw);
  draw();
})();
