/** Section 7: one row per route; a click opens the route. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Distribution } from '../../data/distribution.js';
import type { Tags } from '../../data/model.js';
import { type Pool, summed, total } from '../../data/pool.js';
import type { Series } from '../../data/run.js';
import { type App, judged, outcome, rates, routeOf, statusClass, type Stretch, subject } from '../app.js';
import { amount, bytes, csvCell, duration, percent, perSecond, short, whole } from '../format.js';
import { Spark } from '../plot.js';
import { Empty, Num, why } from '../section.js';
import { Latency } from './latency.js';
import { Failures } from './failures.js';
import { Responses } from './responses.js';
import { Scatter } from './scatter.js';

export const PHASES: [string, string, string][] = [
  ['blocked', 'http_req_blocked', '--p-1'],
  ['lookup', 'http_req_looking_up', '--p-2'],
  ['connect', 'http_req_connecting', '--p-3'],
  ['TLS', 'http_req_tls_handshaking', '--p-4'],
  ['sending', 'http_req_sending', '--p-5'],
  ['waiting', 'http_req_waiting', '--p-6'],
  ['receiving', 'http_req_receiving', '--p-7'],
];

const SHOWN = 60;

/** A route, or one class of statuses of it. */
interface Row {
  key: string;
  route: string;
  name: string;
  depth: number;
  pool: Pool;
  counts: Float64Array;
  failed: Float64Array;
  sent: Series[];
  received: Series[];
  phases: Pool[];
  children: Row[];
}

interface Numbers {
  count: number;
  rate: number;
  failed: number;
  sent: number;
  received: number;
  /** Of the time that all requests took. */
  share: number;
  all: Distribution | null;
  mean: number;
  min: number;
  max: number;
}

interface Column {
  key: string;
  name: string;
  /** Needs the percentiles, which are computed for rows that are seen. */
  of: (numbers: Numbers, distribution: () => Distribution) => number;
  text: (value: number) => string;
  extra?: boolean;
}

const p = (share: number): Column => ({ key: `p${share}`, name: `p${share}`, of: (_n, all) => all().percentile(share), text: duration });

export const COLUMNS: Column[] = [
  { key: 'count', name: 'Count', of: (n) => n.count, text: amount },
  { key: 'rate', name: 'Rate', of: (n) => n.rate, text: perSecond },
  { key: 'ok', name: 'OK', of: (n) => n.count - Math.round(n.count * n.failed), text: amount, extra: true },
  { key: 'ko', name: 'KO', of: (n) => Math.round(n.count * n.failed), text: amount, extra: true },
  { key: 'good', name: 'Goodput', of: (n) => n.rate * (1 - n.failed), text: perSecond },
  { key: 'failed', name: 'Failed', of: (n) => n.failed, text: percent },
  { key: 'min', name: 'Min', of: (n) => n.min, text: duration },
  p(50),
  { ...p(75), extra: true },
  p(90),
  p(95),
  p(99),
  p(99.9),
  { key: 'max', name: 'Max', of: (n) => n.max, text: duration },
  { key: 'mean', name: 'Mean', of: (n) => n.mean, text: duration },
  { key: 'deviation', name: 'Std dev', of: (_n, all) => all().deviation, text: duration },
  { key: 'share', name: 'Time', of: (n) => n.share, text: percent },
  { key: 'sent', name: 'Sent', of: (n) => n.sent, text: bytes },
  { key: 'received', name: 'Received', of: (n) => n.received, text: bytes },
];

/** Rows of a run: by route, and by class of status below. */
function rowsOf(app: App): Row[] {
  const { run } = app;
  const { count, duration: metric, failed } = subject(run);
  const groups = new Map<string, Map<string, Tags[]>>();
  const gather = (series: Series[]) => {
    for (const { tags } of series) {
      const route = routeOf(tags);
      let classes = groups.get(route);
      if (!classes) {
        classes = new Map();
        groups.set(route, classes);
      }
      const list = classes.get(statusClass(tags));
      if (list) list.push(tags);
      else classes.set(statusClass(tags), [tags]);
    }
  };
  gather(run.of(metric));
  // By route, each series of a metric is looked at once.
  const index = (name: string) => {
    const found = new Map<string, Series[]>();
    for (const one of name ? run.of(name) : []) {
      const route = routeOf(one.tags);
      for (const key of [route, `${route}\n${statusClass(one.tags)}`]) {
        const list = found.get(key);
        if (list) list.push(one);
        else found.set(key, [one]);
      }
    }
    return found;
  };
  const [durations, counts, fails, received, sent] = [index(metric), index(count), index(failed), index('http_req_bytes_received'), index('http_req_bytes_sent')];
  const phases = PHASES.map(([, name]) => index(name));
  const make = (key: string, route: string, name: string, depth: number): Row => {
    const pool = app.poolOf(`${metric}\nrow ${key}`, () => durations.get(key) ?? []);
    return {
      key,
      route,
      name,
      depth,
      pool,
      get counts() {
        const value = counts.has(key) ? summed(run, counts.get(key)!, 0) : pool.columns.count;
        Object.defineProperty(this, 'counts', { value });
        return value;
      },
      get failed() {
        const value = fails.has(key)
          ? summed(run, fails.get(key)!, 1)
          : summed(run, pool.series.filter((one) => outcome(one.tags) !== 'ok'), 0);
        Object.defineProperty(this, 'failed', { value });
        return value;
      },
      sent: sent.get(key) ?? [],
      received: received.get(key) ?? [],
      get phases() {
        const value = PHASES.map(([, name], i) => app.poolOf(`${name}\nrow ${key}`, () => phases[i]!.get(key) ?? []));
        Object.defineProperty(this, 'phases', { value });
        return value;
      },
      children: [],
    };
  };
  return [...groups].map(([route, classes]) => {
    const row = make(route, route, route, 0);
    const known = [...classes.keys()].filter(Boolean).sort();
    row.children = known.map((name) => make(`${route}\n${name}`, route, name, 1));
    return row;
  });
}

function numbersOf(row: Row, { from, to, seconds }: Stretch, time: number): Numbers {
  const count = total(row.counts, from, to);
  const totals = row.pool.totals(from, to);
  const size = (series: Series[]) => series.reduce((all, one) => all + total(one.column(0), from, to), 0);
  return {
    count,
    rate: seconds > 0 ? count / seconds : 0,
    failed: count > 0 ? total(row.failed, from, to) / count : 0,
    sent: row.sent.length > 0 ? size(row.sent) : Number.NaN,
    received: row.received.length > 0 ? size(row.received) : Number.NaN,
    share: time > 0 ? totals.sum / time : Number.NaN,
    all: null,
    mean: totals.count > 0 ? totals.sum / totals.count : Number.NaN,
    min: totals.count > 0 ? totals.min : Number.NaN,
    max: totals.count > 0 ? totals.max : Number.NaN,
  };
}

/** The scheme and host of all routes that are URLs; empty if they differ. */
export function sharedOrigin(names: string[]): string {
  const [first, ...others] = new Set(names.filter((name) => name.includes('://')).map((name) => /(?:^|\s)(https?:\/\/[^\s/?#]+)(?=\/)/.exec(name)?.[1] ?? ''));
  return others.length === 0 ? (first ?? '') : '';
}

export function Requests({ app, stretch }: { app: App; stretch: Stretch }) {
  const { run } = app;
  const { word, http } = subject(run);
  const { from, to, version } = stretch;
  const [search, setSearch] = useState('');
  const [sort, setSort] = useState<{ key: string; down: boolean }>({ key: 'count', down: true });
  const [hidden, setHidden] = useState<Set<string>>(new Set(COLUMNS.filter((column) => column.extra).map((column) => column.key)));
  const [limit, setLimit] = useState(SHOWN);
  const [folded, setClosed] = useState<Set<string> | null>(null);
  const rows = useMemo(() => rowsOf(app), [run, version]);
  // Many routes are easier to read without their classes.
  const closed = folded ?? new Set(rows.length > 20 ? rows.map((row) => row.key) : []);
  const everyRow = useMemo(() => ({ pool: app.pool(subject(run).duration), name: `All ${word}` }), [app, run, word, version]);
  const bytesKnown = rows.some((row) => row.sent.length + row.received.length > 0);
  const phasesKnown = rows.some((row) => row.phases.some((pool) => pool.series.length > 0));
  const columns = COLUMNS.filter((column) => !hidden.has(column.key) && (bytesKnown || (column.key !== 'sent' && column.key !== 'received')));
  const numbers = new Map<string, Numbers>();
  const time = everyRow.pool.totals(from, to).sum;
  const of = (row: Row) => {
    let found = numbers.get(row.key);
    if (!found) {
      found = numbersOf(row, stretch, time);
      numbers.set(row.key, found);
    }
    return found;
  };
  const cell = (row: Row, column: Column) => {
    const known = of(row);
    if (known.count === 0 && column.key !== 'count' && column.key !== 'rate') return Number.NaN;
    return column.of(known, () => {
      known.all ??= row.pool.stretch(from, to);
      return known.all;
    });
  };
  const origin = useMemo(() => sharedOrigin(rows.map((row) => row.name)), [rows]);
  const wanted = search.trim().toLowerCase();
  const found = rows.filter((row) => row.name.toLowerCase().includes(wanted));
  const column = COLUMNS.find((one) => one.key === sort.key);
  const order = (list: Row[]) => {
    const keyed = list.map((row): [Row, number] => [row, column ? cell(row, column) : 0]);
    keyed.sort((a, b) => {
      if (!column) return (a[0].name < b[0].name ? -1 : 1) * (sort.down ? -1 : 1);
      const [x, y] = [a[1], b[1]];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
      return (x - y) * (sort.down ? -1 : 1);
    });
    return keyed.map(([row]) => row);
  };
  const sorted = order(found);
  const status = useRef<HTMLParagraphElement>(null);
  if (rows.length === 0) return <Empty>{why(app, word)}</Empty>;
  const every: Row = {
    key: '*',
    route: '',
    name: everyRow.name,
    depth: 0,
    pool: everyRow.pool,
    counts: summed(run, run.of(subject(run).count), 0),
    failed: judged(run).failed,
    sent: run.of('http_req_bytes_sent'),
    received: run.of('http_req_bytes_received'),
    phases: PHASES.map(([, name]) => app.pool(name)),
    children: [],
  };
  const head = (key: string, name: string, text = false) => (
    <th scope="col" class={text ? 'text' : ''} aria-sort={sort.key === key ? (sort.down ? 'descending' : 'ascending') : 'none'}>
      <button type="button" onClick={() => setSort({ key, down: sort.key === key ? !sort.down : key !== 'name' })}>
        {name}
        <span aria-hidden="true">{sort.key === key ? (sort.down ? ' ▾' : ' ▴') : ''}</span>
      </button>
    </th>
  );
  const line = (row: Row) => {
    const now = of(row);
    const open = app.route === row.route && row.depth === 0;
    const many = row.children.length > 0;
    return (
      <tr key={row.key} class={`${row.depth > 0 ? 'child' : ''} ${open ? 'open' : ''} ${row.key === '*' ? 'every' : ''}`}>
        <th scope="row" class="text name">
          {many && row.depth === 0 && (
            <button
              type="button"
              class="fold"
              aria-expanded={!closed.has(row.key)}
              aria-label={`Classes of status of ${row.name}`}
              onClick={() => {
                const next = new Set(closed);
                if (!next.delete(row.key)) next.add(row.key);
                setClosed(next);
              }}
            >
              {closed.has(row.key) ? '▸' : '▾'}
            </button>
          )}
          {row.key === '*' || row.depth > 0 ? (
            <span>{row.name}</span>
          ) : (
            <button type="button" class="route" title={row.name} aria-expanded={open} onClick={() => app.open(open ? null : row.route)}>
              {row.name.replace(origin, '')}
            </button>
          )}
        </th>
        {columns.map((one) => {
          const value = cell(row, one);
          return (
            <td key={one.key} data-column={one.key}>
              <Num value={value} text={one.text} tone={(one.key === 'failed' || one.key === 'ko') && value > 0 ? 'bad' : undefined} />
            </td>
          );
        })}
        <td class="text">
          <Spark values={rates(app, row.counts)} from={from} to={to} width={64} />
        </td>
        {phasesKnown && <td class="text">{now.count > 0 && <PhaseBar pools={row.phases} stretch={stretch} />}</td>}
      </tr>
    );
  };
  const exportCsv = () => {
    const table = [['route', 'status class', ...COLUMNS.map((one) => one.key), ...PHASES.map(([name]) => `${name} mean ms`)]] as (string | number)[][];
    for (const row of sorted.flatMap((one) => [one, ...one.children])) {
      table.push([row.route, row.depth > 0 ? row.name : '', ...COLUMNS.map((one) => cell(row, one)), ...row.phases.map((pool) => {
        const totals = pool.totals(from, to);
        return totals.count > 0 ? totals.sum / totals.count : Number.NaN;
      })]);
    }
    const text = table.map((cells) => cells.map(csvCell).join(',')).join('\r\n');
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([`${text}\r\n`], { type: 'text/csv;charset=utf-8' }));
    link.download = `${(run.facts.run.name || 'routes').replace(/[^\w.-]+/g, '-')}-routes.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    if (status.current) status.current.textContent = `${table.length - 1} rows saved as CSV.`;
  };
  return (
    <>
      <div class="controls">
        <input type="search" placeholder="Search routes" aria-label="Search routes" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        <details class="menu">
          <summary>Columns</summary>
          <div class="menu-list" role="group" aria-label="Columns">
            {COLUMNS.map((one) => (
              <label key={one.key}>
                <input
                  type="checkbox"
                  checked={!hidden.has(one.key)}
                  onChange={() =>
                    setHidden((before) => {
                      const next = new Set(before);
                      if (!next.delete(one.key)) next.add(one.key);
                      return next;
                    })
                  }
                />{' '}
                {one.name}
              </label>
            ))}
          </div>
        </details>
        <button type="button" class="chip" onClick={() => setClosed(closed.size < rows.length ? new Set(rows.map((row) => row.key)) : new Set())}>
          {closed.size < rows.length ? 'Fold all' : 'Unfold all'}
        </button>
        <button type="button" class="chip" onClick={exportCsv}>
          Export CSV
        </button>
        {document.fullscreenEnabled && (
          <button type="button" class="chip" onClick={() => void (document.fullscreenElement ? document.exitFullscreen() : document.getElementById('requests')?.requestFullscreen())}>
            Full screen
          </button>
        )}
        {phasesKnown && (
          <span class="legend phases">
            {PHASES.filter((_, i) => rows.some((row) => row.phases[i]!.series.length > 0)).map(([name, , tone]) => (
              <span key={name} class="key">
                <i class="dot" style={{ background: `var(${tone})` }} />
                {name}
              </span>
            ))}
          </span>
        )}
      </div>
      <p class="sr" role="status" ref={status}>
        {wanted ? `${found.length} of ${rows.length} routes` : ''}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Requests by route">
        <table class="routes">
          <thead>
            <tr>
              {head('name', http ? 'Route' : 'Name', true)}
              {columns.map((one) => head(one.key, one.name))}
              <th scope="col" class="text">
                Over time
              </th>
              {phasesKnown && (
                <th scope="col" class="text">
                  Phases (mean)
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {!wanted && line(every)}
            {sorted.slice(0, limit).flatMap((row) => [line(row), ...(closed.has(row.key) ? [] : row.children.map(line))])}
          </tbody>
        </table>
      </div>
      {origin && <p class="note">Paths are of {origin}</p>}
      {found.length === 0 && <Empty>No route has “{search}” in its name.</Empty>}
      {found.length > limit && (
        <button type="button" class="chip" onClick={() => setLimit(limit + 200)}>
          {whole(found.length - limit)} more routes
        </button>
      )}
      <Donut rows={rows} of={of} />
      {app.route !== null && rows.some((row) => row.route === app.route) && <Opened app={app} stretch={stretch} route={app.route} />}
    </>
  );
}

function PhaseBar({ pools, stretch }: { pools: Pool[]; stretch: Stretch }) {
  const means = pools.map((pool) => {
    const totals = pool.totals(stretch.from, stretch.to);
    return totals.count > 0 ? totals.sum / totals.count : 0;
  });
  const all = means.reduce((a, b) => a + b, 0);
  if (!(all > 0)) return null;
  const words = PHASES.map(([name], i) => (means[i]! > 0 ? `${name} ${duration(means[i]!)}` : '')).filter(Boolean).join(', ');
  return (
    <span class="phase-bar" role="img" aria-label={words} title={words}>
      {PHASES.map(([name, , tone], i) => means[i]! / all > 0.002 && <i key={name} style={{ width: `${(means[i]! / all) * 100}%`, background: `var(${tone})` }} />)}
    </span>
  );
}

/** The share of each route, its failures inside. */
function Donut({ rows, of }: { rows: Row[]; of: (row: Row) => Numbers }) {
  const counted = rows.map((row) => ({ name: row.name, ...of(row) })).filter((row) => row.count > 0).sort((a, b) => b.count - a.count);
  const all = counted.reduce((sum, row) => sum + row.count, 0);
  if (all === 0 || counted.length < 2) return null;
  const slices = counted.slice(0, 7);
  const rest = counted.slice(7);
  if (rest.length > 0) slices.push({ ...rest[0]!, name: `${rest.length} others`, count: rest.reduce((sum, row) => sum + row.count, 0), failed: rest.reduce((sum, row) => sum + row.failed * row.count, 0) / rest.reduce((sum, row) => sum + row.count, 0) });
  let at = 0;
  const arc = (from: number, to: number, radius: number, width: number, tone: string, key: string) => {
    const length = 2 * Math.PI * radius;
    return <circle key={key} cx="50" cy="50" r={radius} fill="none" stroke={`var(${tone})`} stroke-width={width} stroke-dasharray={`${Math.max(0, (to - from) * length - 0.5)} ${length}`} stroke-dashoffset={-from * length} transform="rotate(-90 50 50)" />;
  };
  const arcs = slices.flatMap((row, i) => {
    const [from, to] = [at, at + row.count / all];
    at = to;
    const failedTo = from + (to - from) * row.failed;
    return [arc(from, to, 40, 14, `--d-${i + 1}`, `o${i}`), arc(from, failedTo, 27, 8, '--c-fail', `f${i}`), arc(failedTo, to, 27, 8, '--c-ok', `k${i}`)];
  });
  return (
    <div class="donut">
      <h3>Share of routes</h3>
      <svg viewBox="0 0 100 100" role="img" aria-label={slices.map((row) => `${row.name}: ${percent(row.count / all)}, ${percent(row.failed)} failed`).join('; ')}>
        {arcs}
        <text x="50" y="49" text-anchor="middle" class="donut-value">
          {short(all)}
        </text>
        <text x="50" y="58" text-anchor="middle" class="donut-unit">
          in all
        </text>
      </svg>
      <ul>
        {slices.map((row, i) => (
          <li key={row.name}>
            <i class="dot" style={{ background: `var(--d-${i + 1})` }} />
            <span class="name">{row.name}</span>
            <span>{percent(row.count / all)}</span>
            <span class={row.failed > 0 ? 'bad' : 'dim'}>{row.failed > 0 ? `${percent(row.failed)} failed` : 'all ok'}</span>
          </li>
        ))}
        <li class="dim small">outer ring: share; inner ring: ok and failed</li>
      </ul>
    </div>
  );
}

/** Everything of sections 5, 6, 8 and 9 for one route. */
function Opened({ app, stretch, route }: { app: App; stretch: Stretch; route: string }) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    ref.current?.focus({ preventScroll: true });
    ref.current?.scrollIntoView({ block: 'start' });
  }, [route]);
  const rule = useMemo(() => ({ key: `route ${route}`, takes: (tags: Tags) => routeOf(tags) === route }), [route]);
  return (
    <article class="opened" aria-label={`Route ${route}`}>
      <header>
        <h3 tabIndex={-1} ref={ref}>
          {route}
        </h3>
        <button type="button" class="chip" onClick={() => app.open(null)}>
          Close
        </button>
      </header>
      <Latency app={app} stretch={stretch} rule={rule} key={`l${route}`} />
      <Responses app={app} stretch={stretch} rule={rule} key={`r${route}`} />
      <Scatter app={app} stretch={stretch} rule={rule} key={`s${route}`} />
      <Failures app={app} stretch={stretch} route={route} key={`f${route}`} />
    </article>
  );
}
