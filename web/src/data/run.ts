/** A run: its JSON and its series, put together from documents. */

import { DataError, Reader } from './bytes.js';
import type { Adder } from './distribution.js';
import type { Appended, Metric, Replaced, Tags } from './model.js';

const MAGIC = [0x42, 0x52, 0x4e, 0x50];
/** More slices than this are no run of ours: 24 h of seconds fit eleven times. */
const SLICES_MAX = 1_000_000;

const COLUMNS = { counter: 1, rate: 2, gauge: 4, trend: 4 } as const;

/** One series: its columns, and its histograms as they came. */
export class Series {
  readonly id: number;
  readonly metric: Metric;
  readonly tags: Tags;
  private chunks: { reader: Reader; first: number; n: number }[] = [];
  private columns: Float64Array[] = [];
  private packed: { bytes: Uint8Array; offsets: Uint32Array; first: number }[] = [];
  /** For each slice the chunk of its histogram, counted from 1; 0 = it has none. */
  private owner = new Uint32Array(0);
  /** Slices whose histogram has bins. */
  private binned = new Uint8Array(0);

  constructor(id: number, metric: Metric, tags: Tags) {
    this.id = id;
    this.metric = metric;
    this.tags = tags;
  }

  /** Takes in a chunk; its numbers are read when somebody asks for them. */
  push(reader: Reader, first: number, n: number): void {
    this.chunks.push({ reader, first, n });
  }

  private read(): void {
    if (this.chunks.length === 0) return;
    const chunks = this.chunks;
    this.chunks = [];
    const count = COLUMNS[this.metric.type];
    let length = this.columns[0]?.length ?? 0;
    const needed = Math.max(...chunks.map(({ first, n }) => first + n));
    if (needed > length) {
      length = this.columns.length === 0 ? needed : Math.max(needed, Math.ceil(length * 1.5));
      const columns: Float64Array[] = [];
      for (let i = 0; i < count; i++) {
        const column = new Float64Array(length);
        if (this.columns[i]) column.set(this.columns[i]!);
        columns.push(column);
      }
      this.columns = columns;
      const owner = new Uint32Array(length);
      owner.set(this.owner);
      this.owner = owner;
      const binned = new Uint8Array(length);
      binned.set(this.binned);
      this.binned = binned;
    }
    for (const { reader, first, n } of chunks) {
      for (const column of this.columns) reader.column(column, first, n);
      if (this.metric.type !== 'trend') continue;
      const sizes = new Float64Array(n);
      reader.column(sizes, 0, n);
      const offsets = new Uint32Array(n + 1);
      offsets[0] = reader.at;
      for (let i = 0; i < n; i++) offsets[i + 1] = offsets[i]! + sizes[i]!;
      if (offsets[n]! > reader.end) throw new DataError('A histogram in the data is cut off.');
      for (let i = 0; i < n; i++) this.binned[first + i] = offsets[i + 1]! > offsets[i]! && reader.bytes[offsets[i]!] === 1 ? 1 : 0;
      this.packed.push({ bytes: reader.bytes, offsets, first });
      this.owner.fill(this.packed.length, first, first + n);
    }
    // A live run sends a chunk a tick: those that nobody refers to any more are forgotten now and then.
    if (this.packed.length > 4096 && this.packed.length > 4 * this.owner.length) this.forget();
  }

  private forget(): void {
    const used = [...new Set(this.owner)].filter((place) => place > 0).sort((a, b) => a - b);
    const places = new Map(used.map((place, index) => [place, index + 1]));
    this.packed = used.map((place) => this.packed[place - 1]!);
    this.owner.forEach((place, slice) => {
      this.owner[slice] = places.get(place) ?? 0;
    });
  }

  /** counter: sum; rate: count, hits; gauge: at, last, min, max; trend: count, sum, min, max. Longer than the run, perhaps. */
  column(index: number): Float64Array {
    this.read();
    return this.columns[index] ?? new Float64Array(0);
  }

  /** Calls `use` with the packed histogram of a slice, if it has one. */
  histogram(slice: number, use: (bytes: Uint8Array, from: number, to: number) => void): void {
    this.read();
    const packed = this.packed[(this.owner[slice] ?? 0) - 1];
    if (!packed) return;
    const place = slice - packed.first;
    const from = packed.offsets[place]!;
    const to = packed.offsets[place + 1]!;
    if (to > from) use(packed.bytes, from, to);
  }

  /** Adds the histogram of a slice, which has `count` values, or takes it away again. */
  addTo(adder: Adder, slice: number, count: number, sign: number): void {
    const packed = this.packed[(this.owner[slice] ?? 0) - 1];
    if (!packed) return;
    const place = slice - packed.first;
    const from = packed.offsets[place]!;
    const to = packed.offsets[place + 1]!;
    if (to > from) adder.addPacked(packed.bytes, from, to, count, sign);
  }

  /** Whether the histograms of these slices are all exact. */
  exact(from: number, to: number): boolean {
    this.read();
    for (let slice = from; slice < Math.min(to, this.binned.length); slice++) if (this.binned[slice] !== 0) return false;
    return true;
  }
}

/** What a document changed. */
export interface Change {
  /** The first slice that has new numbers; Infinity if none has. */
  slice: number;
  reset: boolean;
}

const list = <T>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : []);

/** A run as far as it is known. */
export class Run {
  facts: Replaced = emptyFacts();
  metrics: Metric[] = [];
  series: Series[] = [];
  events: Appended['events'] = [];
  /** Counts changes: whatever was computed from an older version is stale. */
  version = 0;
  private byMetric = new Map<string, Series[]>();

  /** Takes in a document. Throws a DataError if it cannot be read. */
  apply(bytes: Uint8Array): Change {
    if (bytes.length < 5 || MAGIC.some((byte, index) => bytes[index] !== byte)) {
      throw new DataError('The data in this page are not those of a Brunt run.');
    }
    if (bytes[4] !== 1) {
      throw new DataError(`The data have version ${bytes[4]}, and this page reads version 1: open them with the Brunt that wrote them.`);
    }
    const change: Change = { slice: Number.POSITIVE_INFINITY, reset: false };
    const reader = new Reader(bytes, 5);
    while (!reader.done) {
      const kind = reader.byte();
      const payload = reader.part(reader.varint());
      if (kind === 1) this.json(payload);
      else if (kind === 2) change.slice = Math.min(change.slice, this.chunk(payload));
      else if (kind === 3) {
        this.forget();
        change.reset = true;
      }
    }
    this.version++;
    return change;
  }

  private forget(): void {
    this.facts = emptyFacts();
    this.metrics = [];
    this.series = [];
    this.events = [];
    this.byMetric.clear();
  }

  private json(payload: Reader): void {
    let json: Record<string, unknown>;
    try {
      json = JSON.parse(new TextDecoder().decode(payload.bytes.subarray(payload.at, payload.end)));
    } catch (error) {
      throw new DataError(`A JSON record in the data cannot be read: ${error instanceof Error ? error.message : error}`);
    }
    const facts = this.facts as unknown as Record<string, unknown>;
    for (const key of Object.keys(facts)) {
      if (json[key] === undefined || json[key] === null) continue;
      facts[key] = Array.isArray(facts[key]) ? list(json[key]) : json[key];
    }
    const time = this.facts.time;
    if (!(time.width > 0) || !(time.slices >= 0) || time.slices > SLICES_MAX) {
      throw new DataError('The data have no usable width of their slices.');
    }
    this.metrics.push(...list<Metric>(json.metrics));
    for (const [place, tags] of list<[number, Tags]>(json.series)) {
      const metric = this.metrics[place];
      if (!metric || !(metric.type in COLUMNS)) throw new DataError('A series in the data has no metric.');
      const series = new Series(this.series.length, metric, tags ?? {});
      this.series.push(series);
      const others = this.byMetric.get(metric.name);
      if (others) others.push(series);
      else this.byMetric.set(metric.name, [series]);
    }
    this.events.push(...list<Appended['events'][number]>(json.events));
  }

  private chunk(payload: Reader): number {
    const series = this.series[payload.varint()];
    const first = payload.varint();
    const n = payload.varint();
    if (!series || first + n > SLICES_MAX) throw new DataError('The data have numbers of a series that they do not name.');
    if (n > 0) series.push(payload, first, n);
    return first;
  }

  /** The series of a metric, by its name. */
  of(metric: string): Series[] {
    return this.byMetric.get(metric) ?? [];
  }

  metric(name: string): Metric | undefined {
    return this.metrics.find((metric) => metric.name === name);
  }

  /** Number of slices, at least those that `time.end` touches. */
  get slices(): number {
    return this.facts.time.slices;
  }

  /** A moment of a border between slices, in seconds since the start: the last one is the end of the run. */
  border(slice: number): number {
    const { width, slices, end } = this.facts.time;
    return slice >= slices && end > 0 ? Math.max(end / 1e6, ((slices - 1) * width) / 1000) : (slice * width) / 1000;
  }

  /** Seconds from one border to another. */
  seconds(from: number, to: number): number {
    return Math.max(this.border(to) - this.border(from), 0);
  }

  get running(): boolean {
    return this.facts.run.state === 'running';
  }
}

function emptyFacts(): Replaced {
  return {
    run: {},
    time: { width: 1000, slices: 0, end: 0 },
    verdict: {},
    thresholds: [],
    scenarios: [],
    stages: [],
    checks: [],
    groups: [],
    failures: [],
    exchanges: [],
    sources: [],
    exceptions: [],
    dropped: {},
    capacity: null,
    agents: [],
  };
}
