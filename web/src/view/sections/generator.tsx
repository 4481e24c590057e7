/** Section 11: the machine that made the load, and every finding with its evidence. */

import { useMemo } from 'preact/hooks';
import type { Finding } from '../../data/model.js';
import { gaugeLine, summed } from '../../data/pool.js';
import { type App, rates, type Stretch } from '../app.js';
import { amount, bytes, byContains, clock, duration, percent, perSecond, whole } from '../format.js';
import { type Line, TimePlot } from '../plot.js';
import { Empty } from '../section.js';

const COLORS = ['--c-ok', '--c-third', '--c-fourth', '--c-fifth', '--c-sixth', '--c-warn', '--c-fail'];

/** What the known metrics are called, and what their values are. */
const TITLES: Record<string, [string, string]> = {
  'health.busy': ['CPU, busy', 'share of each load core'],
  'health.waiting': ['Waiting for a CPU', 'share of each core’s time'],
  'health.late': ['Lateness of timers', 'p99 of a slice'],
  'health.memory': ['Memory', 'of the process'],
  'health.free_memory': ['Free memory', 'of the machine'],
  'health.files': ['Open files', ''],
  'health.sockets': ['Sockets', 'by state'],
  'health.steal': ['Steal', 'taken by other machines of the host'],
  'health.throttled': ['Throttled', 'by the container'],
  'health.retransmits': ['Retransmits', 'share of segments'],
  'health.interface_drops': ['Drops of interfaces', 'per second'],
  'health.errors': ['Errors of resources', 'per second'],
};

export function Generator({ app, stretch }: { app: App; stretch: Stretch }) {
  const { run } = app;
  const { from, to, version } = stretch;
  const { verdict, dropped } = run.facts;
  const metrics = run.metrics.filter((metric) => metric.family === 'health');
  const plots = useMemo(
    () =>
      metrics.slice(0, 40).map((metric) => {
        const series = run.of(metric.name);
        const known = (name: string) => name in metric_tags(series[0]?.tags);
        const tag = ['core', 'state', 'what'].find(known) ?? Object.keys(series[0]?.tags ?? {})[0];
        const values = (one: typeof series) => (metric.type === 'counter' ? rates(app, summed(run, one, 0)) : gaugeLine(run, one));
        const lines: Line[] = series.slice(0, 16).map((one, i) => ({ name: tag ? `${tag} ${one.tags[tag] ?? ''}` : (TITLES[metric.name]?.[0] ?? metric.name), values: values([one]), color: COLORS[i % COLORS.length]!, ...(i >= COLORS.length || i % 2 ? { dash: [2 + (i % 5) * 2, 3] } : {}) }));
        const format = metric.type === 'counter' ? perSecond : metric.contains === 'share' ? percent : byContains(metric.contains);
        return { metric, lines, format, more: series.length - 16 };
      }),
    [run, version],
  );
  const lost = Object.entries(dropped).filter(([, count]) => count > 0);
  const findings = verdict.findings ?? [];
  const agents = run.facts.agents ?? [];
  return (
    <>
      {findings.length === 0 && <p class="note">{verdict.state ? (agents.length > 0 ? 'Each agent watched its own machine, and there are no findings: none of them disturbed these numbers.' : 'The generator was watched, and there are no findings: it did not disturb these numbers.') : plots.length > 0 ? 'Its health was kept, but no verdict was drawn from it, so there are no findings.' : 'The generator was not watched in this run, so there are no findings.'}</p>}
      {findings.map((finding, i) => (
        <FindingCard key={i} app={app} finding={finding} />
      ))}
      {lost.length > 0 && (
        <p class="verdict warn">
          <span class="mark" aria-hidden="true">
            !
          </span>
          <span>Left out for want of room: {lost.map(([name, count]) => `${whole(count)} ${name}`).join(', ')}. Totals of metrics are complete all the same.</span>
        </p>
      )}
      {(run.facts.run.lost ?? 0) > 0 && <p class="verdict bad">{whole(run.facts.run.lost ?? 0)} agents were lost during the run.</p>}
      {plots.length === 0 ? (
        <Empty>{agents.length > 0 ? 'The load was made by agents, and the run file of their leader holds no plots of their machines: section Agents has a row for each.' : 'The run file holds no health of the generator.'}</Empty>
      ) : (
        <div class="pair">
          {plots.map(({ metric, lines, format, more }) => (
            <TimePlot
              key={metric.name}
              app={app}
              from={from}
              to={to}
              version={version}
              label={metric.text ?? TITLES[metric.name]?.[0] ?? metric.name}
              unit={`${TITLES[metric.name]?.[1] ?? ''}${more > 0 ? `, ${more} more are not drawn` : ''}`}
              lines={lines}
              format={format}
              height={150}
              {...(metric.name === 'health.busy' ? { ceiling: 1 / 1.06 } : metric.contains === 'share' ? { ceiling: 0.01 } : {})}
            />
          ))}
        </div>
      )}
    </>
  );
}

const metric_tags = (tags: Record<string, string> | undefined) => tags ?? {};

function FindingCard({ app, finding }: { app: App; finding: Finding }) {
  const timed = finding.from !== null && finding.from !== undefined && finding.to !== null && finding.to !== undefined;
  return (
    <article class={`finding ${finding.state === 'invalid' ? 'bad' : 'warn'}`}>
      <h4>
        <span class="mark" aria-hidden="true">
          {finding.state === 'invalid' ? '✕' : '!'}
        </span>{' '}
        {finding.what} <small>{finding.state}</small>
      </h4>
      <dl>
        {timed && (
          <div>
            <dt>When</dt>
            <dd>
              <button type="button" class="chip" onClick={() => app.chooseSeconds(finding.from! / 1e6, finding.to! / 1e6)}>
                {clock(finding.from! / 1e6)} – {clock(finding.to! / 1e6)}
              </button>
            </dd>
          </div>
        )}
        {(
          [
            ['How much', finding.much],
            ['Touches', finding.touches],
            ['To do', finding.advice],
            ['Evidence', finding.metrics?.map((name) => TITLES[name]?.[0] ?? name).join(', ')],
          ] as [string, string | null | undefined][]
        ).map(
          ([name, text]) =>
            text && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{text}</dd>
              </div>
            ),
        )}
      </dl>
    </article>
  );
}

export { amount, bytes, duration };
