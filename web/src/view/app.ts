/** What the page is showing: a run, a stretch of it, a route; and who wants to know of changes. */

import { useEffect, useState } from 'preact/hooks';
import type { Tags } from '../data/model.js';
import { Pool, summed } from '../data/pool.js';
import type { Change, Run, Series } from '../data/run.js';

/** A stretch of the run, by borders of slices. */
export interface Stretch {
  from: number;
  to: number;
  /** Its length in seconds. */
  seconds: number;
  /** Counts changes of the data; with the borders it tells whether something computed is stale. */
  version: number;
}

type Listener = () => void;

export class App {
  readonly run: Run;
  private chosen: { from: number; to: number } | null = null;
  /** The route that is open: `GET /cart`. */
  route: string | null = null;
  live: 'none' | 'connecting' | 'connected' | 'lost' | 'broken' | 'ended' = 'none';
  private readonly listeners = new Set<Listener>();
  private readonly pools = new Map<string, Pool>();

  constructor(run: Run) {
    this.run = run;
  }

  get stretch(): Stretch {
    const { slices } = this.run;
    const from = Math.min(this.chosen?.from ?? 0, Math.max(slices - 1, 0));
    const to = Math.max(Math.min(this.chosen?.to ?? slices, slices), Math.min(from + 1, slices));
    return { from, to, seconds: this.run.seconds(from, to), version: this.run.version };
  }

  get whole(): boolean {
    return this.chosen === null;
  }

  /** Chooses a stretch by borders of slices; null is the whole run, which grows while it runs. */
  choose(stretch: { from: number; to: number } | null): void {
    const { slices } = this.run;
    if (stretch) {
      const from = Math.max(0, Math.min(Math.floor(stretch.from), slices - 1));
      const to = Math.max(from + 1, Math.min(Math.ceil(stretch.to), slices));
      stretch = from <= 0 && to >= slices ? null : { from, to };
    }
    if (stretch?.from === this.chosen?.from && stretch?.to === this.chosen?.to) return;
    this.chosen = stretch;
    this.tell();
  }

  /** Chooses by seconds since the start, outwards to borders of slices. */
  chooseSeconds(from: number, to: number): void {
    const width = this.run.facts.time.width / 1000;
    this.choose({ from: Math.floor(from / width + 1e-6), to: Math.ceil(to / width - 1e-6) });
  }

  open(route: string | null): void {
    this.route = route;
    this.tell();
  }

  /** The data have changed. */
  changed(change: Change): void {
    const grown = this.run.series.length !== this.known;
    this.known = this.run.series.length;
    for (const pool of this.pools.values()) pool.forget(grown || change.reset ? 0 : change.slice);
    // New series may belong to any of the sets.
    if (grown || change.reset) {
      for (const pool of this.pools.values()) pool.drop();
      this.pools.clear();
    }
    this.tell();
  }

  private known = -1;

  tell(): void {
    for (const listener of [...this.listeners]) listener();
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The trend series of a metric that a rule takes, as one set, kept under a key. */
  pool(metric: string, key = '', takes: (tags: Tags) => boolean = () => true): Pool {
    return this.poolOf(`${metric}\n${key}`, () => this.run.of(metric).filter((one) => takes(one.tags)));
  }

  /** The same for a list that is known. */
  poolOf(name: string, series: () => Series[]): Pool {
    let pool = this.pools.get(name);
    if (!pool) {
      pool = new Pool(this.run, series().filter((one) => one.metric.type === 'trend'));
      this.pools.set(name, pool);
    }
    return pool;
  }
}

/** Draws anew at each change. */
export function useApp(app: App): void {
  const [, set] = useState(0);
  useEffect(() => app.listen(() => set((n) => n + 1)), [app]);
}

/** ok, or the kind of failure: an error code, else a status. */
export function outcome(tags: Tags): string {
  const status = Number(tags.status || 'NaN');
  // In gRPC, which has services, 0 is the status of success.
  const bad = tags.service === undefined ? status === 0 || status >= 400 : status > 0;
  const failed = tags.expected_response !== undefined ? tags.expected_response === 'false' : (tags.error_code ?? '') !== '' || bad;
  if (!failed) return 'ok';
  return tags.error_code || tags.status || 'failed';
}

/** Words for the usual error codes of k6. */
const CODES: Record<string, string> = {
  1050: 'timeout',
  1101: 'host not found',
  1110: 'blocked address',
  1111: 'blocked host',
  1211: 'connection timeout',
  1212: 'connection refused',
  1220: 'connection reset',
  1310: 'unknown authority',
  1311: 'certificate of another host',
};

/** A kind of failure as people read it: the status behind an error code, or words. */
export function kindName(kind: string): string {
  const code = Number(kind);
  if (code >= 1400 && code < 1600) return `HTTP ${code - 1000}`;
  if (code >= 100 && code < 600) return `HTTP ${code}`;
  return CODES[kind] ? `${CODES[kind]} (${kind})` : kind;
}

/** The method and the route, or the name, or the statement; of series that had no room, a word for all of them. */
export function routeOf(tags: Tags): string {
  if (tags.other === 'true' && tags.route === undefined) return 'all other series';
  const name = tags.route ?? tags.name ?? tags.statement ?? tags.url ?? '';
  return tags.method && name ? `${tags.method} ${name}` : name || tags.method || '(no name)';
}

/** 2xx, 4xx, … or an error. */
export function statusClass(tags: Tags): string {
  if (!tags.status) return '';
  const status = Number(tags.status);
  if (tags.service !== undefined) return `status ${tags.status}`;
  if (status >= 100 && status < 600) return `${Math.floor(status / 100)}xx`;
  return status === 0 ? 'no answer' : tags.status;
}

/**
 * The metrics that stand for requests in this run: HTTP if there is any, else the next best. `count` names what counts them (the first column of
 * a trend is its count as well), `failed` a rate, if there is one.
 */
export function subject(run: Run): { count: string; duration: string; failed: string; word: string; http: boolean } {
  const has = (name: string) => run.of(name).length > 0;
  if (has('http_req_duration') || has('http_reqs')) {
    return { count: has('http_reqs') ? 'http_reqs' : 'http_req_duration', duration: 'http_req_duration', failed: has('http_req_failed') ? 'http_req_failed' : '', word: run.facts.run.kind === 'attack' ? 'hits' : 'requests', http: true };
  }
  if (has('sql_duration')) return { count: 'sql_queries', duration: 'sql_duration', failed: 'sql_failed', word: 'statements', http: false };
  const other = ['grpc_req_duration', 'iteration_duration', ...run.metrics.filter((m) => m.type === 'trend' && (m.family ?? 'metric') === 'metric').map((m) => m.name)].find(has);
  if (other && other !== 'iteration_duration') return { count: other, duration: other, failed: '', word: other === 'grpc_req_duration' ? 'gRPC calls' : 'values', http: false };
  return { count: has('iterations') || !other ? 'iterations' : other, duration: 'iteration_duration', failed: '', word: run.facts.run.kind === 'attack' ? 'hits' : 'iterations', http: false };
}

/** How many requests were judged and how many failed, slice by slice: by the rate that says so, else by the tags of what counts them. */
export function judged(run: Run): { all: Float64Array; failed: Float64Array } {
  const { count, failed } = subject(run);
  if (failed) return { all: summed(run, run.of(failed), 0), failed: summed(run, run.of(failed), 1) };
  return { all: summed(run, run.of(count), 0), failed: summed(run, run.of(count).filter((one) => outcome(one.tags) !== 'ok'), 0) };
}

export const sum = (series: Series[], column: number, from: number, to: number): number => {
  let all = 0;
  for (const one of series) {
    const values = one.column(column);
    for (let i = from; i < Math.min(to, values.length); i++) all += values[i]!;
  }
  return all;
};

/** Per second: the sums of slices divided by their width; the last slice may be short. */
export function rates(app: App, sums: Float64Array): Float64Array {
  const { run } = app;
  const width = run.facts.time.width / 1000;
  const n = run.slices;
  return sums.map((value, i) => {
    const seconds = i === n - 1 ? run.seconds(i, i + 1) : width;
    // A last slice of a few milliseconds would make a peak out of one request.
    return seconds < width * 0.1 && i > 0 ? Number.NaN : value / Math.max(seconds, 1e-3);
  });
}
