/**
 * The options of scripts. `k6/options` has those of k6, and here those of Brunt's that fit in; `brunt/options` has all of them,
 * the scenarios that only Brunt runs among them. Both modules have types and nothing else: import them with `import type`, or in
 * JavaScript as `@type {import('brunt/options').Options}`.
 */

import 'k6/options';

type Size = number | string;

declare module 'k6/options' {
  interface Options {
    /** Where all randomness of the test begins; a whole number. */
    seed?: number;
    /** The most bytes of one response body, as a number or such as `64MiB`; 1 GiB by default. */
    maxBodySize?: Size;
    /** The most bytes of all bodies of the process; three eighths of the memory by default. */
    maxBodyMemory?: Size;
    /** The most bytes of one VU's heap; an eighth of the memory by default. */
    vuMemory?: Size;
    /** How many bunches of samples may wait for the outputs. */
    metricSamplesBufferSize?: number;
    noSetup?: boolean;
    noTeardown?: boolean;
    summaryTimeUnit?: 's' | 'ms' | 'us';
  }

  interface BaseScenario {
    /** How long the measurements are a warm-up, which summary and thresholds leave out. */
    warmup?: Duration;
  }

  interface ConstantArrivalRateScenario {
    /** The gaps between iterations: `'uniform'`, the default: even ones; `'poisson'`: those of users who know nothing of each other. */
    arrivals?: Arrivals;
    /** A swing of the rate about itself. */
    sine?: Sine;
  }

  interface RampingArrivalRateScenario {
    /** The gaps between iterations: `'uniform'`, the default: even ones; `'poisson'`: those of users who know nothing of each other. */
    arrivals?: Arrivals;
  }

  interface ObjectThreshold {
    /** Look at the values of the last time of this length, at each second; at least 1 s. */
    window?: Duration;
    /** Don't look before the scenarios have run so long. */
    after?: Duration;
    /** It is broken only if each look of so long finds it so. */
    for?: Duration;
    /** The meaning of a look without a value. */
    onNoData?: 'fail' | 'pass' | 'ignore';
    /** The exit code of a run that it fails, 1 to 125; 99 by default. */
    exitCode?: number;
    /** A name for people; each is there once. */
    name?: string;
  }

  /** A text such as `1m30s`, or milliseconds. */
  export type Duration = string | number;

  export type Arrivals = 'uniform' | 'poisson';

  export interface Sine {
    /** Iterations per `timeUnit`, less than `rate`. */
    amplitude: number;
    period: Duration;
    /** `mean-up` by default. */
    start?: 'mean-up' | 'peak' | 'mean-down' | 'trough';
  }

  /** A `ramping-arrival-rate` whose rates are in a file; in `brunt/options` alone. */
  export interface RateFileScenario extends BaseScenario {
    executor: 'ramping-arrival-rate';
    /** Lines `MOMENT RATE`, such as `10m 600/m`. A relative path counts from the folder of the script. */
    rateFile: string;
    preAllocatedVUs: number;
    maxVUs?: number;
    arrivals?: Arrivals;
  }

  /** VUs that a person sets while the test runs; in `brunt/options` alone. */
  export interface ExternallyControlledScenario extends Omit<BaseScenario, 'executor'> {
    executor: 'externally-controlled';
    /** VUs at the beginning. */
    vus?: number;
    maxVUs?: number;
    /** 0: without end. */
    duration?: Duration;
  }
}
