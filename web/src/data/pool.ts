/** Sets of series, and their numbers for any stretch of slices. */

import { adder, type Bins, Distribution, EXACT_MAX, exactValues, spreadPacked } from './distribution.js';
import type { Run, Series } from './run.js';

/** Slices from one sum to the next. A sum is everything from the start of the run up to there. */
const LONG = 60;
/** Sets of more series than `WIDE` also keep so many slices each, merged. Points of plots stand for as many, or for parts of them. */
const WIDE = 4;
const BLOCK = 30;
const TEN = 10;
/** Bins that all pools may keep merged, together. Beyond it they are merged again each time. */
const KEPT_MAX = 24_000_000;
let kept = 0;

export interface Totals {
  count: number;
  sum: number;
  min: number;
  max: number;
}

/** A percentile of groups of slices, computed for the groups that were asked for. */
interface Band {
  every: number;
  values: Float64Array;
  known: Uint8Array;
}

const empty = (length: number) => new Float64Array(length).fill(Number.NaN);

/** A list with room for `length`, what it held at its front. */
function grown<T extends Float64Array | Uint8Array>(list: T, length: number, make: (length: number) => T): T {
  if (list.length >= length) return list;
  const longer = make(length);
  longer.set(list);
  return longer;
}

/** Trend series taken together. */
export class Pool {
  readonly series: Series[];
  private readonly run: Run;
  private totalsBySlice: { count: Float64Array; sum: Float64Array; min: Float64Array; max: Float64Array } | null = null;
  private tens: (Bins | undefined)[] = [];
  private blocks: (Bins | undefined)[] = [];
  /** sums[i] = all of [0, i · LONG): any stretch is the difference of two, and its edges. */
  private sums: (Bins | undefined)[] = [];
  private readonly answers = new Map<string, Distribution>();
  private readonly bands = new Map<string, Band>();
  private cells: { borders: Float64Array; values: Float64Array; known: Uint8Array } = { borders: new Float64Array(0), values: new Float64Array(0), known: new Uint8Array(0) };

  constructor(run: Run, series: Series[]) {
    this.run = run;
    this.series = series;
  }

  /** Forgets what changed: everything from this slice on. */
  forget(from: number): void {
    this.totalsBySlice = null;
    this.answers.clear();
    for (const { every, values, known } of this.bands.values()) {
      values.fill(Number.NaN, Math.floor(from / every));
      known.fill(0, Math.floor(from / every));
    }
    this.cells.known.fill(0, from);
    const drop = (list: (Bins | undefined)[], at: number) => {
      for (const bins of list.splice(at)) if (bins) kept -= bins.keys.length;
    };
    drop(this.tens, Math.floor(from / TEN));
    drop(this.blocks, Math.floor(from / BLOCK));
    drop(this.sums, Math.floor(from / LONG) + 1);
  }

  /** Gives its room back. */
  drop(): void {
    for (const list of [this.tens, this.blocks, this.sums]) {
      for (const bins of list.splice(0)) if (bins) kept -= bins.keys.length;
    }
  }

  private keep(bins: Bins): boolean {
    if (kept + bins.keys.length > KEPT_MAX) return false;
    kept += bins.keys.length;
    return true;
  }

  /** Count, sum, least, greatest of each slice. */
  get columns() {
    if (!this.totalsBySlice) {
      const n = this.run.slices;
      const count = new Float64Array(n);
      const sum = new Float64Array(n);
      const min = new Float64Array(n).fill(Number.POSITIVE_INFINITY);
      const max = new Float64Array(n).fill(Number.NEGATIVE_INFINITY);
      for (const series of this.series) {
        const [counts, sums, mins, maxes] = [series.column(0), series.column(1), series.column(2), series.column(3)];
        for (let i = 0; i < Math.min(n, counts.length); i++) {
          if (counts[i] === 0) continue;
          count[i]! += counts[i]!;
          sum[i]! += sums[i]!;
          if (mins[i]! < min[i]!) min[i] = mins[i]!;
          if (maxes[i]! > max[i]!) max[i] = maxes[i]!;
        }
      }
      this.totalsBySlice = { count, sum, min, max };
    }
    return this.totalsBySlice;
  }

  totals(from: number, to: number): Totals {
    const { count, sum, min, max } = this.columns;
    const totals = { count: 0, sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
    for (let i = from; i < Math.min(to, count.length); i++) {
      if (count[i] === 0) continue;
      totals.count += count[i]!;
      totals.sum += sum[i]!;
      if (min[i]! < totals.min) totals.min = min[i]!;
      if (max[i]! > totals.max) totals.max = max[i]!;
    }
    return totals.count === 0 ? { count: 0, sum: 0, min: 0, max: 0 } : totals;
  }

  private addPacked(slice: number, sign = 1): void {
    for (const series of this.series) {
      const count = series.column(0)[slice] ?? 0;
      if (count > 0) series.addTo(adder, slice, count, sign);
    }
  }

  private get wide(): boolean {
    return this.series.length > WIDE;
  }

  private ten(number: number): Bins {
    let bins = this.tens[number];
    if (!bins) {
      for (let slice = number * TEN; slice < (number + 1) * TEN; slice++) this.addPacked(slice);
      bins = adder.take();
      if (this.keep(bins)) this.tens[number] = bins;
    }
    return bins;
  }

  private block(number: number): Bins {
    let bins = this.blocks[number];
    if (!bins) {
      const tens = Array.from({ length: BLOCK / TEN }, (_, i) => this.ten((number * BLOCK) / TEN + i));
      for (const ten of tens) adder.addBins(ten);
      bins = adder.take();
      if (this.keep(bins)) this.blocks[number] = bins;
    }
    return bins;
  }

  /** The sum up to `number · LONG`; null if there is no room to keep it: making it anew each time would take longer than the stretch alone. */
  private sum(number: number): Bins | null {
    let at = number;
    while (at > 0 && !this.sums[at]) at--;
    let bins = this.sums[at] ?? { keys: new Uint32Array(0), counts: new Float64Array(0) };
    for (; at < number; at++) {
      if (this.wide) {
        const parts = Array.from({ length: LONG / BLOCK }, (_, i) => this.block((at * LONG) / BLOCK + i));
        for (const part of parts) adder.addBins(part);
      } else for (let slice = at * LONG; slice < (at + 1) * LONG; slice++) this.addPacked(slice);
      adder.addBins(bins);
      bins = adder.take();
      if (!this.keep(bins)) return null;
      this.sums[at + 1] = bins;
    }
    return bins;
  }

  /** Everything from one border to another. */
  stretch(from: number, to: number): Distribution {
    const key = `${from}-${to}`;
    let answer = this.answers.get(key);
    if (!answer) {
      answer = this.merge(from, to);
      if (this.answers.size > 8) this.answers.clear();
      this.answers.set(key, answer);
    }
    return answer;
  }

  private merge(from: number, to: number): Distribution {
    const totals = this.totals(from, to);
    if (totals.count === 0) return Distribution.empty;
    if (totals.count <= EXACT_MAX && this.series.every((series) => series.exact(from, to))) {
      return new Distribution(totals, { values: this.values(from, to, totals.count) });
    }
    // First all parts are made, then they are added up: making one uses the adder.
    const parts: [Bins, number][] = [];
    const edges: [number, number][] = [];
    const range = (start: number, end: number, sign: number) => {
      let slice = start;
      while (slice < end) {
        if (this.wide && slice % BLOCK === 0 && slice + BLOCK <= end) {
          parts.push([this.block(slice / BLOCK), sign]);
          slice += BLOCK;
        } else if (this.wide && slice % TEN === 0 && slice + TEN <= end) {
          parts.push([this.ten(slice / TEN), sign]);
          slice += TEN;
        } else edges.push([slice++, sign]);
      }
    };
    const [a, b] = [Math.round(from / LONG), Math.min(Math.round(to / LONG), Math.floor(this.run.slices / LONG))];
    const [after, before] = b - a < 2 ? [null, null] : [this.sum(b), this.sum(a)];
    if (!after || !before) range(from, to, 1);
    else {
      parts.push([after, 1], [before, -1]);
      range(from, a * LONG, 1);
      range(a * LONG, from, -1);
      range(b * LONG, to, 1);
      range(to, b * LONG, -1);
    }
    for (const [part, sign] of parts) adder.addBins(part, sign);
    for (const [edge, sign] of edges) this.addPacked(edge, sign);
    return new Distribution(totals, { bins: adder.take() });
  }

  private values(from: number, to: number, count: number): Float64Array {
    const values = new Float64Array(count);
    let at = 0;
    for (const series of this.series) {
      const counts = series.column(0);
      for (let slice = from; slice < to; slice++) {
        const n = counts[slice] ?? 0;
        if (n === 0) continue;
        series.histogram(slice, (bytes, start, end) => {
          const part = exactValues(bytes, start, end, n);
          values.set(part.subarray(0, Math.max(0, count - at)), at);
          at += part.length;
        });
      }
    }
    return values.sort();
  }

  /**
   * Percentiles of so many slices at a time, for the groups that touch the stretch; NaN where there was nothing. The lists begin with the run.
   */
  percentiles(percents: number[], every = 1, from = 0, to = this.run.slices): Float64Array[] {
    const n = Math.ceil(this.run.slices / every);
    const wanted = percents.map((percent) => {
      const key = `${percent}/${every}`;
      let band = this.bands.get(key);
      if (!band) {
        band = { every, values: empty(n), known: new Uint8Array(n) };
        this.bands.set(key, band);
      }
      band.values = grown(band.values, n, empty);
      band.known = grown(band.known, n, (length) => new Uint8Array(length));
      return band;
    });
    for (let group = Math.floor(from / every); group < Math.min(Math.ceil(to / every), n); group++) {
      if (wanted.every((band) => band.known[group] === 1)) continue;
      const distribution = this.merge(group * every, Math.min((group + 1) * every, this.run.slices));
      wanted.forEach((band, index) => {
        band.values[group] = distribution.count === 0 ? Number.NaN : distribution.percentile(percents[index]!);
        band.known[group] = 1;
      });
    }
    return wanted.map((band) => band.values);
  }

  /** How many values of each slice of the stretch lie in each cell between borders; a row of cells a slice, from the first of the run. */
  grid(borders: Float64Array, from = 0, to = this.run.slices): Float64Array {
    const cells = borders.length - 1;
    const n = this.run.slices;
    const had = this.cells;
    if (had.borders.length !== borders.length || had.borders.some((border, i) => border !== borders[i])) {
      this.cells = { borders, values: new Float64Array(cells * n), known: new Uint8Array(n) };
    }
    const now = this.cells;
    now.values = grown(now.values, cells * n, (length) => new Float64Array(length));
    now.known = grown(now.known, n, (length) => new Uint8Array(length));
    for (let slice = from; slice < to; slice++) {
      if (now.known[slice] === 1) continue;
      now.known[slice] = 1;
      now.values.fill(0, slice * cells, (slice + 1) * cells);
      for (const series of this.series) {
        const count = series.column(0)[slice] ?? 0;
        if (count > 0) series.histogram(slice, (bytes, at, end) => spreadPacked(bytes, at, end, count, now.borders, now.values, slice * cells));
      }
    }
    return now.values;
  }
}

/** How many slices a point of a plot stands for, so that it has at most so many points. */
export function everyOf(slices: number, points = 200): number {
  for (const every of [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600]) if (slices / every <= points) return every;
  return Math.ceil(slices / points);
}

/** Means (or greatest values) of so many slices at a time, slices without a value left out. */
export function grouped(values: ArrayLike<number>, n: number, every: number, most = false): ArrayLike<number> {
  if (every === 1) return values;
  const groups = new Float64Array(Math.ceil(n / every));
  for (let group = 0; group < groups.length; group++) {
    let [all, count, top] = [0, 0, Number.NEGATIVE_INFINITY];
    for (let i = group * every; i < Math.min(n, (group + 1) * every); i++) {
      const value = values[i] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      all += value;
      count++;
      if (value > top) top = value;
    }
    groups[group] = count === 0 ? Number.NaN : most ? top : all / count;
  }
  return groups;
}

/** Sums of lists of series that are asked for again and again: those of whole metrics. */
const remembered = new WeakMap<Series[], { version: number; columns: Float64Array[] }>();

/** Adds up a column of many series, slice by slice: sums of counters, counts or hits of rates. Not to be changed. */
export function summed(run: Run, series: Series[], column: number): Float64Array {
  const n = run.slices;
  let known = remembered.get(series);
  if (known?.version !== run.version) {
    known = { version: run.version, columns: [] };
    remembered.set(series, known);
  }
  const before = known.columns[column];
  if (before) return before;
  const sums = new Float64Array(n);
  known.columns[column] = sums;
  for (const one of series) {
    const values = one.column(column);
    for (let i = 0; i < Math.min(n, values.length); i++) sums[i]! += values[i]!;
  }
  return sums;
}

/** The sum of a column over a stretch. */
export function total(column: Float64Array, from: number, to: number): number {
  let sum = 0;
  for (let i = from; i < Math.min(to, column.length); i++) sum += column[i]!;
  return sum;
}

/** The last, least and greatest value of gauges over a stretch; none if they have none there. */
export function gauge(series: Series[], from: number, to: number): { last: number; min: number; max: number } | null {
  let at = 0;
  const found = { last: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
  for (const one of series) {
    const [ats, lasts, mins, maxes] = [one.column(0), one.column(1), one.column(2), one.column(3)];
    for (let i = from; i < Math.min(to, ats.length); i++) {
      if (ats[i] === 0) continue;
      if (ats[i]! > at || (ats[i] === at && lasts[i]! > found.last)) {
        at = ats[i]!;
        found.last = lasts[i]!;
      }
      if (mins[i]! < found.min) found.min = mins[i]!;
      if (maxes[i]! > found.max) found.max = maxes[i]!;
    }
  }
  return at === 0 ? null : found;
}

/** The values of gauges slice by slice, added up over the series (a series without a new value keeps its last). */
export function gaugeLine(run: Run, series: Series[], column = 1): Float64Array {
  const n = run.slices;
  const line = new Float64Array(n).fill(Number.NaN);
  for (const one of series) {
    const ats = one.column(0);
    const values = one.column(column);
    let last = Number.NaN;
    for (let i = 0; i < n; i++) {
      if ((ats[i] ?? 0) !== 0) last = values[i]!;
      if (!Number.isNaN(last)) line[i] = (Number.isNaN(line[i]!) ? 0 : line[i]!) + last;
    }
  }
  return line;
}
