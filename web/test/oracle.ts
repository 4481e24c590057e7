/** Every number of a synthetic run's page, computed from its raw values: no histogram, no bucket, no code of the page. */

import type { Tags } from '../src/data/model.js';
import type { Synthetic } from './synthetic.js';

type Takes = (tags: Tags) => boolean;
const every: Takes = () => true;

export class Oracle {
  constructor(
    private readonly made: Synthetic,
    private readonly from: number,
    private readonly to: number,
    private readonly seconds: number,
  ) {}

  private of(metric: string, takes: Takes) {
    return this.made.raw.filter((one) => one.metric.name === metric && takes(one.tags));
  }

  values(metric: string, takes: Takes = every): number[] {
    return this.of(metric, takes).flatMap((one) => one.values!.slice(this.from, this.to).flatMap((slice) => [...slice])).sort((a, b) => a - b);
  }

  sum(metric: string, takes: Takes = every, column = 0): number {
    return this.of(metric, takes).reduce((all, one) => all + one.columns![column]!.slice(this.from, this.to).reduce((a, b) => a + b, 0), 0);
  }

  gauge(metric: string, takes: Takes = every) {
    const slices = this.of(metric, takes).flatMap((one) => one.columns![1]!.slice(this.from, this.to).map((value, i) => [one.columns![0]![this.from + i]!, value] as const));
    const known = slices.filter(([at]) => at > 0);
    return {
      last: [...known].sort((a, b) => a[0] - b[0]).at(-1)![1],
      min: Math.min(...known.map(([, value]) => value)),
      max: Math.max(...known.map(([, value]) => value)),
    };
  }

  statistics(values: number[]) {
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const p = (percent: number) => {
      const index = (percent / 100) * (values.length - 1);
      const [low, high] = [values[Math.floor(index)]!, values[Math.ceil(index)]!];
      return low + (high - low) * (index - Math.floor(index));
    };
    return { count: values.length, min: values[0]!, max: values[values.length - 1]!, mean, deviation: Math.sqrt(values.reduce((all, value) => all + (value - mean) ** 2, 0) / values.length), p };
  }

  /** All that the page says, under the names that `told` reads. */
  expected(): Record<string, number> {
    const found: Record<string, number> = {};
    const seconds = this.seconds;
    const put = (place: string, numbers: Record<string, number>) => {
      for (const [name, value] of Object.entries(numbers)) found[`${place} · ${name}`] = value;
    };
    const latency = (place: string, values: number[]) => {
      if (values.length === 0) return;
      const { p, ...rest } = this.statistics(values);
      put(place, { ...rest, ...Object.fromEntries([25, 50, 75, 80, 85, 90, 95, 99, 99.9].map((one) => [`p${one}`, p(one)])) });
    };
    const durations = this.values('http_req_duration');
    const asked = this.sum('http_req_failed');
    const failed = this.sum('http_req_failed', every, 1);
    put('figure', {
      requests: this.sum('http_reqs'),
      rate: this.sum('http_reqs') / seconds,
      failed: failed / asked,
      p95: this.statistics(durations).p(95),
      'peak VUs': this.gauge('vus').max,
      data: this.sum('data_received') + this.sum('data_sent'),
    });
    latency('latency', durations);
    const ok = this.values('http_req_duration', (tags) => tags.expected_response === 'true');
    const bad = durations.length - ok.length;
    put('range', { 'r-fast': ok.filter((v) => v < 800).length, 'r-middle': ok.filter((v) => v >= 800 && v < 1200).length, 'r-slow': ok.filter((v) => v >= 1200).length, 'r-failed': bad });
    const checkout = this.values('http_req_duration', (tags) => tags.name === '/checkout');
    put('threshold', { 0: this.statistics(durations).p(95), 1: failed / asked, ...(checkout.length > 0 ? { 2: this.statistics(checkout).p(99) } : {}) });
    for (const { tags } of this.made.raw.filter((one) => one.metric.name === 'brunt.checks')) {
      const mine: Takes = (other) => other.group === tags.group && other.check === tags.check;
      const [all, passes] = [this.sum('brunt.checks', mine), this.sum('brunt.checks', mine, 1)];
      put('check', { [`${tags.group}/${tags.check} passes`]: passes, [`${tags.group}/${tags.check} fails`]: all - passes });
    }
    put('checks', { passes: this.sum('brunt.checks', every, 1), all: this.sum('brunt.checks') });
    const late = this.statistics(this.values('load.lateness'));
    const [fromPlan, fromStart] = ['iteration_duration_planned', 'iteration_duration'].map((metric) => this.statistics(this.values(metric)).p(99)) as [number, number];
    put('load', { peak: this.gauge('vus').max, started: this.sum('load.iterations_started'), planned: this.sum('load.iterations_planned'), dropped: this.sum('load.iterations_dropped'), p50: late.p(50), p99: late.p(99), 'p99 from plan': fromPlan, 'p99 from start': fromStart, 'p99 more': fromPlan - fromStart });
    // Rows: all, each route, each class of statuses of it.
    const row = (name: string, takes: Takes) => {
      const values = this.values('http_req_duration', takes);
      const count = this.sum('http_reqs', takes);
      put(name, { count, rate: count / seconds });
      if (count === 0) return;
      const { p, mean, min, max, deviation } = this.statistics(values);
      const ko = this.sum('http_req_failed', takes, 1);
      put(name, { ok: count - ko, ko, failed: ko / count, min, max, mean, deviation, good: ((count / seconds) * (count - ko)) / count, share: values.reduce((all, value) => all + value, 0) / durations.reduce((all, value) => all + value, 0), received: this.sum('http_req_bytes_received', takes), ...Object.fromEntries([50, 75, 90, 95, 99, 99.9].map((one) => [`p${one}`, p(one)])) });
    };
    row('row All requests', every);
    const classes = new Set(this.of('http_reqs', every).map(({ tags }) => `${tags.method} ${tags.name}\n${tags.status === '0' ? 'no answer' : `${tags.status![0]}xx`}`));
    for (const key of classes) {
      const [route, status] = key.split('\n');
      const same: Takes = (tags) => `${tags.method} ${tags.name}` === route;
      row(`row ${route}`, same);
      row(`row ${route} ${status}`, (tags) => same(tags) && (status === 'no answer' ? tags.status === '0' : tags.status![0] === status![0] && tags.status !== '0'));
    }
    for (const { tags } of this.of('failures', every)) {
      const count = this.sum('failures', (other) => other.route === tags.route && other.code === tags.code);
      if (count > 0) put('failure', { [`${tags.route} ${tags.code}`]: count });
    }
    for (const group of ['::browse', '::buy', '::buy::cart', '::buy::pay']) {
      const values = this.values('group_duration', (tags) => tags.group === group);
      const below: Takes = (tags) => tags.group === group || tags.group!.startsWith(`${group}::`);
      const inner = this.values('http_req_duration', below);
      const name = `group ${group.split('::').at(-1)}`;
      put(name, { Executions: values.length, Requests: inner.length });
      if (values.length > 0) {
        const { p, min, max, mean, deviation } = this.statistics(values);
        put(name, { Rate: values.length / seconds, Min: min, p50: p(50), p75: p(75), p95: p(95), p99: p(99), Max: max, Mean: mean, 'Std dev': deviation });
        if (inner.length > 0) put(name, { 'Response times each': inner.reduce((a, b) => a + b, 0) / values.length });
      }
      if (inner.length > 0) put(name, { Failed: this.sum('http_req_failed', below, 1) / inner.length });
    }
    const mine: Takes = (tags) => tags.scenario === 'shoppers';
    put('scenario shoppers', { 'Peak VUs': this.gauge('load.vus_active', mine).max, Iterations: this.sum('iterations', mine), Requests: durations.length, Failed: failed / asked, p50: this.statistics(durations).p(50), p95: this.statistics(durations).p(95), Received: this.sum('data_received', mine) });
    put('scenario orders', { Iterations: this.sum('load.iterations_done'), Dropped: this.sum('load.iterations_dropped'), Requests: 0 });
    for (const metric of ['time_to_first_render', 'iteration_duration']) {
      const values = this.values(metric);
      put(`metric ${metric}`, { count: values.length });
      if (values.length === 0) continue;
      const { p, mean, max } = this.statistics(values);
      put(`metric ${metric}`, { mean, p50: p(50), p95: p(95), max });
    }
    for (const metric of ['orders_placed', 'data_received', 'data_sent']) put(`metric ${metric}`, { sum: this.sum(metric), rate: this.sum(metric) / seconds });
    const [hits, all] = [this.sum('cart_hit', every, 1), this.sum('cart_hit')];
    put('metric cart_hit', { rate: hits / all, hits, misses: all - hits });
    put('metric queue_length', { ...this.gauge('queue_length') });
    return found;
  }
}

/** Reads every number of the page, in the browser. */
export function told(): Record<string, number> {
  const found: Record<string, number> = {};
  const number = (element: Element | null | undefined) => Number((element as HTMLDataElement | null)?.value ?? Number.NaN);
  const put = (name: string, element: Element | null | undefined) => {
    if (element) found[name] = number(element);
  };
  const all = (selector: string, within: ParentNode = document) => [...within.querySelectorAll<HTMLElement>(selector)];
  for (const figure of all('[data-figure]')) put(`figure · ${figure.dataset.figure}`, figure.querySelector('data'));
  for (const stat of all('#latency [data-stat]')) put(`latency · ${stat.dataset.stat}`, stat.querySelector('data'));
  for (const range of all('#latency [data-range]')) put(`range · ${range.dataset.range}`, range.querySelector('data'));
  all('.thresholds tbody tr').forEach((row, i) => put(`threshold · ${i}`, row.querySelector('td:nth-of-type(2) data')));
  for (const check of all('.check')) {
    const path: string[] = [];
    for (let node = check.parentElement?.closest('details'); node; node = node.parentElement?.closest('details')) path.unshift(node.querySelector('summary')!.firstChild!.textContent!.trim());
    const name = `check · ::${path.join('::')}/${check.querySelector('.name')!.textContent}`;
    const [first, second] = all('.counts data', check).map(number);
    const fails = second === undefined ? 0 : first!;
    found[`${name} fails`] = fails;
    found[`${name} passes`] = second === undefined ? (first ?? 0) : second - fails;
  }
  const [passes, every] = all('.tree > .note data');
  put('checks · passes', passes);
  put('checks · all', every);
  all('#load > .note data').forEach((element, i) => put(`load · ${['peak', 'started', 'planned', 'dropped', 'p50', 'p99', 'p99 from plan', 'p99 from start', 'p99 more'][i]}`, element));
  let route = '';
  for (const row of all('.routes tbody tr')) {
    const name = row.querySelector('.name')!.textContent!.replace(/^[▸▾]/, '');
    if (!row.classList.contains('child')) route = name;
    for (const cell of all('[data-column]', row)) put(`row ${row.classList.contains('child') ? `${route} ${name}` : name} · ${cell.dataset.column}`, cell.querySelector('data'));
  }
  for (const row of all('.failures tbody tr')) {
    const cells = row.querySelectorAll('td, th');
    put(`failure · ${cells[3]!.textContent!.replace(/^\S+ /, '')} ${/code (\S+)/.exec(cells[2]!.textContent!)![1]}`, cells[0]!.querySelector('data'));
  }
  all('#groups table').forEach((table, i) => {
    const heads = all('thead th', table).map((head) => head.textContent!);
    for (const row of all('tbody tr', table)) {
      const cells = [...row.children];
      cells.forEach((cell, at) => put(`${i === 0 ? 'group' : 'scenario'} ${cells[0]!.textContent} · ${heads[at]}`, cell.querySelector('data')));
    }
  });
  for (const card of all('[data-metric]')) for (const pair of all('.numbers > div', card)) put(`metric ${card.dataset.metric} · ${pair.querySelector('dt')!.textContent}`, pair.querySelector('data'));
  return found;
}
