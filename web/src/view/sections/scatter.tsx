/** Section 8: latency against load, a point a slice; the knee is marked if there is one. */

import { useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { everyOf, gaugeLine, grouped, summed } from '../../data/pool.js';
import { type App, outcome, rates, type Stretch, subject } from '../app.js';
import { amount, clock, duration, length, perSecond } from '../format.js';
import { axis, axisSize, color, everyMark, FreePlot, logSplits } from '../plot.js';
import { Empty, why } from '../section.js';
import { heatColors } from '../heat.js';
import { vusOf } from './head.js';
import { EVERY, type Rule } from './responses.js';

export interface Point {
  x: number;
  y: number;
}

const median = (values: number[]) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

/** A rise of latency by less than this, in milliseconds, is what timers and the network make of nothing. */
const RISE_MS = 1;

/**
 * The load from which on latency is more than half above that of light load and more than a millisecond, and stays so. None if there are few points, the load hardly
 * varies, or latency does not rise.
 */
export function kneeOf(points: Point[]): { x: number; before: number; after: number } | null {
  const usable = points.filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y)).sort((a, b) => a.x - b.x);
  if (usable.length < 24) return null;
  const [least, most] = [usable[Math.floor(usable.length * 0.02)]!.x, usable[usable.length - 1]!.x];
  if (!(most > least * 1.5)) return null;
  const cells = 12;
  const groups: { x: number; y: number }[] = [];
  for (let i = 0; i < cells; i++) {
    const [low, high] = [least + ((most - least) * i) / cells, least + ((most - least) * (i + 1)) / cells];
    const inside = usable.filter((point) => point.x >= low && (point.x < high || i === cells - 1));
    if (inside.length >= Math.max(2, usable.length / 200)) groups.push({ x: low, y: median(inside.map((point) => point.y)) });
  }
  if (groups.length < 4) return null;
  const light = median(groups.slice(0, Math.max(2, Math.floor(groups.length / 3))).map((group) => group.y));
  let knee = groups.length;
  while (knee > 0 && groups[knee - 1]!.y > Math.max(light * 1.5, light + RISE_MS)) knee--;
  if (knee >= groups.length - 1 || knee === 0) return null;
  return { x: groups[knee]!.x, before: light, after: groups[groups.length - 1]!.y };
}

export function Scatter({ app, stretch, rule = EVERY }: { app: App; stretch: Stretch; rule?: Rule }) {
  const { run } = app;
  const { from, to, version } = stretch;
  const { count, duration: metric, word } = subject(run);
  const vus = vusOf(app);
  const [by, setBy] = useState<'rate' | 'vus'>('rate');
  const [who, setWho] = useState('all');
  const pool = app.pool(metric, `${rule.key}\n${who}`, (tags) => rule.takes(tags) && (who === 'all' || (who === 'ok') === (outcome(tags) === 'ok')));
  // The load is that of the whole test, also for one route: it is what the route suffers from.
  const every = everyOf(to - from, 600);
  const perSlice = by === 'vus' && vus.length > 0 ? gaugeLine(run, vus) : rates(app, summed(run, run.of(count), 0));
  const load = grouped(perSlice, run.slices, every);
  const [p95] = pool.percentiles([95], every, from, to);
  const points: (Point & { slice: number })[] = [];
  for (let group = Math.floor(from / every); group < to / every; group++) {
    const [x, y] = [load[group] ?? Number.NaN, p95![group]!];
    if (x >= 0 && y > 0 && Number.isFinite(y)) points.push({ x, y, slice: group * every });
  }
  points.sort((a, b) => a.x - b.x);
  const knee = kneeOf(points);
  const tellLoad = by === 'vus' ? amount : perSecond;
  const make = () => {
    const options: uPlot.Options = {
      width: 0,
      height: 0,
      padding: [12, 20, 0, 0],
      cursor: { points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: (_u, _min, max) => [0, Math.max(max, 1e-9) * 1.04] },
        y: { distr: 3, log: 10, range: (_u, min, max) => [Math.max(min, 1e-6) / 1.3, Math.max(max, 2e-6) * 1.3] },
      },
      series: [{}, { stroke: 'transparent', points: { show: false } }],
      axes: [
        axis({ size: 26, space: 64, values: (_u, splits) => splits.map(tellLoad) }),
        axis({ size: axisSize, space: 32, splits: logSplits, filter: everyMark, values: (_u, splits) => splits.map((value) => (duration(value)))}),
      ],
      hooks: {
        draw: [
          (u) => {
            const { ctx } = u;
            const scale = devicePixelRatio;
            const shades = heatColors().map((shade) => `rgb(${shade.join()})`);
            ctx.save();
            ctx.beginPath();
            ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
            ctx.clip();
            ctx.globalAlpha = points.length > 800 ? 0.55 : 0.85;
            const radius = (points.length > 800 ? 2 : points.length > 200 ? 2.6 : 3.4) * scale;
            for (const { x, y, slice } of points) {
              ctx.fillStyle = shades[14 + Math.floor((Math.max(slice - from, 0) / Math.max(to - from, 1)) * 49)]!;
              ctx.beginPath();
              ctx.arc(u.valToPos(x, 'x', true), u.valToPos(y, 'y', true), radius, 0, 7);
              ctx.fill();
            }
            ctx.globalAlpha = 1;
            if (knee) {
              const x = u.valToPos(knee.x, 'x', true);
              ctx.strokeStyle = color('--c-fail');
              ctx.fillStyle = color('--c-fail');
              ctx.setLineDash([6 * scale, 4 * scale]);
              ctx.lineWidth = 1.5 * scale;
              ctx.beginPath();
              ctx.moveTo(x, u.bbox.top);
              ctx.lineTo(x, u.bbox.top + u.bbox.height);
              ctx.stroke();
              ctx.font = `${11 * scale}px ${getComputedStyle(document.body).fontFamily}`;
              ctx.textAlign = 'right';
              ctx.fillText(`knee ≈ ${tellLoad(knee.x)}`, x - 6 * scale, u.bbox.top + 14 * scale);
            }
            ctx.restore();
          },
        ],
      },
    };
    return { options, data: [points.map((point) => point.x), points.map((point) => point.y)] as uPlot.AlignedData };
  };
  return (
    <>
      <div class="controls">
        <label>
          Load{' '}
          <select value={by} onChange={(event) => setBy(event.currentTarget.value as 'rate')}>
            <option value="rate">{word} per second</option>
            {vus.length > 0 && <option value="vus">VUs</option>}
          </select>
        </label>
        <label>
          Outcome{' '}
          <select value={who} onChange={(event) => setWho(event.currentTarget.value)}>
            <option>all</option>
            <option>ok</option>
            <option>failed</option>
          </select>
        </label>
        <span class="ramp-key">
          {clock(run.border(from))} <i class="ramp" aria-hidden="true" /> {clock(run.border(to))}
        </span>
      </div>
      {points.length === 0 && <Empty>{why(app, `durations of ${who === 'all' ? '' : `${who} `}${word}`)}</Empty>}
      {points.length > 0 && <FreePlot
        title={rule.key ? 'Latency against load of the whole test' : 'p95 against load'}
        unit={`a point for ${length((run.facts.time.width * every) / 1000)}; x: ${by === 'vus' ? 'VUs' : `${word} per second`}, y: p95, log scale`}
        label={`p95 against load, ${points.length} points. ${knee ? `From about ${tellLoad(knee.x)} on, p95 rises from ${duration(knee.before)} to ${duration(knee.after)}.` : 'There is no knee.'}`}
        make={make}
        height={260}
        stale={[from, to, version, by, who, rule.key]}
      />}
      {points.length > 0 && <p class="note">{knee ? `From about ${tellLoad(knee.x)} on, the p95 of a slice is more than half above that of light load (${duration(knee.before)}); at the highest load it is ${duration(knee.after)}.` : 'There is no knee in this stretch: latency does not rise with load, or load hardly varies.'}</p>}
    </>
  );
}
