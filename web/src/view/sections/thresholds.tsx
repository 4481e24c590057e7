/** Section 3: thresholds, and checks as a tree. */

import { gauge, gaugeLine, total } from '../../data/pool.js';
import type { Threshold } from '../../data/model.js';
import { type App, type Stretch, sum } from '../app.js';
import { amount, bytes, clock, duration, percent, perSecond, whole } from '../format.js';
import { Spark } from '../plot.js';
import { Empty, Num } from '../section.js';

/** How the value of a threshold is told. */
function teller(app: App, threshold: Threshold): (value: number) => string {
  const stat = threshold.of?.stat ?? '';
  const metric = app.run.metric(threshold.of?.metric ?? threshold.metric.split('{')[0]!);
  if (stat === 'rate') return metric?.type === 'rate' ? percent : perSecond;
  if (stat === 'count') return metric?.contains === 'data' ? bytes : amount;
  if (metric?.type === 'rate') return percent;
  return metric?.contains === 'time' ? duration : metric?.contains === 'data' ? bytes : amount;
}

/** The value of a threshold over a stretch; none if the page cannot compute it. */
export function valueOver(app: App, { of }: Threshold, { from, to, seconds }: Stretch): number | null {
  if (!of) return null;
  const tags = Object.entries(of.tags ?? {});
  const series = app.run.of(of.metric).filter((one) => tags.every(([key, value]) => one.tags[key] === value));
  if (series.length === 0) return null;
  switch (series[0]!.metric.type) {
    case 'counter': {
      const all = sum(series, 0, from, to);
      return of.stat === 'count' ? all : of.stat === 'rate' ? (seconds > 0 ? all / seconds : null) : null;
    }
    case 'rate': {
      const all = sum(series, 0, from, to);
      return all > 0 ? sum(series, 1, from, to) / all : null;
    }
    case 'gauge':
      return gauge(series, from, to)?.last ?? null;
    default: {
      const pool = app.pool(of.metric, `tags ${JSON.stringify(tags)}`, (have) => tags.every(([key, value]) => have[key] === value));
      const stretch = pool.stretch(from, to);
      if (stretch.count === 0) return null;
      const share = /^p\(([\d.]+)\)$/.exec(of.stat);
      if (share) return stretch.percentile(Number(share[1]));
      return { avg: stretch.mean, med: stretch.percentile(50), min: stretch.min, max: stretch.max, count: stretch.count }[of.stat] ?? null;
    }
  }
}

export function Thresholds({ app, stretch }: { app: App; stretch: Stretch }) {
  const { thresholds, run } = app.run.facts;
  if (thresholds.length === 0) {
    if (run.kind === 'attack') return null;
    return <Empty>The script sets no thresholds, so nothing decides whether the run passed. The option “thresholds” sets some.</Empty>;
  }
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Thresholds">
      <table class="thresholds">
        <thead>
          <tr>
            <th scope="col" class="text">Verdict</th>
            <th scope="col" class="text">Threshold</th>
            <th scope="col">{app.whole ? 'Value' : 'In the stretch'}</th>
            {!app.whole && <th scope="col">Whole run</th>}
            <th scope="col">Limit</th>
            <th scope="col">First broke</th>
            <th scope="col" class="text">Over time</th>
          </tr>
        </thead>
        <tbody>
          {thresholds.map((threshold, index) => {
            const tell = teller(app, threshold);
            const now = valueOver(app, threshold, stretch);
            const series = threshold.series !== null && threshold.series !== undefined ? app.run.series[threshold.series] : undefined;
            const tone = threshold.passed === false ? 'bad' : threshold.passed ? 'good' : 'plain';
            return (
              <tr key={index}>
                <td class="text">
                  <span class={`badge ${tone}`}>{threshold.passed === false ? '✕ broken' : threshold.passed ? '✓ holds' : '– not judged'}</span>
                </td>
                <th scope="row" class="text name">
                  {threshold.name && <strong>{threshold.name} </strong>}
                  <code>{threshold.metric}</code> <code>{threshold.expression}</code>
                  {threshold.abort && <small class="dim"> aborts the test</small>}
                  {threshold.options && <small class="dim"> {Object.entries(threshold.options).map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ')}</small>}
                </th>
                <td>
                  <Num value={app.whole ? (threshold.value ?? now) : now} text={tell} />
                </td>
                {!app.whole && (
                  <td>
                    <Num value={threshold.value} text={tell} />
                  </td>
                )}
                <td>
                  <Num value={threshold.limit} text={tell} />
                </td>
                <td>{threshold.broke === null || threshold.broke === undefined ? <span class="dim">never</span> : clock(threshold.broke / 1e6)}</td>
                <td class="text">{series?.metric.type === 'gauge' ? <Spark values={gaugeLine(app.run, [series])} from={stretch.from} to={stretch.to} width={140} limit={threshold.limit ?? null} label={`its value over time, limit ${threshold.limit ?? ''}`} /> : <span class="dim">–</span>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface Node {
  name: string;
  children: Map<string, Node>;
  checks: { name: string; passes: number; fails: number; line: Float64Array }[];
  passes: number;
  fails: number;
}

export function Checks({ app, stretch }: { app: App; stretch: Stretch }) {
  const { checks, run } = app.run.facts;
  if (checks.length === 0) return run.kind === 'attack' ? null : <Empty>The script makes no checks.</Empty>;
  const root: Node = { name: '', children: new Map(), checks: [], passes: 0, fails: 0 };
  for (const check of checks) {
    const series = app.run.series[check.series];
    if (series?.metric.type !== 'rate') continue;
    const [counts, hits] = [series.column(0), series.column(1)];
    const all = total(counts, stretch.from, stretch.to);
    const passes = total(hits, stretch.from, stretch.to);
    let node = root;
    const path = [root];
    for (const part of (check.group ?? '').split('::').filter(Boolean)) {
      let child = node.children.get(part);
      if (!child) {
        child = { name: part, children: new Map(), checks: [], passes: 0, fails: 0 };
        node.children.set(part, child);
      }
      node = child;
      path.push(node);
    }
    node.checks.push({ name: check.name, passes, fails: all - passes, line: counts.map((count, i) => count - (hits[i] ?? 0)) });
    for (const one of path) {
      one.passes += passes;
      one.fails += all - passes;
    }
  }
  return (
    <div class="tree" data-checks>
      <p class="note">
        <Num value={root.passes} text={whole} /> of <Num value={root.passes + root.fails} text={whole} /> checks passed
        {root.passes + root.fails > 0 && <> ({percent(root.passes / (root.passes + root.fails))})</>}.
      </p>
      <Branch node={root} stretch={stretch} />
    </div>
  );
}

function Branch({ node, stretch }: { node: Node; stretch: Stretch }) {
  return (
    <ul>
      {node.checks.slice(0, 500).map((check, index) => (
        <li key={`check ${index}`} class={`check ${check.fails > 0 ? 'bad' : check.passes > 0 ? 'good' : 'plain'}`}>
          <span class="mark" aria-hidden="true">
            {check.fails > 0 ? '✕' : check.passes > 0 ? '✓' : '–'}
          </span>
          <span class="name">{check.name}</span>
          <span class="counts">
            {check.fails > 0 ? (
              <>
                <Num value={check.fails} text={whole} tone="bad" /> failed, {percent(check.passes / (check.passes + check.fails))} of <Num value={check.passes + check.fails} text={whole} /> passed
              </>
            ) : check.passes > 0 ? (
              <>
                all <Num value={check.passes} text={whole} />
              </>
            ) : (
              'not made'
            )}
          </span>
          {check.fails > 0 && <Spark values={check.line} from={stretch.from} to={stretch.to} width={80} height={16} tone="--c-fail" />}
        </li>
      ))}
      {node.checks.length > 500 && <li class="dim">and {whole(node.checks.length - 500)} more checks</li>}
      {[...node.children.values()].map((child) => (
        <li key={`group ${child.name}`}>
          <details open>
            <summary>
              {child.name} <span class="dim">{child.fails > 0 ? `${whole(child.fails)} of ${whole(child.passes + child.fails)} failed` : `all ${whole(child.passes)} passed`}</span>
            </summary>
            <Branch node={child} stretch={stretch} />
          </details>
        </li>
      ))}
    </ul>
  );
}
