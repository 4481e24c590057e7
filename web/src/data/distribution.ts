/** Values and how often each came: exact up to 4096 of them, from then on buckets (DATA.md §7). */

import { type DataError, Reader, Writer, isMillionths } from './bytes.js';
import { KEY_END, KEY_FIRST, keyOf, lowOf, valueIn } from './bucket.js';

export type { DataError };

/** Up to this many values are kept as they are. */
export const EXACT_MAX = 4096;

/** Buckets with something in them, by rising key. */
export interface Bins {
  keys: Uint32Array;
  counts: Float64Array;
}

/** What is known of a set of values. */
export class Distribution {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  /** Sorted values, or none if it is not exact. */
  readonly values: Float64Array | null;
  private readonly held: Bins | null;
  private running: Float64Array | null = null;

  constructor(
    totals: { count: number; sum: number; min: number; max: number },
    held: { values: Float64Array } | { bins: Bins },
  ) {
    this.count = totals.count;
    this.sum = totals.sum;
    this.min = totals.min;
    this.max = totals.max;
    this.values = 'values' in held ? held.values : null;
    this.held = 'bins' in held ? held.bins : null;
  }

  static readonly empty = new Distribution(
    { count: 0, sum: 0, min: 0, max: 0 },
    { values: new Float64Array(0) },
  );

  get exact(): boolean {
    return this.values !== null;
  }

  get mean(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }

  /** The value below which `percent` of all lie, as k6 computes it. 0 if there is no value. */
  percentile(percent: number): number {
    if (this.count === 0) return 0;
    const index = Math.min(Math.max(percent / 100, 0), 1) * (this.count - 1);
    const low = this.ranked(Math.floor(index));
    const high = this.ranked(Math.ceil(index));
    return low < high ? low + (high - low) * (index - Math.floor(index)) : low;
  }

  private ranked(rank: number): number {
    if (rank === 0) return this.min;
    if (rank === this.count - 1) return this.max;
    let found: number;
    if (this.values) {
      found = this.values[rank] ?? this.max;
    } else {
      const running = this.cumulated();
      let from = 0;
      let to = running.length - 1;
      while (from < to) {
        const middle = (from + to) >> 1;
        if (running[middle]! > rank) to = middle;
        else from = middle + 1;
      }
      const key = this.held!.keys[from];
      found = key === undefined ? this.max : valueIn(key);
    }
    return Math.min(Math.max(found, this.min), this.max);
  }

  private cumulated(): Float64Array {
    if (!this.running) {
      const { counts } = this.held!;
      const running = new Float64Array(counts.length);
      let sum = 0;
      for (let i = 0; i < counts.length; i++) {
        sum += counts[i]!;
        running[i] = sum;
      }
      this.running = running;
    }
    return this.running;
  }

  /** The standard deviation of the whole. */
  get deviation(): number {
    if (this.count === 0 || !Number.isFinite(this.sum)) return 0;
    const mean = this.mean;
    let squares = 0;
    if (this.values) {
      for (const value of this.values) squares += (value - mean) ** 2;
    } else {
      const { keys, counts } = this.held!;
      for (let i = 0; i < keys.length; i++) squares += (this.placed(i) - mean) ** 2 * counts[i]!;
    }
    return Math.sqrt(squares / this.count);
  }

  /** The value in place of the bucket with this index. Only those at both ends can lie outside of the extremes. */
  private placed(index: number): number {
    const { keys } = this.held!;
    const value = valueIn(keys[index]!);
    return index > 0 && index < keys.length - 1 ? value : Math.min(Math.max(value, this.min), this.max);
  }

  /** Each value, or the one in place of its bucket held within the extremes, rising, with how often it came. */
  forEach(each: (value: number, count: number) => void): void {
    if (this.values) {
      for (const value of this.values) each(value, 1);
      return;
    }
    const { keys, counts } = this.held!;
    for (let i = 0; i < keys.length; i++) each(this.placed(i), counts[i]!);
  }

  /** How many values are below `limit` (buckets by the value in their place; with `placed`, exact values as if they were in theirs). */
  below(limit: number, placed = false): number {
    let count = 0;
    if (this.values) {
      for (const value of this.values) if ((placed ? valueIn(keyOf(value)) : value) < limit) count++;
      return count;
    }
    const { keys, counts } = this.held!;
    const key = keyOf(limit);
    for (let i = 0; i < keys.length && keys[i]! <= key; i++) {
      if (keys[i]! < key || valueIn(key) < limit) count += counts[i]!;
    }
    return count;
  }

  /** Adds the counts to the cells whose borders are `borders[i]` to `borders[i + 1]`. */
  spread(borders: Float64Array, into: Float64Array, at: number): void {
    const cells = borders.length - 1;
    if (this.held && this.held.keys.length > 2) {
      const { keys, counts } = this.held;
      const known = cellsOf(borders);
      const last = keys.length - 1;
      for (let i = 0; i <= last; i++) {
        const place = keys[i]! - KEY_FIRST;
        let cell = i > 0 && i < last && place >= 0 && place < known.length ? known[place]! : UNKNOWN;
        if (cell === UNKNOWN) {
          cell = cellOf(borders, cells, this.placed(i));
          if (i > 0 && i < last && place >= 0 && place < known.length) known[place] = cell;
        }
        into[at + cell]! += counts[i]!;
      }
      return;
    }
    let cell = 0;
    this.forEach((value, count) => {
      while (cell < cells - 1 && value >= borders[cell + 1]!) cell++;
      into[at + cell]! += count;
    });
  }
}

const UNKNOWN = 0xffff;
/** For borders that are used over and over: the cell of each bucket's value, as far as it was asked for. */
const spreads = new WeakMap<Float64Array, Uint16Array>();

function cellsOf(borders: Float64Array): Uint16Array {
  let known = spreads.get(borders);
  if (!known) {
    known = new Uint16Array(KEY_END - KEY_FIRST).fill(UNKNOWN);
    spreads.set(borders, known);
  }
  return known;
}

function cellOf(borders: Float64Array, cells: number, value: number): number {
  let low = 0;
  let high = cells - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value >= borders[middle + 1]!) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What `readBins` read last. */
let readKeys = new Int32Array(4096);
let readCounts = new Float64Array(4096);

/** Reads the bins of a histogram of form 1; tells how many there are. */
function readBins(bytes: Uint8Array, from: number, to: number): number {
  if (to - from > readKeys.length) {
    readKeys = new Int32Array(2 * (to - from));
    readCounts = new Float64Array(2 * (to - from));
  }
  const [keys, counts] = [readKeys, readCounts];
  let n = 0;
  let at = from;
  let key = 0;
  while (at < to) {
    let word = bytes[at++]!;
    if (word >= 0x80) {
      word &= 0x7f;
      let shift = 7;
      let byte: number;
      do {
        byte = bytes[at++] ?? 0;
        word |= (byte & 0x7f) << shift;
        shift += 7;
      } while (byte >= 0x80);
    }
    key += word >>> 1;
    let count = 1;
    if (word & 1) {
      let scale = 1;
      count = 0;
      let byte: number;
      do {
        byte = bytes[at++] ?? 0;
        count += (byte & 0x7f) * scale;
        scale *= 128;
      } while (byte >= 0x80);
    }
    keys[n] = key;
    counts[n++] = count;
  }
  return n;
}

/** Adds the values of a histogram, as it lies in the data, to cells between borders. */
export function spreadPacked(bytes: Uint8Array, from: number, to: number, count: number, borders: Float64Array, into: Float64Array, at: number): void {
  const cells = borders.length - 1;
  if (bytes[from] !== 1) {
    for (const value of exactValues(bytes, from, to, count)) into[at + cellOf(borders, cells, value)]!++;
    return;
  }
  const known = cellsOf(borders);
  const n = readBins(bytes, from + 1, to);
  for (let i = 0; i < n; i++) {
    const place = readKeys[i]! - KEY_FIRST;
    let cell = known[place] ?? UNKNOWN;
    if (cell === UNKNOWN) {
      cell = cellOf(borders, cells, valueIn(readKeys[i]!));
      if (place >= 0 && place < known.length) known[place] = cell;
    }
    into[at + cell]! += readCounts[i]!;
  }
}

/** A place behind all others. */
const NONE = 1 << 28;

/** Adds histograms up. One exists for the whole page: it keeps its memory. */
export class Adder {
  private readonly dense = new Float64Array(KEY_END - KEY_FIRST);
  /** A bit for each bucket that was touched: taking goes from bit to bit. */
  private readonly touched = new Int32Array((KEY_END - KEY_FIRST) >> 5);
  private readonly keys = new Uint32Array(KEY_END - KEY_FIRST);
  private readonly counts = new Float64Array(KEY_END - KEY_FIRST);
  private first = NONE;
  private last = -1;
  private readonly rare = new Map<number, number>();

  add(key: number, count: number): void {
    const place = key - KEY_FIRST;
    if (place >= 0 && place < this.dense.length) {
      this.dense[place]! += count;
      this.touched[place >> 5]! |= 1 << (place & 31);
      if (place < this.first) this.first = place;
      if (place > this.last) this.last = place;
    } else {
      this.rare.set(key, (this.rare.get(key) ?? 0) + count);
    }
  }

  /** Adds bins; with `sign` −1 it takes them away from what was added. */
  addBins({ keys, counts }: Bins, sign = 1): void {
    const n = keys.length;
    if (n === 0) return;
    const least = keys[0]! - KEY_FIRST;
    const most = keys[n - 1]! - KEY_FIRST;
    const { dense, touched } = this;
    if (least < 0 || most >= dense.length) {
      for (let i = 0; i < n; i++) this.add(keys[i]!, sign * counts[i]!);
      return;
    }
    for (let i = 0; i < n; i++) {
      const place = keys[i]! - KEY_FIRST;
      dense[place]! += sign * counts[i]!;
      touched[place >> 5]! |= 1 << (place & 31);
    }
    if (least < this.first) this.first = least;
    if (most > this.last) this.last = most;
  }

  /** Adds a histogram as it lies in the data, whatever its form; with `sign` −1 it takes it away. */
  addPacked(bytes: Uint8Array, from: number, to: number, count: number, sign = 1): void {
    if (bytes[from] !== 1) {
      for (const value of exactValues(bytes, from, to, count)) this.add(keyOf(value), sign);
      return;
    }
    const { dense, touched } = this;
    const end = dense.length;
    let { first, last } = this;
    let at = from + 1;
    let key = 0;
    while (at < to) {
      let word = bytes[at++]!;
      if (word >= 0x80) {
        word &= 0x7f;
        let shift = 7;
        let byte: number;
        do {
          byte = bytes[at++] ?? 0;
          word |= (byte & 0x7f) << shift;
          shift += 7;
        } while (byte >= 0x80);
      }
      key += word >>> 1;
      let n = sign;
      if (word & 1) {
        let scale = sign;
        n = 0;
        let byte: number;
        do {
          byte = bytes[at++] ?? 0;
          n += (byte & 0x7f) * scale;
          scale *= 128;
        } while (byte >= 0x80);
      }
      const place = key - KEY_FIRST;
      if (place >= 0 && place < end) {
        dense[place]! += n;
        touched[place >> 5]! |= 1 << (place & 31);
        if (place < first) first = place;
        if (place > last) last = place;
      } else this.rare.set(key, (this.rare.get(key) ?? 0) + n);
    }
    this.first = first;
    this.last = last;
  }

  /** What was added, by rising key; the adder is empty again. */
  take(): Bins {
    const { dense, touched, first, last, keys: places, counts: amounts } = this;
    let filled = 0;
    for (let word = first >> 5; word <= last >> 5; word++) {
      let bits = touched[word]!;
      if (bits === 0) continue;
      touched[word] = 0;
      while (bits !== 0) {
        const place = (word << 5) + 31 - Math.clz32(bits & -bits);
        bits &= bits - 1;
        const count = dense[place]!;
        // What was added and taken away again is not there.
        if (count === 0) continue;
        places[filled] = place + KEY_FIRST;
        amounts[filled++] = count;
        dense[place] = 0;
      }
    }
    this.first = NONE;
    this.last = -1;
    if (this.rare.size === 0) return { keys: this.keys.slice(0, filled), counts: this.counts.slice(0, filled) };
    const rare = [...this.rare].filter((entry) => entry[1] !== 0).sort((a, b) => a[0] - b[0]);
    const keys = new Uint32Array(filled + rare.length);
    const counts = new Float64Array(keys.length);
    let at = 0;
    let next = 0;
    const putRare = (below: number) => {
      for (; next < rare.length && rare[next]![0] < below; next++, at++) {
        keys[at] = rare[next]![0];
        counts[at] = rare[next]![1];
      }
    };
    putRare(KEY_FIRST);
    keys.set(this.keys.subarray(0, filled), at);
    counts.set(this.counts.subarray(0, filled), at);
    at += filled;
    putRare(Number.POSITIVE_INFINITY);
    this.rare.clear();
    return { keys, counts };
  }
}

export const adder = new Adder();

/** The values of an exact histogram as it lies in the data. */
export function exactValues(bytes: Uint8Array, from: number, to: number, count: number): Float64Array {
  const reader = new Reader(bytes, from, to);
  const form = reader.byte();
  const values = new Float64Array(Math.min(count, EXACT_MAX));
  if (form === 0) {
    for (let i = 0; i < values.length; i++) values[i] = reader.double();
  } else {
    const scale = form === 2 ? 1e6 : 1;
    let whole = 0;
    for (let i = 0; i < values.length; i++) {
      whole = i === 0 ? reader.zigzag() : whole + reader.varint();
      values[i] = whole / scale;
    }
  }
  return values;
}

/** Packs sorted values. */
export function packExact(values: Float64Array): Uint8Array {
  const writer = new Writer();
  const scale = values.every((v) => Number.isSafeInteger(v) && Math.abs(v) < 2 ** 51) ? 1 : values.every(isMillionths) ? 1e6 : 0;
  if (scale === 0) {
    writer.byte(0);
    for (const value of values) writer.double(value);
    return writer.done();
  }
  writer.byte(scale === 1 ? 3 : 2);
  let last = 0;
  values.forEach((value, index) => {
    const whole = Math.round(value * scale);
    if (index === 0) writer.zigzag(whole);
    else writer.varint(whole - last);
    last = whole;
  });
  return writer.done();
}

/** Packs bins. */
export function packBins({ keys, counts }: Bins): Uint8Array {
  const writer = new Writer();
  writer.byte(1);
  let last = 0;
  for (let i = 0; i < keys.length; i++) {
    const many = counts[i]! > 1;
    writer.varint((keys[i]! - last) * 2 + (many ? 1 : 0));
    if (many) writer.varint(counts[i]!);
    last = keys[i]!;
  }
  return writer.done();
}

export { lowOf };
