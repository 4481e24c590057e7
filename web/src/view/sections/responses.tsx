/** Section 5: responses per second by outcome; failures by kind. Also for one route. */

import { useMemo } from 'preact/hooks';
import type { Tags } from '../../data/model.js';
import { gaugeLine, summed } from '../../data/pool.js';
import { type App, kindName, outcome, rates, type Stretch, subject, sum } from '../app.js';
import { amount, perSecond } from '../format.js';
import { type Line, TimePlot } from '../plot.js';
import { Empty, why } from '../section.js';
import { vusOf } from './head.js';

/** Which series a view is about. */
export interface Rule {
  key: string;
  takes: (tags: Tags) => boolean;
}

export const EVERY: Rule = { key: '', takes: () => true };

const KINDS = ['--c-fail', '--c-fourth', '--c-warn', '--c-fifth', '--c-sixth', '--c-third'];

export function Responses({ app, stretch, rule = EVERY }: { app: App; stretch: Stretch; rule?: Rule }) {
  const { run } = app;
  const { from, to, version } = stretch;
  const { count, word, http } = subject(run);
  const requests = http || word === 'gRPC calls';
  const made = useMemo(() => {
    const series = run.of(count).filter((one) => rule.takes(one.tags));
    const kinds = new Map<string, typeof series>();
    for (const one of series) {
      const kind = outcome(one.tags);
      const list = kinds.get(kind);
      if (list) list.push(one);
      else kinds.set(kind, [one]);
    }
    const ok = kinds.get('ok') ?? [];
    const weight = (list: typeof series) => list.reduce((all, one) => all + one.column(0).reduce((a, b) => a + b, 0), 0);
    const bad = [...kinds].filter(([kind]) => kind !== 'ok').sort((a, b) => weight(b[1]) - weight(a[1]));
    const lines: Line[] = [{ name: 'ok', values: rates(app, summed(run, ok, 0)), color: '--c-ok', fill: true }];
    bad.slice(0, 5).forEach(([kind, list], i) => lines.push({ name: `failed: ${kindName(kind)}`, values: rates(app, summed(run, list, 0)), color: KINDS[i]!, dash: i === 0 ? [] : [2 + 2 * i, 3], fill: true }));
    if (bad.length > 5) lines.push({ name: `${bad.length - 5} other kinds`, values: rates(app, summed(run, bad.slice(5).flatMap(([, list]) => list), 0)), color: KINDS[5]!, fill: true });
    const users = vusOf(app);
    if (users.length > 0) lines.push({ name: 'active users', values: gaugeLine(run, users), color: '--dim', dash: [6, 4], right: true });
    const begun = run.of('load.requests_started').filter((one) => rule.takes(one.tags));
    const starts: Line[] = begun.length > 0
      ? [
          { name: `${word} by their start`, values: rates(app, summed(run, begun, 0)), color: '--c-third' },
          { name: 'responses by their end', values: rates(app, summed(run, series, 0)), color: '--c-ok', dash: [5, 3] },
        ]
      : [];
    const failures: Line[] = bad.slice(0, 6).map(([kind, list], i) => ({ name: kindName(kind), values: rates(app, summed(run, list, 0)), color: KINDS[i]!, dash: i === 0 ? [] : [2 + 2 * i, 3] }));
    return { series, lines, starts, failures };
  }, [run, version, rule.key]);
  if (!requests) return <Empty>{why(app, 'requests')}</Empty>;
  if (made.series.length === 0 || sum(made.series, 0, from, to) === 0) return <Empty>{why(app, word)}</Empty>;
  const common = { app, from, to, version };
  return (
    <div class="pair">
      <TimePlot {...common} label="Responses by outcome" unit="per second, stacked" lines={made.lines} format={perSecond} rightFormat={amount} stacked height={200} />
      {made.failures.length > 0 ? <TimePlot {...common} label="Failures by kind" unit="per second" lines={made.failures} format={perSecond} height={200} /> : <Empty>No request failed.</Empty>}
      {made.starts.length > 0 && <TimePlot {...common} label="Requests and responses" unit="per second" lines={made.starts} format={perSecond} />}
    </div>
  );
}
