/** Section 6: bands, heat map, distribution, percentile curve, ranges. Also for one route or group. */

import { useMemo, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { type Distribution, EXACT_MAX } from '../../data/distribution.js';
import { gaugeLine, type Pool } from '../../data/pool.js';
import { type App, kindName, outcome, type Stretch, subject } from '../app.js';
import { amount, byContains, digits, duration, percent, whole } from '../format.js';
import { axis, axisSize, color, everyMark, FreePlot, type Line, logSplits, TimePlot } from '../plot.js';
import { Empty, Num, why } from '../section.js';
import { HeatMap } from '../heat.js';
import { vusOf } from './head.js';
import { EVERY, type Rule } from './responses.js';

const BANDS = [50, 75, 90, 95, 99];
const BAND_COLORS = ['--b-50', '--b-75', '--b-90', '--b-95', '--b-99'];
const BAND_DASH = [[], [], [7, 3], [4, 3], [2, 2]];
const MORE = [25, 80, 85];

export function Latency({ app, stretch, rule = EVERY, metric: fixed }: { app: App; stretch: Stretch; rule?: Rule; metric?: string }) {
  const { run } = app;
  const trends = [...new Set(run.series.filter((one) => one.metric.type === 'trend' && (one.metric.family ?? 'metric') === 'metric' && rule.takes(one.tags)).map((one) => one.metric.name))];
  const first = fixed ?? subject(run).duration;
  const [chosen, choose] = useState(first);
  const planned = trends.filter((name) => name.endsWith('_planned') && trends.includes(name.slice(0, -8))).map((name) => name.slice(0, -8));
  const [fromPlan, setFromPlan] = useState(false);
  const base = trends.includes(chosen) ? chosen : (trends.includes(first) ? first : (trends[0] ?? first));
  const metric = fromPlan && planned.includes(base) ? `${base}_planned` : base;
  const kinds = [...new Set(run.of(metric).filter((one) => rule.takes(one.tags)).map((one) => outcome(one.tags)))].filter((kind) => kind !== 'ok').sort();
  const [who, setWho] = useState('all');
  const takes = (kind: string) => who === 'all' || (who === 'failed' ? kind !== 'ok' : kind === who);
  const asked = who === 'all' || who === 'failed' || who === 'ok' || kinds.includes(who) ? who : 'all';
  const pool = app.pool(metric, `${rule.key}\n${asked}`, (tags) => rule.takes(tags) && takes(outcome(tags)));
  const [log, setLog] = useState<boolean | null>(null);
  const values = pool.stretch(stretch.from, stretch.to);
  const tell = byContains(run.metric(metric)?.contains ?? 'time');
  const id = rule.key.replace(/\W+/g, '-') || 'all';
  return (
    <>
      {trends.length > 0 && <div class="controls">
        {!fixed && (
          <label>
            Metric{' '}
            <select id={`metric-${id}`} value={base} onChange={(event) => choose(event.currentTarget.value)}>
              {trends.filter((name) => !(name.endsWith('_planned') && planned.includes(name.slice(0, -8)))).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          Outcome{' '}
          <select id={`outcome-${id}`} value={asked} onChange={(event) => setWho(event.currentTarget.value)}>
            <option value="all">all</option>
            <option value="ok">ok</option>
            {kinds.length > 0 && <option value="failed">failed, all kinds</option>}
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                failed: {kindName(kind)}
              </option>
            ))}
          </select>
        </label>
        {planned.includes(base) && (
          <label>
            Counted from{' '}
            <select value={fromPlan ? 'plan' : 'sent'} onChange={(event) => setFromPlan(event.currentTarget.value === 'plan')}>
              <option value="sent">the start as sent</option>
              <option value="plan">the planned start</option>
            </select>
          </label>
        )}
        <label>
          <input type="checkbox" checked={log ?? wide(values)} onChange={(event) => setLog(event.currentTarget.checked)} /> log scale
        </label>
      </div>}
      {values.count === 0 ? <Empty>{why(app, `values of ${metric}`)}</Empty> : <Inside app={app} stretch={stretch} pool={pool} values={values} tell={tell} log={log ?? wide(values)} rule={rule} metric={metric} outcomeKey={asked} />}
    </>
  );
}

/** Whether a linear scale would show a flat line and a peak. */
const wide = (values: Distribution) => values.count > 0 && values.min >= 0 && values.max > 12 * Math.max(values.percentile(50), 1e-9);

interface Inner {
  app: App;
  stretch: Stretch;
  pool: Pool;
  values: Distribution;
  tell: (value: number) => string;
  log: boolean;
  rule: Rule;
  metric: string;
  outcomeKey: string;
}

function Inside({ app, stretch, pool, values, tell, log, rule, metric, outcomeKey }: Inner) {
  const { run } = app;
  const { from, to, version } = stretch;
  const lines = useMemo(() => {
    const { count, min, max } = pool.columns;
    const known = (column: Float64Array) => column.map((value, i) => (count[i] === 0 ? Number.NaN : value));
    const list: Line[] = BANDS.map((percent, i) => ({ name: `p${percent}`, grouped: (every: number, start: number, end: number) => pool.percentiles(BANDS, every, start, end)[i]!, color: BAND_COLORS[i]!, dash: BAND_DASH[i]!, width: percent === 50 || percent === 95 ? 2 : 1.3, fill: percent === 50 }));
    list.push({ name: 'max', values: known(max), most: true, color: '--c-max', dash: [1, 3] });
    list.push({ name: 'min', values: known(min), color: '--dim', dash: [1, 3], hidden: true });
    const users = vusOf(app);
    if (users.length > 0) list.push({ name: 'active users', values: gaugeLine(run, users), color: '--dim', dash: [6, 4], right: true, hidden: true });
    return list;
  }, [pool, version]);
  const contains = run.metric(metric)?.contains ?? 'time';
  return (
    <>
      <div class="stats" role="group" aria-label={`Statistics of ${metric}`}>
        {(
          [
            ['count', values.count, whole],
            ['mean', values.mean, tell],
            ['deviation', values.deviation, tell],
            ['min', values.min, tell],
            ...[25, 50, 75, 80, 85, 90, 95, 99, 99.9].map((p): [string, number, (v: number) => string] => [`p${p}`, values.percentile(p), tell]),
            ['max', values.max, tell],
          ] as [string, number, (v: number) => string][]
        ).map(([name, value, text]) => (
          <div key={name} data-stat={name} class={MORE.some((p) => name === `p${p}`) ? 'minor' : ''}>
            <span>{name}</span>
            <Num value={value} text={text} />
          </div>
        ))}
      </div>
      <div class="pair">
        <TimePlot app={app} from={from} to={to} version={version} label="Percentiles over time" unit={`${contains === 'time' ? 'response time' : metric}, ${log ? 'log' : 'linear'} scale`} lines={lines} format={tell} rightFormat={amount} log={log} height={270} />
        <HeatMap app={app} pool={pool} stretch={stretch} tell={tell} height={270} />
        <Spread app={app} stretch={stretch} values={values} rule={rule} metric={metric} tell={tell} outcomeKey={outcomeKey} />
        <Curve values={values} tell={tell} stale={[from, to, version, metric, rule.key, outcomeKey]} />
      </div>
      {contains === 'time' && <Ranges app={app} stretch={stretch} metric={metric} rule={rule} />}
    </>
  );
}

/** Up to 100 bars on a log scale: the share of all values in each, failed ones on top. */
function Spread({ app, stretch, values, rule, metric, tell, outcomeKey }: { app: App; stretch: Stretch; values: Distribution; rule: Rule; metric: string; tell: (v: number) => string; outcomeKey: string }) {
  const { from, to, version } = stretch;
  const bad = outcomeKey === 'all' ? app.pool(metric, `${rule.key}\nfailed`, (tags) => rule.takes(tags) && outcome(tags) !== 'ok').stretch(from, to) : null;
  const make = (width: number) => {
    const bars = Math.max(12, Math.min(100, Math.floor(width / 7)));
    const low = Math.max(values.min, values.max / 1e7, 1e-6);
    const high = Math.max(values.max, low * 1.001);
    // Up to a hundred whole values far, the bars are as wide as one.
    const span = Math.log10(high / low);
    const borders = new Float64Array(bars + 1);
    for (let i = 0; i <= bars; i++) borders[i] = i === bars ? Number.POSITIVE_INFINITY : i === 0 ? Number.NEGATIVE_INFINITY : low * 10 ** ((span * i) / bars);
    const all = new Float64Array(bars);
    values.spread(borders, all, 0);
    const failed = new Float64Array(bars);
    bad?.spread(borders, failed, 0);
    const x = Array.from({ length: bars }, (_, i) => Math.log10(low) + (span * (i + 0.5)) / bars);
    const options = {
      width: 0,
      height: 0,
      padding: [10, 22, 0, 0] as [number, number, number, number],
      scales: { x: { time: false, range: (): [number, number] => [Math.log10(low) - span / bars / 2, Math.log10(high) + span / bars / 2] }, y: { range: (_u: uPlot, _a: number, max: number): [number, number] => [0, Math.max(max, 1e-9) * 1.06] } },
      series: [
        {},
        { stroke: () => color('--c-ok'), fill: () => color('--c-ok'), width: 0, paths: uPlot.paths.bars!({ size: [0.86, 60] }), points: { show: false } },
        { stroke: () => color('--c-fail'), fill: () => color('--c-fail'), width: 0, paths: uPlot.paths.bars!({ size: [0.86, 60] }), points: { show: false } },
      ],
      axes: [
        axis({ space: 50, size: 26, values: (_u, splits) => splits.map((at) => tell(rounded(10 ** at))), splits: () => logMarks(low, high, width) }),
        axis({ size: axisSize, space: 32, values: (_u, splits) => splits.map((value) => `${digits(value)} %`) }),
      ],
    };
    return { options, data: [x, [...all].map((n) => (n / values.count) * 100), [...failed].map((n) => (n / values.count) * 100)] as uPlot.AlignedData };
  };
  return <FreePlot title="Distribution" unit={`% of all; log scale${bad && bad.count > 0 ? '; failed in front' : ''}`} label={`Distribution: half of all values are between ${tell(values.percentile(25))} and ${tell(values.percentile(75))}`} make={make} stale={[from, to, version, metric, rule.key, outcomeKey]} />;
}

const rounded = (value: number) => Number(value.toPrecision(3));

/** Places of 1, 2, 5 in each decade, as logarithms. */
function logMarks(low: number, high: number, width: number): number[] {
  const decades = Math.log10(high / low);
  const steps = width / Math.max(decades, 0.2) > 300 ? [1, 2, 3, 5] : width / decades > 170 ? [1, 2, 5] : width / decades > 110 ? [1, 3] : [1];
  const marks: number[] = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); decade++) {
    for (const step of steps) {
      const at = Math.log10(step) + decade;
      if (at >= Math.log10(low) && at <= Math.log10(high)) marks.push(at);
    }
  }
  return marks.length > 0 ? marks : [Math.log10(low)];
}

/** x = nines: 90 %, 99 %, 99.9 % … in equal steps. */
function Curve({ values, tell, stale }: { values: Distribution; tell: (v: number) => string; stale: unknown[] }) {
  const make = () => {
    const most = Math.max(1, Math.log10(Math.max(values.count, 10)));
    const x: number[] = [];
    const y: (number | null)[] = [];
    for (let i = 0; i <= 300; i++) {
      const nines = (most * i) / 300;
      x.push(nines);
      const value = values.percentile(100 * (1 - 10 ** -nines));
      y.push(value > 0 && Number.isFinite(value) ? value : null);
    }
    const marks = [0, Math.log10(2), Math.log10(4), 1, Math.log10(20), 2, 3, 4, 5, 6, 7].filter((at) => at <= most);
    const name = (at: number) => `${Number((100 * (1 - 10 ** -at)).toFixed(Math.max(0, Math.ceil(at) - 1)))} %`;
    const options = {
      width: 0,
      height: 0,
      padding: [10, 20, 0, 0] as [number, number, number, number],
      scales: { x: { time: false }, y: { distr: 3 as const, log: 10 as const, range: (_u: uPlot, min: number, max: number): [number, number] => [Math.max(min, 1e-6) / 1.2, Math.max(max, 2e-6) * 1.2] } },
      series: [{}, { stroke: () => color('--c-ok'), width: 2, points: { show: false } }],
      axes: [
        axis({ size: 26, splits: (u) => thin(u, marks), values: (_u, splits) => splits.map(name) }),
        axis({ size: axisSize, space: 32, splits: logSplits, filter: everyMark, values: (_u, splits) => splits.map((value) => (tell(value)))}),
      ],
    };
    return { options, data: [x, y] as uPlot.AlignedData };
  };
  return <FreePlot title="Percentile curve" unit="x: share of values at most so long, in nines" label={`Percentile curve: p50 ${tell(values.percentile(50))}, p90 ${tell(values.percentile(90))}, p99 ${tell(values.percentile(99))}, p99.9 ${tell(values.percentile(99.9))}`} make={make} stale={stale} />;
}

/** Leaves out marks that would touch; whole nines win. */
function thin(u: uPlot, marks: number[]): number[] {
  const width = u.bbox.width / devicePixelRatio;
  const most = Math.max(u.scales.x!.max ?? 1, 0.1);
  const kept: number[] = [];
  for (const mark of [...marks].sort((a, b) => Number(Number.isInteger(b)) - Number(Number.isInteger(a)) || a - b)) {
    if (kept.every((other) => (Math.abs(other - mark) / most) * width > 48)) kept.push(mark);
  }
  return kept.sort((a, b) => a - b);
}

/** Gatling's indicators: fast, slower, slow, failed. */
function Ranges({ app, stretch, metric, rule }: { app: App; stretch: Stretch; metric: string; rule: Rule }) {
  const [low, setLow] = useState(800);
  const [high, setHigh] = useState(1200);
  const { from, to } = stretch;
  const ok = app.pool(metric, `${rule.key}\nok`, (tags) => rule.takes(tags) && outcome(tags) === 'ok');
  const bad = app.pool(metric, `${rule.key}\nfailed`, (tags) => rule.takes(tags) && outcome(tags) !== 'ok').stretch(from, to);
  const count = ok.totals(from, to).count;
  const all = count + bad.count;
  if (all === 0) return null;
  // Of many, those below a border are all of them without the failed ones: they need not be added up again.
  const every = count > EXACT_MAX ? app.pool(metric, `${rule.key}\nall`, rule.takes).stretch(from, to) : null;
  const below = (limit: number) => (every ? every.below(limit, true) - bad.below(limit, true) : ok.stretch(from, to).below(limit));
  const fast = below(low);
  const middle = Math.max(0, below(Math.max(high, low)) - fast);
  const rows: [string, number, string][] = [
    [`ok, below ${duration(low)}`, fast, 'r-fast'],
    [`ok, ${duration(low)} to ${duration(high)}`, middle, 'r-middle'],
    [`ok, ${duration(high)} and more`, count - fast - middle, 'r-slow'],
    ['failed', bad.count, 'r-failed'],
  ];
  return (
    <div class="ranges">
      <h3>Response time ranges</h3>
      <div class="controls">
        <label>
          Borders <input type="number" min="0" step="50" value={low} aria-label="Lower border in ms" onChange={(event) => setLow(Math.max(0, Number(event.currentTarget.value)))} />
        </label>
        <label>
          and <input type="number" min="0" step="50" value={high} aria-label="Upper border in ms" onChange={(event) => setHigh(Math.max(0, Number(event.currentTarget.value)))} /> ms
        </label>
      </div>
      <ul class="bars">
        {rows.map(([name, count, tone]) => (
          <li key={tone} data-range={tone}>
            <span class="bar-name">{name}</span>
            <span class="bar">
              <i class={tone} style={{ width: `${(count / all) * 100}%` }} />
            </span>
            <span class="bar-value">
              <Num value={count} text={whole} /> <span class="dim">{percent(count / all)}</span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

