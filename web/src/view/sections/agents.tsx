/** The agents of a test on several machines: a row each, a click opens all that is known of one. */

import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { Agent } from '../../data/model.js';
import type { App } from '../app.js';
import { Facts } from '../facts.js';
import { amount, clock, duration, percent, whole } from '../format.js';
import { Num } from '../section.js';

/** Rows at first: the worst, if there are more. */
export const SHOWN = 20;

interface Column {
  key: string;
  name: string;
  of: (agent: Agent) => number | null | undefined;
  text: (value: number) => string;
  /** Values above this are marked. */
  most?: number;
}

const signed = (ms: number) => `${ms > 0 ? '+' : ms < 0 ? '−' : ''}${duration(Math.abs(ms))}`;

export const COLUMNS: Column[] = [
  { key: 'share', name: 'Share', of: (agent) => agent.share, text: percent },
  { key: 'iterations', name: 'Iterations', of: (agent) => agent.iterations, text: amount },
  { key: 'requests', name: 'Requests', of: (agent) => agent.requests, text: amount },
  { key: 'failed', name: 'Failed', of: (agent) => agent.failed, text: amount, most: 0 },
  { key: 'p95', name: 'p95', of: (agent) => agent.http_req_duration_p95_ms, text: duration },
  { key: 'missed', name: 'Missed', of: (agent) => agent.missed, text: amount, most: 0 },
  { key: 'cpu', name: 'CPU, most', of: (agent) => agent.cpu_max, text: percent, most: 0.9 },
  { key: 'lateness', name: 'Lateness p99', of: (agent) => agent.lateness_p99_ms, text: duration },
  { key: 'late', name: 'Began late', of: (agent) => agent.late_ms, text: duration, most: 10 },
  { key: 'offset', name: 'Clock', of: (agent) => agent.offset_ms, text: signed },
];

/** How much an agent needs a look: the same order as in the summary's text. */
export function badness(agent: Agent): number {
  const level = agent.verdict?.level;
  const weights: [boolean, number][] = [
    [!agent.host, 2 ** 40],
    [agent.whole === false, 2 ** 39],
    [(agent.holes ?? []).length > 0, 2 ** 38],
    [level === 'invalid', 2 ** 37],
    [level === 'doubtful', 2 ** 36],
    [(agent.late_ms ?? 0) > 10, 2 ** 35],
    [agent.outlier === true, 2 ** 34],
    [(agent.cpu_max ?? 0) > 0.9, 2 ** 33],
  ];
  const bad = weights.reduce((all, [is, weight]) => all + (is ? weight : 0), 0);
  return bad + Math.min((agent.failed ?? 0) + (agent.missed ?? 0), 2 ** 32);
}

/** The state of an agent's numbers in a word, and its tone. */
export function standing(agent: Agent): [string, 'good' | 'warn' | 'bad'] {
  if (!agent.host) return ['did not come', 'bad'];
  if (agent.whole === false) return ['not whole', 'bad'];
  const level = agent.verdict?.level;
  if (level === 'invalid') return ['invalid', 'bad'];
  if (level === 'doubtful') return ['doubtful', 'warn'];
  if ((agent.remarks ?? []).length > 0) return ['see remarks', 'warn'];
  return ['fine', 'good'];
}

export function Agents({ app }: { app: App }) {
  const agents = app.run.facts.agents ?? [];
  const [sort, setSort] = useState<{ key: string; down: boolean }>({ key: agents.length > SHOWN ? 'worst' : 'seat', down: agents.length > SHOWN });
  const [all, setAll] = useState(false);
  const [open, setOpen] = useState<number | null>(null);
  const column = COLUMNS.find((one) => one.key === sort.key);
  const key = (agent: Agent) => (sort.key === 'worst' ? badness(agent) : column ? (column.of(agent) ?? Number.NEGATIVE_INFINITY) : agent.seat);
  const sorted = [...agents].sort((a, b) => {
    if (sort.key === 'host') return ((a.host ?? '') < (b.host ?? '') ? -1 : (a.host ?? '') > (b.host ?? '') ? 1 : a.seat - b.seat) * (sort.down ? -1 : 1);
    return (key(a) - key(b)) * (sort.down ? -1 : 1) || a.seat - b.seat;
  });
  const shown = all ? sorted : sorted.slice(0, SHOWN);
  const head = (name: string, title: string, text = false) => (
    <th scope="col" class={text ? 'text' : ''} aria-sort={sort.key === name ? (sort.down ? 'descending' : 'ascending') : 'none'}>
      <button type="button" onClick={() => setSort({ key: name, down: sort.key === name ? !sort.down : name !== 'seat' && name !== 'host' })}>
        {title}
        <span aria-hidden="true">{sort.key === name ? (sort.down ? ' ▾' : ' ▴') : ''}</span>
      </button>
    </th>
  );
  const marked = agents.filter((agent) => standing(agent)[1] !== 'good').length;
  const sentences = agents.map((agent) => agent.sentence).filter((text): text is string => !!text);
  return (
    <>
      <p class="note">
        {whole(agents.length)} {agents.length === 1 ? 'agent' : 'agents'} made the load, {marked === 0 ? 'none of them with a remark' : `${whole(marked)} of them with remarks`}. These numbers are of the whole run, whatever stretch is selected.
      </p>
      {sentences.slice(0, SHOWN).map((text) => (
        <p class="verdict bad" key={text}>
          <span class="mark" aria-hidden="true">
            ✕
          </span>
          <span>{text}</span>
        </p>
      ))}
      {sentences.length > SHOWN && <p class="note">And {whole(sentences.length - SHOWN)} more that are not whole: see their rows.</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="Agents">
        <table>
          <thead>
            <tr>
              {head('seat', 'Seat')}
              {head('host', 'Host', true)}
              {head('worst', 'State', true)}
              {COLUMNS.map((one) => (
                <Fragment key={one.key}>{head(one.key, one.name)}</Fragment>
              ))}
              <th scope="col" class="text">
                Remarks
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((agent) => (
              <Row key={agent.seat} app={app} agent={agent} open={open === agent.seat} toggle={() => setOpen(open === agent.seat ? null : agent.seat)} />
            ))}
          </tbody>
        </table>
      </div>
      {agents.length > SHOWN && (
        <p>
          <button type="button" class="chip" aria-pressed={all} onClick={() => setAll(!all)}>
            {all ? `Show ${SHOWN}` : `Show all ${whole(agents.length)} agents`}
          </button>
        </p>
      )}
    </>
  );
}

function Row({ app, agent, open, toggle }: { app: App; agent: Agent; open: boolean; toggle: () => void }) {
  const [word, tone] = standing(agent);
  return (
    <>
      <tr class={open ? 'open' : ''} data-seat={agent.seat}>
        <td>{agent.seat}</td>
        <th scope="row" class="text name">
          <button type="button" class="route" aria-expanded={open} title={agent.agent ?? agent.host ?? ''} onClick={toggle}>
            {agent.host ?? 'no agent'}
          </button>
        </th>
        <td class="text">
          <span class={`badge ${tone}`}>{word}</span>
        </td>
        {COLUMNS.map((one) => {
          const value = one.of(agent);
          return (
            <td key={one.key} data-column={one.key}>
              <Num value={value} text={one.text} tone={one.most !== undefined && (value ?? 0) > one.most ? 'bad' : undefined} />
            </td>
          );
        })}
        <td class="text why">{(agent.remarks ?? []).join('; ')}</td>
      </tr>
      {open && (
        <tr>
          <td class="text wide" colSpan={COLUMNS.length + 4}>
            <Details app={app} agent={agent} />
          </td>
        </tr>
      )}
    </>
  );
}

/** All that is known of an agent. */
function Details({ app, agent }: { app: App; agent: Agent }) {
  const { frames } = agent;
  const findings = agent.verdict?.findings ?? [];
  const moment = (at: number | null | undefined) => (at === null || at === undefined ? '–' : clock(at, true));
  const facts: [string, string][] = [
    ['Agent', agent.agent ?? ''],
    ['Version', agent.version ?? ''],
    ['Cores', agent.cores ? whole(agent.cores) : ''],
    ['Segment', agent.segment ?? ''],
    ['Clock', agent.host ? `${signed(agent.offset_ms ?? 0)} ± ${duration(agent.offset_bound_ms ?? 0)} to the leader’s` : ''],
    ['Frames', frames ? `${whole(frames.sent)} sent, ${whole(frames.again)} of them again, ${whole(frames.missing)} missing${frames.coarser > 0 ? `, ${whole(frames.coarser)} seconds told together` : ''}` : ''],
    ['States', (agent.states ?? []).map(({ state, at_s }) => `${state} ${moment(at_s)}`).join(', ')],
    ['Missing since', agent.missing_since_s === null || agent.missing_since_s === undefined ? '' : moment(agent.missing_since_s)],
  ];
  return (
    <>
      <Facts all={facts} />
      {(agent.holes ?? []).map(({ from_s, to_s, lost }, i) => (
        <p key={i} class="note">
          Out of touch from {moment(from_s)} {to_s === null || to_s === undefined ? 'on' : `to ${moment(to_s)}`}
          {lost ? ', given up meanwhile' : ''}.{' '}
          {typeof from_s === 'number' && typeof to_s === 'number' && (
            <button type="button" class="chip" onClick={() => app.chooseSeconds(from_s, to_s)}>
              Select this time
            </button>
          )}
        </p>
      ))}
      {findings.map((finding, i) => (
        <p key={i} class="note">
          <strong>{finding.name}</strong> ({finding.level}): {finding.evidence}. Try {finding.advice}.
        </p>
      ))}
      {(agent.errors ?? []).length > 0 && (
        <>
          <p class="note">The first different errors of its log:</p>
          <ul>
            {(agent.errors ?? []).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
