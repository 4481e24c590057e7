/** The JSON of a run (DATA.md §5). Everything in it may be missing: it is read with care. */

export type MetricType = 'counter' | 'gauge' | 'rate' | 'trend';
export type Tags = Record<string, string>;

export interface Metric {
  name: string;
  type: MetricType;
  contains?: 'default' | 'time' | 'data' | 'share';
  family?: 'metric' | 'load' | 'health' | 'check' | 'failure' | 'threshold';
  text?: string | null;
}

export interface Time {
  width: number;
  slices: number;
  end: number;
}

export interface RunFacts {
  id?: string;
  name?: string;
  kind?: 'run' | 'attack';
  state?: 'running' | 'finished' | 'aborted' | 'died';
  started?: string;
  ended?: string | null;
  timezone?: string | null;
  passed?: boolean | null;
  exit?: number | null;
  reason?: string | null;
  brunt?: string;
  script?: string;
  sha256?: string;
  arguments?: string[];
  options?: unknown;
  environment?: string[];
  host?: string;
  kernel?: string;
  cpu?: string;
  cores?: number;
  memory?: number;
  seed?: string | number | null;
  commit?: string | null;
  branch?: string | null;
  build?: string | null;
  labels?: Tags;
  lost?: number;
}

export interface Finding {
  what: string;
  state: 'invalid' | 'doubtful';
  from?: number | null;
  to?: number | null;
  much?: string | null;
  touches?: string | null;
  advice?: string | null;
  metrics?: string[] | null;
}

export interface Verdict {
  state?: 'trusted' | 'doubtful' | 'invalid' | null;
  text?: string | null;
  findings?: Finding[];
}

export interface Threshold {
  metric: string;
  expression: string;
  name?: string | null;
  passed?: boolean | null;
  value?: number | null;
  limit?: number | null;
  broke?: number | null;
  abort?: boolean;
  options?: Record<string, unknown> | null;
  series?: number | null;
  of?: { metric: string; tags?: Tags; stat: string; op: string } | null;
}

export interface Scenario {
  name: string;
  executor?: string;
  from?: number | null;
  to?: number | null;
  text?: string | null;
}

export interface Stage {
  name: string;
  scenario?: string | null;
  from: number;
  to: number;
  ramp?: boolean;
}

export interface Check {
  group?: string;
  name: string;
  series: number;
}

export interface Failure {
  code?: string;
  status?: number;
  message?: string;
  method?: string | null;
  route?: string | null;
  scenario?: string | null;
  first?: number | null;
  last?: number | null;
  series: number;
  exchanges?: number[];
}

export interface Part {
  proto?: string | null;
  headers?: [string, string][];
  body?: string | null;
  size?: number | null;
  /** This page has less of the body than the run file. */
  cut?: boolean;
}

export interface Exchange {
  why?: 'failure' | 'slow' | 'random';
  at?: number | null;
  method?: string;
  url?: string;
  route?: string | null;
  scenario?: string | null;
  status?: number;
  code?: string | null;
  error?: string | null;
  duration?: number | null;
  phases?: Record<string, number> | null;
  request?: Part | null;
  response?: Part | null;
  curl?: string | null;
}

export interface RunEvent {
  at: number;
  kind: string;
  text: string;
  scenario?: string | null;
}

/** A step of a search for capacity. Rates are per second, moments seconds of the run. */
export interface CapacityStep {
  load: number;
  purpose: string;
  outcome: 'held' | 'broke' | 'generator' | 'unmeasured';
  reason?: string | null;
  from?: number | null;
  to?: number | null;
  recovered?: boolean;
  finished: number;
  good: number;
  failed: number;
  dropped: number;
  latencyMs?: number | null;
  vus?: number;
}

/** The result of `brunt find`. */
export interface Capacity {
  outcome: string;
  text: string;
  unit: string;
  held?: number | null;
  broke?: number | null;
  confirmed?: boolean;
  plateau?: number | null;
  knee?: number | null;
  /** Where the limit seems to be, from all steps together, and two standard errors of it, as a part. */
  limit?: number | null;
  uncertainty?: number | null;
  /** Remarks on the result: sentences without full stops. */
  notes?: string[];
  goals?: string[];
  steps: CapacityStep[];
}

/** An agent of a test on several machines. Moments are seconds since the start, times milliseconds. */
export interface Agent {
  seat: number;
  segment?: string;
  share?: number;
  /** The machine's name; null: the seat stayed free. */
  host?: string | null;
  agent?: string | null;
  version?: string | null;
  cores?: number | null;
  offset_ms?: number;
  offset_bound_ms?: number;
  late_ms?: number | null;
  iterations?: number;
  requests?: number;
  failed?: number;
  http_req_duration_p95_ms?: number | null;
  missed?: number;
  cpu_max?: number;
  lateness_p99_ms?: number | null;
  states?: { state: string; at_s?: number | null }[];
  holes?: { from_s?: number | null; to_s?: number | null; lost?: boolean }[];
  whole?: boolean;
  missing_since_s?: number | null;
  sentence?: string | null;
  frames?: { sent: number; again: number; coarser: number; missing: number };
  errors?: string[];
  verdict?: { level?: string; findings?: { name: string; level: string; evidence: string; advice: string }[] } | null;
  remarks?: string[];
  outlier?: boolean;
}

export interface Replaced {
  agents?: Agent[];
  capacity?: Capacity | null;
  run: RunFacts;
  time: Time;
  verdict: Verdict;
  thresholds: Threshold[];
  scenarios: Scenario[];
  stages: Stage[];
  checks: Check[];
  groups: string[];
  failures: Failure[];
  exchanges: Exchange[];
  sources: { path: string; text?: string | null }[];
  exceptions: { text: string; count: number }[];
  dropped: Record<string, number>;
}

export interface Appended {
  metrics: Metric[];
  series: [number, Tags][];
  events: RunEvent[];
}

export interface Control {
  status?: string;
  pause?: boolean;
  scale?: boolean;
  stop?: boolean;
  note?: string;
  /** The status tells of agents. */
  agents?: boolean;
}

export interface Config {
  mode: 'report' | 'live';
  /** The stretch to begin with, in seconds since the start. */
  stretch?: { from: number; to: number };
  live?: { events: string; report?: string; alive?: string; control?: Control };
}
