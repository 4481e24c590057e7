/** Section 4: load asked for against load achieved. */

import { useMemo } from 'preact/hooks';
import { gauge, gaugeLine, summed, total } from '../../data/pool.js';
import type { Series } from '../../data/run.js';
import { type App, rates, type Stretch, sum } from '../app.js';
import { amount, duration, percent, perSecond, whole } from '../format.js';
import { type Line, TimePlot } from '../plot.js';
import { Empty, Num } from '../section.js';
import { vusOf } from './head.js';

const COLORS = ['--c-ok', '--c-third', '--c-fourth', '--c-fifth', '--c-sixth', '--c-warn'];

function byScenario(series: Series[]): Map<string, Series[]> {
  const found = new Map<string, Series[]>();
  for (const one of series) {
    const name = one.tags.scenario ?? '';
    const list = found.get(name);
    if (list) list.push(one);
    else found.set(name, [one]);
  }
  return found;
}

/** Iterations of scenarios with an arrival rate: from their planned starts, and from their actual ones. */
function iterationTimes(app: App) {
  const planned = app.pool('iteration_duration_planned');
  const scenarios = new Set(planned.series.map((one) => one.tags.scenario ?? ''));
  return { planned, actual: app.pool('iteration_duration', 'with a plan', (tags) => scenarios.has(tags.scenario ?? '')) };
}

export function Load({ app, stretch }: { app: App; stretch: Stretch }) {
  const { run } = app;
  const { from, to, version } = stretch;
  const made = useMemo(() => {
    const vus: Line[] = [];
    const active = run.of('load.vus_active').length > 0 ? run.of('load.vus_active') : vusOf(app);
    const planned = run.of('load.vus_planned');
    if (planned.length > 0) vus.push({ name: 'asked for', values: gaugeLine(run, planned), color: '--dim', dash: [6, 4] });
    if (active.length > 0) vus.push({ name: 'active', values: gaugeLine(run, active), color: '--c-third', fill: true });
    const groups = byScenario(active);
    if (groups.size > 1) [...groups].slice(0, 6).forEach(([name, series], i) => vus.push({ name: name || '(none)', values: gaugeLine(run, series), color: COLORS[(i + 2) % COLORS.length]!, dash: [2 + i, 3] }));
    const initialised = run.of('vus_max');
    if (initialised.length > 0) vus.push({ name: 'initialised', values: gaugeLine(run, initialised), color: '--c-sixth', dash: [2, 3], hidden: true });
    const iterations: Line[] = [];
    const add = (name: string, metric: string, color: string, more: Partial<Line> = {}) => {
      const series = run.of(metric);
      if (series.length > 0) iterations.push({ name, values: rates(app, summed(run, series, 0)), color, ...more });
    };
    add('asked for', 'load.iterations_planned', '--dim', { dash: [6, 4] });
    add('started', 'load.iterations_started', '--c-ok');
    add('done', run.of('load.iterations_done').length > 0 ? 'load.iterations_done' : 'iterations', '--c-third', { fill: true });
    add('dropped', run.of('load.iterations_dropped').length > 0 ? 'load.iterations_dropped' : 'dropped_iterations', '--c-fail');
    add('interrupted', 'load.iterations_interrupted', '--c-fourth', { dash: [3, 3] });
    const users: Line[] = [];
    const started = run.of('load.users_started').length > 0 ? run.of('load.users_started') : run.of('load.iterations_started');
    if (started.length > 0) {
      users.push({ name: 'all', values: rates(app, summed(run, started, 0)), color: '--c-ok', fill: true });
      const each = byScenario(started);
      if (each.size > 1) [...each].slice(0, 6).forEach(([name, series], i) => users.push({ name: name || '(none)', values: rates(app, summed(run, series, 0)), color: COLORS[(i + 1) % COLORS.length]!, dash: [2 + i, 3] }));
    }
    const lateness = app.pool(run.of('load.lateness').length > 0 ? 'load.lateness' : 'iteration_lateness');
    const late: Line[] = lateness.series.length > 0
      ? [
          { name: 'p50', grouped: (every, start, end) => lateness.percentiles([50, 99], every, start, end)[0]!, color: '--c-ok' },
          { name: 'p99', grouped: (every, start, end) => lateness.percentiles([50, 99], every, start, end)[1]!, color: '--c-fourth', dash: [5, 3] },
        ]
      : [];
    const { planned: fromPlan, actual } = iterationTimes(app);
    const times: Line[] = fromPlan.series.length > 0
      ? [
          { name: 'from the planned start', grouped: (every, start, end) => fromPlan.percentiles([95], every, start, end)[0]!, color: '--c-fourth' },
          { name: 'from the actual start', grouped: (every, start, end) => actual.percentiles([95], every, start, end)[0]!, color: '--c-ok', dash: [5, 3] },
        ]
      : [];
    return { vus, iterations, users, late, times };
  }, [run, version]);
  const plans = run.of('load.iterations_planned');
  const planned = sum(plans, 0, from, to);
  // Scenarios without an arrival rate start iterations, too, but have no plan for them.
  const withPlan = new Set(plans.map((one) => one.tags.scenario ?? ''));
  const allStarted = run.of('load.iterations_started');
  const ofPlans = allStarted.filter((one) => withPlan.has(one.tags.scenario ?? ''));
  const started = sum(ofPlans, 0, from, to);
  const dropped = sum(run.of('load.iterations_dropped').length > 0 ? run.of('load.iterations_dropped') : run.of('dropped_iterations'), 0, from, to);
  const lateness = app.pool(run.of('load.lateness').length > 0 ? 'load.lateness' : 'iteration_lateness').stretch(from, to);
  const fromPlan = iterationTimes(app).planned.stretch(from, to);
  const actual = iterationTimes(app).actual.stretch(from, to);
  if (made.vus.length + made.iterations.length + made.users.length === 0) {
    return run.facts.run.kind === 'attack' ? null : <Empty>The run file holds no load: neither VUs nor iterations.</Empty>;
  }
  const common = { app, from, to, version };
  const peak = gauge(vusOf(app), from, to)?.max;
  return (
    <>
      <p class="note">
        {peak !== undefined && (
          <>
            At most <Num value={peak} text={whole} /> VUs.{' '}
          </>
        )}
        {planned > 0 && (
          <>
            <Num value={started} text={amount} /> of <Num value={planned} text={amount} /> planned iterations started ({percent(started / planned)}){ofPlans.length < allStarted.length ? ' in scenarios with an arrival rate' : ''}.{' '}
          </>
        )}
        {(dropped > 0 || planned > 0) && (
          <>
            <Num value={dropped} text={amount} tone={dropped > 0 ? 'bad' : undefined} /> dropped.{' '}
          </>
        )}
        {lateness.count > 0 && (
          <>
            Starts were late by <Num value={lateness.percentile(50)} text={duration} /> (p50), <Num value={lateness.percentile(99)} text={duration} /> (p99).{' '}
          </>
        )}
        {fromPlan.count > 0 && (
          <span class="from-plan">
            Iterations took <Num value={fromPlan.percentile(99)} text={duration} /> (p99) from their planned starts, <Num value={actual.percentile(99)} text={duration} /> from their actual ones: a difference of{' '}
            <Num value={Math.max(0, fromPlan.percentile(99) - actual.percentile(99))} text={duration} />.
          </span>
        )}
      </p>
      <div class="pair">
        {made.vus.length > 0 && <TimePlot {...common} label="Active users" unit="VUs" lines={made.vus} format={amount} ceiling={1} />}
        {made.iterations.length > 0 && <TimePlot {...common} label="Iterations" unit="per second" lines={made.iterations} format={perSecond} />}
        {made.users.length > 0 && <TimePlot {...common} label="User start rate" unit="users started per second" lines={made.users} format={perSecond} />}
        {made.times.length > 0 && <TimePlot {...common} label="Iterations from plan and from start" unit="p95" lines={made.times} format={duration} />}
        {made.late.length > 0 && <TimePlot {...common} label="Lateness of starts" unit="behind their plan" lines={made.late} format={duration} />}
      </div>
    </>
  );
}

export { total };
