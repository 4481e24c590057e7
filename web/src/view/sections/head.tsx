/** Section 1: passed or failed, can it be trusted, six figures. */

import type { Distribution } from '../../data/distribution.js';
import type { Agent } from '../../data/model.js';
import { gauge, gaugeLine, type Pool, summed, total } from '../../data/pool.js';
import { type App, judged, rates, type Stretch, subject } from '../app.js';
import { Facts } from '../facts.js';
import { amount, byContains, bytes, length, local, percent, perSecond, whole } from '../format.js';
import { Spark, TrendSpark } from '../plot.js';
import { Num } from '../section.js';

export function vusOf(app: App) {
  const { run } = app;
  return run.of('vus').length > 0 ? run.of('vus') : run.of('load.vus_active');
}

interface Figure {
  name: string;
  value: number | null;
  text: (value: number) => string;
  line: ArrayLike<number>;
  /** The line is the p95 of these. */
  pool?: Pool;
  tone?: string;
}

/** The numbers of a stretch that stand in front. */
export function figures(app: App, { from, to, seconds }: Stretch): Figure[] {
  const { run } = app;
  const { count, duration: metric, http, word } = subject(run);
  const pool = app.pool(metric);
  const counts = summed(run, run.of(count), 0);
  const all = total(counts, from, to);
  const of = judged(run);
  const asked = total(of.all, from, to);
  const vus = vusOf(app);
  const received = summed(run, run.of('data_received'), 0);
  const sent = summed(run, run.of('data_sent'), 0);
  const line = rates(app, counts);
  const list: Figure[] = [
    { name: word, value: all, text: amount, line },
    { name: 'rate', value: seconds > 0 ? all / seconds : 0, text: perSecond, line },
  ];
  if (http || word === 'gRPC calls') list.push({ name: 'failed', value: asked > 0 ? total(of.failed, from, to) / asked : null, text: percent, line: rates(app, of.failed), tone: '--c-fail' });
  const stretch: Distribution = pool.stretch(from, to);
  list.push({ name: 'p95', value: stretch.count > 0 ? stretch.percentile(95) : null, text: byContains(run.metric(metric)?.contains ?? 'time'), line: [], pool });
  if (vus.length > 0) list.push({ name: 'peak VUs', value: gauge(vus, from, to)?.max ?? null, text: whole, line: gaugeLine(run, vus), tone: '--c-third' });
  const data = total(received, from, to) + total(sent, from, to);
  if (run.of('data_received').length + run.of('data_sent').length > 0) list.push({ name: 'data', value: data, text: bytes, line: rates(app, received.map((value, i) => value + sent[i]!)), tone: '--c-fourth' });
  return list;
}

function outcomeSentence(app: App): { tone: string; mark: string; word: string; text: string } {
  const { run, thresholds, exceptions } = app.run.facts;
  const broken = thresholds.filter((threshold) => threshold.passed === false).length;
  const thrown = exceptions.reduce((all, exception) => all + exception.count, 0);
  const iterations = app.run.of('iterations').reduce((all, one) => all + one.column(0).reduce((a, b) => a + b, 0), 0);
  const aside = thrown > 0 ? ` ${whole(thrown)} iteration${thrown === 1 ? '' : 's'} ended in an exception.` : '';
  const useless = thrown > 0 && thrown >= iterations / 2;
  if (run.state === 'running') {
    if (useless && broken === 0) return { tone: 'bad', mark: '!', word: 'Running', text: `${whole(thrown)} of ${whole(Math.max(iterations, thrown))} iterations ended in an exception so far.` };
    return broken > 0
      ? { tone: 'bad', mark: '✕', word: 'Running', text: `${broken} of ${thresholds.length} thresholds ${broken === 1 ? 'is' : 'are'} broken so far.${aside}` }
      : { tone: 'plain', mark: '▶', word: 'Running', text: thresholds.length > 0 ? `All ${thresholds.length} thresholds hold so far.${aside}` : `No thresholds were set.${aside}` };
  }
  if (run.state === 'died') return { tone: 'bad', mark: '✕', word: 'Died', text: `The run did not come to its end; these are its numbers up to its last tick.${run.reason ? ` ${run.reason}.` : ''}${aside}` };
  if (broken > 0) return { tone: 'bad', mark: '✕', word: 'Failed', text: `${broken} of ${thresholds.length} threshold${thresholds.length === 1 ? '' : 's'} ${broken === 1 ? 'is' : 'are'} broken.${aside}` };
  if (run.state === 'aborted') return { tone: 'bad', mark: '✕', word: 'Aborted', text: `${run.reason ?? 'The run was cut short.'}${aside}` };
  if (run.passed === false) return { tone: 'bad', mark: '✕', word: 'Failed', text: `${run.reason ?? `The run ended with exit code ${run.exit ?? '?'}.`}${aside}` };
  if (useless) return { tone: 'bad', mark: '!', word: 'Broken script', text: `${whole(thrown)} of ${whole(Math.max(iterations, thrown))} iterations ended in an exception.` };
  if (run.passed) return { tone: 'good', mark: '✓', word: 'Passed', text: `${thresholds.length === 1 ? 'The threshold holds' : `All ${thresholds.length} thresholds hold`}.${aside}` };
  if (run.kind === 'attack') {
    const of = judged(app.run);
    const [all, failed] = [of.all, of.failed].map((list) => list.reduce((a, b) => a + b, 0));
    return { tone: 'plain', mark: '●', word: 'Finished', text: all! > 0 ? `${whole(all! - failed!)} of ${whole(all!)} hits succeeded (${percent(1 - failed! / all!)}).` : 'There was no hit.' };
  }
  return { tone: 'plain', mark: '●', word: 'Finished', text: `No thresholds were set, so nothing was judged.${aside}` };
}

const TRUST: Record<string, [string, string, string]> = {
  trusted: ['good', '✓', 'To be trusted'],
  doubtful: ['warn', '!', 'With care'],
  invalid: ['bad', '✕', 'Not to be trusted'],
};

export function Head({ app }: { app: App }) {
  const { run, time, verdict } = app.run.facts;
  const outcome = outcomeSentence(app);
  const trust = TRUST[verdict.state ?? ''];
  const watched = app.run.metrics.some((metric) => metric.family === 'health');
  const agents = app.run.facts.agents ?? [];
  const facts: [string, string][] = [
    ['Script', run.script ?? ''],
    ['Started', local(run.started, 0, run.timezone, true)],
    ['Duration', length(time.end / 1e6)],
    ['Agents', agents.length > 0 ? machines(agents) : ''],
    [agents.length > 0 ? 'Leader' : 'Machine', [run.host, run.cpu && `${run.cores ? `${run.cores} × ` : ''}${run.cpu}`].filter(Boolean).join(', ')],
    ['Commit', [run.commit?.slice(0, 12), run.branch].filter(Boolean).join(' on ')],
    ['Brunt', run.brunt ?? ''],
    ...Object.entries(run.labels ?? {}).map(([key, value]): [string, string] => [key, value]),
  ];
  return (
    <header class="head">
      <h1>{run.name || run.script || 'Results'}</h1>
      <Facts all={facts} />
      <div class="verdicts">
        <p class={`verdict ${outcome.tone}`}>
          <span class="mark" aria-hidden="true">
            {outcome.mark}
          </span>
          <span>
            <strong>{outcome.word}.</strong> {outcome.text}
          </span>
        </p>
        {(run.kind !== 'attack' || trust) && <p class={`verdict ${trust?.[0] ?? 'plain'}`}>
          <span class="mark" aria-hidden="true">
            {trust?.[1] ?? '?'}
          </span>
          <span>
            <strong>{trust?.[2] ?? 'Trust unknown'}.</strong>{' '}
            {verdict.text || (trust ? 'The generator did not disturb these numbers.' : watched ? 'No verdict was drawn from the health of the load generator: see Generator.' : 'The load generator was not watched, so the page cannot tell whether it disturbed these numbers.')}{' '}
            {(verdict.findings?.length ?? 0) > 0 && (
              <a
                href="#generator"
                onClick={(event) => {
                  event.preventDefault();
                  const section = document.getElementById('generator');
                  section?.scrollIntoView();
                  section?.focus({ preventScroll: true });
                }}
              >
                Findings
              </a>
            )}
          </span>
        </p>}
      </div>
    </header>
  );
}

/** How many agents, and on which machines: the first few. */
function machines(agents: Agent[]): string {
  const hosts = [...new Set(agents.map((agent) => agent.host).filter((host): host is string => !!host))];
  const more = hosts.length > 3 ? ` and ${hosts.length - 3} more` : '';
  return `${whole(agents.length)}${hosts.length > 0 ? ` on ${hosts.slice(0, 3).join(', ')}${more}` : ''}`;
}

export function Figures({ app, stretch }: { app: App; stretch: Stretch }) {
  return (
    <div class="figures">
      {figures(app, stretch).map(({ name, value, text, line, tone, pool }) => (
        <div class="figure" key={name} data-figure={name}>
          <div class="figure-name">{name}</div>
          <div class="figure-value">
            <Num value={value} text={text} />
          </div>
          {pool ? <TrendSpark pool={pool} percent={95} from={stretch.from} to={stretch.to} width={150} height={26} /> : <Spark values={line} from={stretch.from} to={stretch.to} width={150} height={26} tone={tone ?? '--c-ok'} />}
        </div>
      ))}
    </div>
  );
}
