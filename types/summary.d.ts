/**
 * Types of the argument of `handleSummary(data)`. There is nothing to import but types: `import type { SummaryData } from
 * 'brunt/summary'`, or in JavaScript `@param {import('brunt/summary').SummaryData} data`.
 */
declare module 'brunt/summary' {
  export interface SummaryData {
    /** The outermost group; its name is empty. */
    root_group: Group;
    options: {
      summaryTrendStats: string[];
      /** Empty if each value has the unit that suits it. */
      summaryTimeUnit: '' | 's' | 'ms' | 'us';
      noColor: boolean;
    };
    state: { isStdOutTTY: boolean; isStdErrTTY: boolean; testRunDurationMs: number };
    /** By name; a part of a metric as `name{tag:value}`. A metric without a sample may be missing. */
    metrics: { [name: string]: any } & KnownMetrics;
    /** The value that `setup()` returned. */
    setup_data?: any;
    /** The part of the test that warm-ups left out. */
    warmup?: { iterations: number; requests: number; checks: number; droppedIterations: number };
    /** Whether the numbers can be trusted. */
    verdict?: Verdict;
    /** Where all randomness of the test began. */
    seed?: number;
    /** Of a test on several machines. */
    agents?: Agents;
  }

  export interface Agents {
    seats: Agent[];
    /** Sentences that say whose results are missing, how much, and since when. */
    missing: string[];
    /** Messages of strangers. */
    refused_messages: number;
    unknown_values: number;
  }

  /** Moments are seconds since the start, shares 0 to 1. */
  export interface Agent {
    /** From 1 on. */
    seat: number;
    share: number;
    host: string | null;
    version: string | null;
    /** The time to add to its clock to have the leader's, and how wrong that may be. */
    offset_ms: number;
    offset_bound_ms: number;
    /** How much later than planned it began. */
    late_ms: number | null;
    iterations: number;
    requests: number;
    failed: number;
    http_req_duration_p95_ms: number | null;
    /** Iterations that were due and could not start. */
    missed: number;
    /** The share of its CPUs that it used in its busiest second. */
    cpu_max: number;
    /** All its load was made, and all its measurements are there. */
    whole: boolean;
    missing_since_s: number | null;
    /** The first different errors of its log. */
    errors: string[];
    remarks: string[];
    /** The load of another agent that it makes. */
    took_over: { seat: number; from_s: number } | null;
    /** The seat that makes its load since it was lost. */
    taken_by: number | null;
    [name: string]: any;
  }

  /** Metrics of every test that sends requests. */
  export interface KnownMetrics {
    checks: RateMetric;
    data_received: CounterMetric;
    data_sent: CounterMetric;
    http_req_blocked: TrendMetric;
    http_req_connecting: TrendMetric;
    http_req_duration: TrendMetric;
    http_req_failed: RateMetric;
    http_req_receiving: TrendMetric;
    http_req_sending: TrendMetric;
    http_req_tls_handshaking: TrendMetric;
    http_req_waiting: TrendMetric;
    http_reqs: CounterMetric;
    iteration_duration: TrendMetric;
    iterations: CounterMetric;
    vus: GaugeMetric;
    vus_max: GaugeMetric;
  }

  interface Judged {
    contains: 'default' | 'time' | 'data';
    /** By their expressions. */
    thresholds?: { [expression: string]: Threshold };
  }

  export interface CounterMetric extends Judged {
    type: 'counter';
    /** `rate` is per second. */
    values: { count: number; rate: number };
  }

  export interface GaugeMetric extends Judged {
    type: 'gauge';
    values: { value: number; min: number; max: number };
  }

  export interface RateMetric extends Judged {
    type: 'rate';
    /** `rate` is from 0 to 1. */
    values: { rate: number; passes: number; fails: number };
  }

  export interface TrendMetric extends Judged {
    type: 'trend';
    /** The numbers that the option `summaryTrendStats` names: `avg`, `min`, `med`, `max`, `p(90)`, `p(95)` by default. */
    values: { [stat: string]: number };
  }

  export type Metric = CounterMetric | GaugeMetric | RateMetric | TrendMetric;

  /** The result of a threshold. A threshold that has keys of Brunt's tells more than `ok`. */
  export interface Threshold {
    ok: boolean;
    expression?: string;
    /** `null` if there was none. */
    value?: number | null;
    windowMs?: number;
    afterMs?: number;
    forMs?: number;
    name?: string;
    exitCode?: number;
    /** `atMs`: from the start of the scenarios; `forMs`: how long it stayed broken. */
    firstBreach?: { atMs: number; forMs: number; value: number | null };
  }

  export interface Group {
    name: string;
    /** Such as `::outer::inner`. */
    path: string;
    id: string;
    groups: Group[];
    checks: Check[];
  }

  export interface Check {
    name: string;
    path: string;
    id: string;
    passes: number;
    fails: number;
  }

  export interface Verdict {
    /** The worst of the findings; `ok` without any. */
    level: Level;
    findings: Finding[];
  }

  export type Level = 'ok' | 'doubtful' | 'invalid';

  export interface Finding {
    /** Such as `generator-out-of-cpu`. */
    name: string;
    level: Level;
    /** Seconds from the start of the run; `null` if it is about the whole run. */
    from: number | null;
    to: number | null;
    evidence: string;
    values: { [name: string]: number };
    /** Which numbers are touched. */
    touches: string;
    /** The remedy. */
    advice: string;
  }

  /** The result of `handleSummary`: texts or bytes for `stdout`, `stderr` and paths of files. */
  export interface SummaryOutput {
    stdout?: string | ArrayBuffer;
    stderr?: string | ArrayBuffer;
    [path: string]: string | ArrayBuffer | undefined;
  }
}
