/** Section 10: groups, scenarios, custom metrics. */

import { useMemo, useState } from 'preact/hooks';
import type { Metric, Tags } from '../../data/model.js';
import { gauge, gaugeLine, summed } from '../../data/pool.js';
import { type App, outcome, rates, type Stretch, sum } from '../app.js';
import { amount, byContains, bytes, clock, duration, length, percent, perSecond, whole } from '../format.js';
import { type Line, TimePlot, TrendSpark } from '../plot.js';
import { Empty, Num } from '../section.js';
import { Latency } from './latency.js';

export const BUILTIN = /^(vus|vus_max|iterations|iteration_duration|iteration_duration_planned|iteration_lateness|dropped_iterations|data_sent|data_received|checks|group_duration|group_response_time|http_reqs|http_req_(duration|duration_planned|failed|blocked|looking_up|connecting|tls_handshaking|sending|waiting|receiving|bytes_received|bytes_sent))$/;

export function Groups({ app, stretch }: { app: App; stretch: Stretch }) {
  const { run } = app;
  const { groups } = run.facts;
  const { from, to, version } = stretch;
  const [open, setOpen] = useState<string | null>(null);
  // Parents that were never measured themselves are rows, too.
  const paths = useMemo(() => {
    const all: string[] = [];
    for (const path of [...groups, ...run.of('group_duration').map((one) => one.tags.group ?? '')]) {
      const parts = path.split('::').filter(Boolean);
      parts.forEach((_, i) => {
        const prefix = `::${parts.slice(0, i + 1).join('::')}`;
        if (!all.includes(prefix) && all.length < 1000) all.push(prefix);
      });
    }
    // Children behind their parents, in the order of first appearance.
    const rank = new Map(all.map((path, i) => [path, i]));
    const key = (path: string) => path.split('::').slice(1).map((_, i, parts) => rank.get(`::${parts.slice(0, i + 1).join('::')}`) ?? 0);
    return all.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      for (let i = 0; i < Math.max(x.length, y.length); i++) if ((x[i] ?? -1) !== (y[i] ?? -1)) return (x[i] ?? -1) - (y[i] ?? -1);
      return 0;
    });
  }, [run, version]);
  if (paths.length === 0) return <Empty>The script has no groups.</Empty>;
  const requests = (path: string) => {
    const below = (tags: Tags) => tags.group === path || (tags.group ?? '').startsWith(`${path}::`);
    return app.pool('http_req_duration', `group ${path}`, below);
  };
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Groups">
        <table>
          <thead>
            <tr>
              <th scope="col" class="text">Group</th>
              {['Executions', 'Rate', 'Min', 'p50', 'p75', 'p95', 'p99', 'Max', 'Mean', 'Std dev', 'Requests', 'Failed', 'Response times each'].map((name) => (
                <th key={name} scope="col">{name}</th>
              ))}
              <th scope="col" class="text">p95 over time</th>
            </tr>
          </thead>
          <tbody>
            {paths.slice(0, 200).map((path) => {
              const parts = path.split('::').filter(Boolean);
              const pool = app.pool('group_duration', `path ${path}`, (tags) => tags.group === path);
              const values = pool.stretch(from, to);
              const inner = requests(path);
              const totals = inner.totals(from, to);
              const bad = inner.series.filter((one) => outcome(one.tags) !== 'ok');
              const some = values.count > 0;
              const cell = (value: number, text: (v: number) => string, is = some) => (
                <td>
                  <Num value={is ? value : null} text={text} />
                </td>
              );
              return (
                <tr key={path} class={open === path ? 'open' : ''}>
                  <th scope="row" class="text name" style={{ paddingLeft: `${8 + 18 * (parts.length - 1)}px` }}>
                    <button type="button" class="route" aria-expanded={open === path} onClick={() => setOpen(open === path ? null : path)}>
                      {parts[parts.length - 1]}
                    </button>
                  </th>
                  {cell(values.count, whole, true)}
                  {cell(stretch.seconds > 0 ? values.count / stretch.seconds : 0, perSecond)}
                  {cell(values.min, duration)}
                  {[50, 75, 95, 99].map((p) => cell(values.percentile(p), duration))}
                  {cell(values.max, duration)}
                  {cell(values.mean, duration)}
                  {cell(values.deviation, duration)}
                  {cell(totals.count, whole, true)}
                  {cell(totals.count > 0 ? sum(bad, 0, from, to) / totals.count : 0, percent, totals.count > 0)}
                  {cell(totals.sum / Math.max(values.count, 1), duration, some && totals.count > 0)}
                  <td class="text">{some && <TrendSpark pool={pool} percent={95} from={from} to={to} />}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="note">Times of a group are those of its body, pauses included. “Response times each”: the response times of all requests in it, added up, for one execution on average.</p>
      {open !== null && <OpenGroup app={app} stretch={stretch} path={open} close={() => setOpen(null)} />}
    </>
  );
}

function OpenGroup({ app, stretch, path, close }: { app: App; stretch: Stretch; path: string; close: () => void }) {
  const { run } = app;
  const rule = useMemo(() => ({ key: `opened ${path}`, takes: (tags: Tags) => tags.group === path }), [path]);
  const below = useMemo(() => ({ key: `below ${path}`, takes: (tags: Tags) => tags.group === path || (tags.group ?? '').startsWith(`${path}::`) }), [path]);
  return (
    <article class="opened" aria-label={`Group ${path}`}>
      <header>
        <h3>{path.split('::').filter(Boolean).join(' › ')}</h3>
        <button type="button" class="chip" onClick={close}>
          Close
        </button>
      </header>
      <h4>Duration of the group</h4>
      <Latency app={app} stretch={stretch} rule={rule} metric="group_duration" key={`d${path}`} />
      {run.of('group_response_time').some((one) => rule.takes(one.tags)) && (
        <>
          <h4>Response times of its requests, added up for each execution</h4>
          <Latency app={app} stretch={stretch} rule={rule} metric="group_response_time" key={`c${path}`} />
        </>
      )}
      {app.pool('http_req_duration', `group ${path}`, below.takes).series.length > 0 && (
        <>
          <h4>Response times of its requests</h4>
          <Latency app={app} stretch={stretch} rule={below} metric="http_req_duration" key={`r${path}`} />
        </>
      )}
    </article>
  );
}

export function Scenarios({ app, stretch }: { app: App; stretch: Stretch }) {
  const { run } = app;
  const { scenarios } = run.facts;
  const { from, to } = stretch;
  if (scenarios.length === 0) return null;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Scenarios">
      <table>
        <thead>
          <tr>
            <th scope="col" class="text">Scenario</th>
            <th scope="col" class="text">Executor</th>
            <th scope="col">From</th>
            <th scope="col">To</th>
            {['Peak VUs', 'Iterations', 'Dropped', 'Requests', 'Failed', 'p50', 'p95', 'Received'].map((name) => (
              <th key={name} scope="col">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {scenarios.slice(0, 200).map((scenario) => {
            const mine = (name: string) => run.of(name).filter((one) => one.tags.scenario === scenario.name);
            const pool = app.pool('http_req_duration', `scenario ${scenario.name}`, (tags) => tags.scenario === scenario.name);
            const values = pool.stretch(from, to);
            const bad = pool.series.filter((one) => outcome(one.tags) !== 'ok');
            const done = mine('load.iterations_done').length > 0 ? mine('load.iterations_done') : mine('iterations');
            const dropped = mine('load.iterations_dropped').length > 0 ? mine('load.iterations_dropped') : mine('dropped_iterations');
            const peak = gauge(mine('load.vus_active'), from, to);
            return (
              <tr key={scenario.name}>
                <th scope="row" class="text name">{scenario.name}</th>
                <td class="text">
                  {scenario.executor} <small class="dim">{scenario.text}</small>
                </td>
                <td>{scenario.from === null || scenario.from === undefined ? '–' : clock(scenario.from / 1e6)}</td>
                <td>{scenario.to === null || scenario.to === undefined ? '–' : clock(scenario.to / 1e6)}</td>
                <td><Num value={peak?.max ?? null} text={whole} /></td>
                <td><Num value={done.length > 0 ? sum(done, 0, from, to) : null} text={whole} /></td>
                <td><Num value={dropped.length > 0 ? sum(dropped, 0, from, to) : null} text={whole} /></td>
                <td><Num value={values.count} text={whole} /></td>
                <td><Num value={values.count > 0 ? sum(bad, 0, from, to) / values.count : null} text={percent} /></td>
                <td><Num value={values.count > 0 ? values.percentile(50) : null} text={duration} /></td>
                <td><Num value={values.count > 0 ? values.percentile(95) : null} text={duration} /></td>
                <td><Num value={mine('data_received').length > 0 ? sum(mine('data_received'), 0, from, to) : null} text={bytes} /></td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** A card for each metric of the script, by its type. */
export function Custom({ app, stretch }: { app: App; stretch: Stretch }) {
  const { run } = app;
  const [limit, setLimit] = useState(24);
  const metrics = run.metrics.filter((metric) => (metric.family ?? 'metric') === 'metric' && !BUILTIN.test(metric.name));
  const others = run.metrics.filter((metric) => (metric.family ?? 'metric') === 'metric' && /^(iteration_duration|data_sent|data_received)$/.test(metric.name));
  if (metrics.length === 0) return <Empty>The script has no metrics of its own.</Empty>;
  return (
    <>
      <div class="cards">
        {[...metrics, ...others].slice(0, limit).map((metric) => (
          <Card key={metric.name} app={app} stretch={stretch} metric={metric} />
        ))}
      </div>
      {metrics.length + others.length > limit && (
        <button type="button" class="chip" onClick={() => setLimit(limit + 48)}>
          {whole(metrics.length + others.length - limit)} more metrics
        </button>
      )}
    </>
  );
}

function Card({ app, stretch, metric }: { app: App; stretch: Stretch; metric: Metric }) {
  const { run } = app;
  const { from, to, version, seconds } = stretch;
  const series = run.of(metric.name);
  const tell = byContains(metric.contains);
  const common = { app, from, to, version, height: 120 };
  const lines = useMemo((): Line[] => {
    switch (metric.type) {
      case 'counter':
        return [{ name: 'per second', values: rates(app, summed(run, series, 0)), color: '--c-ok', fill: true }];
      case 'rate': {
        const counts = summed(run, series, 0);
        const hits = summed(run, series, 1);
        return [{ name: 'share', values: hits.map((hit, i) => (counts[i]! > 0 ? hit / counts[i]! : Number.NaN)), color: '--c-third' }];
      }
      case 'gauge':
        return [{ name: 'value', values: gaugeLine(run, series), color: '--c-fourth' }];
      default: {
        const pool = app.pool(metric.name);
        const line = (i: number) => (every: number, start: number, end: number) => pool.percentiles([50, 95, 99], every, start, end)[i]!;
        return [
          { name: 'p50', grouped: line(0), color: '--b-50' },
          { name: 'p95', grouped: line(1), color: '--b-95', dash: [4, 3] },
          { name: 'p99', grouped: line(2), color: '--b-99', dash: [2, 2] },
        ];
      }
    }
  }, [run, version, metric]);
  let numbers: [string, number | null, (value: number) => string][];
  if (metric.type === 'counter') {
    const all = sum(series, 0, from, to);
    numbers = [['sum', all, tell], ['rate', seconds > 0 ? all / seconds : null, metric.contains === 'data' ? (value) => `${bytes(value)}/s` : perSecond]];
  } else if (metric.type === 'rate') {
    const [all, hits] = [sum(series, 0, from, to), sum(series, 1, from, to)];
    numbers = [['rate', all > 0 ? hits / all : null, percent], ['hits', hits, whole], ['misses', all - hits, whole]];
  } else if (metric.type === 'gauge') {
    const found = gauge(series, from, to);
    numbers = [['last', found?.last ?? null, tell], ['min', found?.min ?? null, tell], ['max', found?.max ?? null, tell]];
  } else {
    const values = app.pool(metric.name).stretch(from, to);
    const some = values.count > 0;
    numbers = [['count', values.count, whole], ['mean', some ? values.mean : null, tell], ['p50', some ? values.percentile(50) : null, tell], ['p95', some ? values.percentile(95) : null, tell], ['max', some ? values.max : null, tell]];
  }
  const empty = series.length === 0;
  return (
    <article class="card" data-metric={metric.name}>
      <h4>{metric.name}</h4>
      <p class="kind">
        {metric.type}
        {series.length > 1 && `, ${whole(series.length)} series`}
      </p>
      {empty ? (
        <p class="dim">It got no value.</p>
      ) : (
        <>
          <dl class="numbers">
            {numbers.map(([name, value, text]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <Num value={value} text={text} />
                </dd>
              </div>
            ))}
          </dl>
          <TimePlot {...common} label={metric.name} title={metric.type === 'counter' ? 'Per second' : 'Over time'} unit="" lines={lines} format={metric.type === 'counter' ? (metric.contains === 'data' ? (value) => `${bytes(value)}/s` : perSecond) : metric.type === 'rate' ? percent : tell} />
        </>
      )}
    </article>
  );
}

export { amount, length };
