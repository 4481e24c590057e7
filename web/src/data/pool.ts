/** Sets of series, and their numbers for any stretch of slices. */

import { adder, type Bins, Distribution, EXACT_MAX, exactValues } from './distribution.js';
import type { Run, Series } from './run.js';

/** Slices in a block whose histograms are kept merged. */
const BLOCK = 32;
/** Sets of more series than this keep their merged slices too: each serves bands, heat map and edges of stretches. */
const WIDE = 4;
/** Bins that all pools may keep merged, together. Beyond it they are merged again each time. */
const KEPT_MAX = 24_000_000;
let kept = 0;

export interface Totals {
  count: number;
  sum: number;
  min: number;
  max: number;
}

/** Trend series taken together. */
export class Pool {
  readonly series: Series[];
  private readonly run: Run;
  private totalsBySlice: { count: Float64Array; sum: Float64Array; min: Float64Array; max: Float64Array } | null = null;
  private slices: (Bins | undefined)[] = [];
  private blocks: (Bins | undefined)[] = [];
  private readonly answers = new Map<string, Distribution>();
  private readonly bands = new Map<string, Float64Array>();
  private gridded: Float64Array | null = null;

  constructor(run: Run, series: Series[]) {
    this.run = run;
    this.series = series;
  }

  /** Forgets what changed: everything from this slice on. */
  forget(from: number): void {
    this.totalsBySlice = null;
    this.answers.clear();
    this.bands.clear();
    this.gridded = null;
    const drop = (list: (Bins | undefined)[], at: number) => {
      for (const bins of list.splice(at)) {
        if (!bins) continue;
        kept -= bins.keys.length;
      }
    };
    drop(this.slices, from);
    drop(this.blocks, Math.floor(from / BLOCK));
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

  private addPacked(slice: number): void {
    for (const series of this.series) {
      const count = series.column(0)[slice] ?? 0;
      if (count > 0) series.histogram(slice, (bytes, at, end) => adder.addPacked(bytes, at, end, count));
    }
  }

  private addSlice(slice: number): void {
    const bins = this.slices[slice];
    if (bins) adder.addBins(bins);
    else this.addPacked(slice);
  }

  /** The merged histogram of one slice, in bins. */
  private slice(slice: number): Bins {
    let bins = this.slices[slice];
    if (!bins) {
      this.addPacked(slice);
      bins = adder.take();
      if (this.series.length > WIDE && this.keep(bins)) this.slices[slice] = bins;
    }
    return bins;
  }

  private block(number: number): Bins {
    let bins = this.blocks[number];
    if (!bins) {
      const first = number * BLOCK;
      for (let slice = first; slice < first + BLOCK; slice++) {
        // A wide set keeps its slices; making one uses the adder, so that all are made before they are added up.
        if (this.series.length > WIDE) this.slice(slice);
      }
      for (let slice = first; slice < first + BLOCK; slice++) this.addSlice(slice);
      bins = adder.take();
      if (this.keep(bins)) this.blocks[number] = bins;
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
    const parts: Bins[] = [];
    const edges: number[] = [];
    let slice = from;
    while (slice < to) {
      if (slice % BLOCK === 0 && slice + BLOCK <= to) {
        parts.push(this.block(slice / BLOCK));
        slice += BLOCK;
      } else edges.push(slice++);
    }
    for (const part of parts) adder.addBins(part);
    for (const edge of edges) this.addSlice(edge);
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

  /** A slice's own distribution, with its exact values if it has them. */
  private distribution(slice: number): Distribution {
    const totals = this.totals(slice, slice + 1);
    if (totals.count === 0) return Distribution.empty;
    if (totals.count <= EXACT_MAX && this.series.every((series) => series.exact(slice, slice + 1))) {
      return new Distribution(totals, { values: this.values(slice, slice + 1, totals.count) });
    }
    return new Distribution(totals, { bins: this.slice(slice) });
  }

  /** Percentiles of the whole run, of so many slices at a time; NaN where there was nothing. */
  percentiles(percents: number[], every = 1): Float64Array[] {
    const key = (percent: number) => `${percent}/${every}`;
    const missing = percents.filter((percent) => !this.bands.has(key(percent)));
    if (missing.length > 0) {
      const n = Math.ceil(this.run.slices / every);
      const made = missing.map(() => new Float64Array(n).fill(Number.NaN));
      for (let group = 0; group < n; group++) {
        const distribution = every === 1 ? this.distribution(group) : this.merge(group * every, Math.min((group + 1) * every, this.run.slices));
        if (distribution.count === 0) continue;
        missing.forEach((percent, index) => {
          made[index]![group] = distribution.percentile(percent);
        });
      }
      missing.forEach((percent, index) => {
        this.bands.set(key(percent), made[index]!);
      });
    }
    return percents.map((percent) => this.bands.get(key(percent))!);
  }

  /** How many values of each slice lie in each cell between borders; a row of cells a slice. */
  grid(borders: Float64Array): Float64Array {
    const cells = borders.length - 1;
    if (this.gridded?.length !== cells * this.run.slices) {
      const grid = new Float64Array(cells * this.run.slices);
      for (let slice = 0; slice < this.run.slices; slice++) {
        if (this.columns.count[slice] !== 0) this.distribution(slice).spread(borders, grid, slice * cells);
      }
      this.gridded = grid;
    }
    return this.gridded;
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

/** Adds up a column of many series, slice by slice: sums of counters, counts or hits of rates. */
export function summed(run: Run, series: Series[], column: number): Float64Array {
  const n = run.slices;
  const sums = new Float64Array(n);
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
