/** Section 9: kinds of failure and the exchanges kept as evidence. */

import { useState } from 'preact/hooks';
import type { Exchange, Failure, Part } from '../../data/model.js';
import { summed, total } from '../../data/pool.js';
import type { Series } from '../../data/run.js';
import { type App, judged, outcome, type Stretch } from '../app.js';
import { bytes, clock, duration, percent, whole } from '../format.js';
import { Spark } from '../plot.js';
import { Empty, Num, why } from '../section.js';
import { subject } from '../app.js';
import { PHASES } from './requests.js';

const SHOWN = 50;

interface Kind {
  failure: Omit<Failure, 'series'>;
  counts: Float64Array;
}

/** The kinds of failure that were kept; if none were, those that the tags of the requests tell. */
function kindsOf(app: App): Kind[] {
  const { run } = app;
  if (run.facts.failures.length > 0) {
    return run.facts.failures.flatMap((failure) => {
      const series = run.series[failure.series];
      return series ? [{ failure, counts: series.column(0) }] : [];
    });
  }
  const { count, http } = subject(run);
  if (!http) return [];
  const found = new Map<string, Series[]>();
  for (const one of run.of(count)) {
    if (outcome(one.tags) === 'ok') continue;
    const key = JSON.stringify([one.tags.status, one.tags.error_code, one.tags.method, one.tags.name]);
    const list = found.get(key);
    if (list) list.push(one);
    else found.set(key, [one]);
  }
  const { width, end } = run.facts.time;
  return [...found.values()].map((series) => {
    const { status, error_code, method, name } = series[0]!.tags;
    const counts = summed(run, series, 0);
    const first = counts.findIndex((count) => count > 0);
    let last = counts.length - 1;
    while (last > 0 && counts[last] === 0) last--;
    const code = error_code && error_code !== status ? error_code : '';
    return {
      failure: { code, status: Number(status || 0), message: Number(status) > 0 ? '' : 'no answer', method: method ?? null, route: name ?? null, first: first * width * 1000, last: Math.min((last + 1) * width * 1000, end) },
      counts,
    };
  });
}

export function Failures({ app, stretch, route }: { app: App; stretch: Stretch; route?: string }) {
  const { run } = app;
  const { from, to } = stretch;
  const [open, setOpen] = useState<number | null>(null);
  const [limit, setLimit] = useState(SHOWN);
  const ofRoute = (method: string | null | undefined, name: string | null | undefined) => route === undefined || `${method ? `${method} ` : ''}${name ?? ''}` === route;
  const kinds = kindsOf(app)
    .map((kind, index) => ({ ...kind, index }))
    .filter(({ failure }) => ofRoute(failure.method, failure.route))
    .map((kind) => ({ ...kind, count: total(kind.counts, from, to) }))
    .filter((kind) => kind.count > 0)
    .sort((a, b) => b.count - a.count);
  const all = kinds.reduce((sum, kind) => sum + kind.count, 0);
  const kept = run.facts.exchanges.map((exchange, index) => ({ exchange, index })).filter(({ exchange }) => ofRoute(exchange.method, exchange.route) && inside(exchange, app, stretch));
  const others = kept.filter(({ exchange }) => exchange.why !== 'failure');
  const failed = subject(run).http ? total(judged(run).failed, from, to) : 0;
  return (
    <>
      {route !== undefined && <h4>Failures of this route</h4>}
      {kinds.length === 0 && failed === 0 && <Empty>{run.facts.exceptions.length > 0 ? 'No request failed; the script did.' : app.whole ? 'Nothing failed.' : 'Nothing failed in the selected stretch of time.'}</Empty>}
      {route === undefined && kinds.length === 0 && failed > 0 && <Empty>{whole(failed)} {subject(run).word} failed, but their kinds were not kept.</Empty>}
      {kinds.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Failures">
          <table class="failures">
            <thead>
              <tr>
                <th scope="col">Count</th>
                <th scope="col">Share</th>
                <th scope="col" class="text">
                  Failure
                </th>
                <th scope="col" class="text">
                  Route
                </th>
                <th scope="col">First</th>
                <th scope="col">Last</th>
                <th scope="col" class="text">
                  Over time
                </th>
                <th scope="col" class="text">
                  Kept
                </th>
              </tr>
            </thead>
            <tbody>
              {kinds.slice(0, limit).map(({ failure, index, counts, count }) => {
                const exchanges = (failure.exchanges ?? []).flatMap((place) => run.facts.exchanges[place] ?? []);
                const isOpen = open === index;
                return [
                  <tr key={index} class={isOpen ? 'open' : ''}>
                    <td>
                      <Num value={count} text={whole} tone="bad" />
                    </td>
                    <td>{percent(count / all)}</td>
                    <th scope="row" class="text name">
                      {failure.message || (failure.status ? `HTTP status ${failure.status}` : 'failed')}
                      {failure.code && <small class="dim"> code {failure.code}</small>}
                    </th>
                    <td class="text name">{`${failure.method ?? ''} ${failure.route ?? ''}`.trim() || '–'}</td>
                    <td>{failure.first === null || failure.first === undefined ? '–' : clock(failure.first / 1e6)}</td>
                    <td>{failure.last === null || failure.last === undefined ? '–' : clock(failure.last / 1e6)}</td>
                    <td class="text">
                      <Spark values={counts} from={from} to={to} width={110} tone="--c-fail" />
                    </td>
                    <td class="text">
                      {exchanges.length > 0 ? (
                        <button type="button" class="chip" aria-expanded={isOpen} onClick={() => setOpen(isOpen ? null : index)}>
                          {exchanges.length} exchange{exchanges.length === 1 ? '' : 's'}
                        </button>
                      ) : (
                        <span class="dim">none</span>
                      )}
                    </td>
                  </tr>,
                  isOpen && (
                    <tr key={`${index} open`}>
                      <td colSpan={8} class="text wide">
                        {exchanges.map((exchange, i) => (
                          <Kept key={i} exchange={exchange} open={i === 0} />
                        ))}
                      </td>
                    </tr>
                  ),
                ];
              })}
            </tbody>
          </table>
        </div>
      )}
      {kinds.length > limit && (
        <button type="button" class="chip" onClick={() => setLimit(limit + 200)}>
          {whole(kinds.length - limit)} more kinds
        </button>
      )}
      {others.length > 0 && (
        <div class="kept-others">
          {route === undefined ? <h3>Other kept exchanges</h3> : <h4>Other kept exchanges</h4>}
          {(['slow', 'random'] as const).map((kind) => {
            const list = others.filter(({ exchange }) => exchange.why === kind).sort((a, b) => (b.exchange.duration ?? 0) - (a.exchange.duration ?? 0));
            return (
              list.length > 0 && (
                <details key={kind}>
                  <summary>
                    {kind === 'slow' ? 'The slowest' : 'At random'} <span class="dim">{list.length}</span>
                  </summary>
                  {list.map(({ exchange, index }) => (
                    <Kept key={index} exchange={exchange} />
                  ))}
                </details>
              )
            );
          })}
        </div>
      )}
      {route === undefined && <Exceptions app={app} />}
      {route === undefined && kinds.length === 0 && run.facts.failures.length === 0 && others.length === 0 && failed === 0 && run.slices === 0 && <Empty>{why(app, 'requests')}</Empty>}
    </>
  );
}

function inside(exchange: Exchange, app: App, { from, to }: Stretch): boolean {
  if (app.whole || exchange.at === null || exchange.at === undefined) return true;
  const at = exchange.at / 1e6;
  return at >= app.run.border(from) && at < app.run.border(to);
}

function Kept({ exchange, open = false }: { exchange: Exchange; open?: boolean }) {
  const [copied, setCopied] = useState('');
  const { phases } = exchange;
  const keys = ['blocked', 'lookup', 'connecting', 'tls', 'sending', 'waiting', 'receiving'];
  const times = keys.map((key) => phases?.[key] ?? 0);
  const all = times.reduce((a, b) => a + b, 0);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(exchange.curl ?? '');
      setCopied('copied');
    } catch {
      // Pages from files may not write to the clipboard everywhere: the line can be selected.
      setCopied('select the line and copy it');
    }
  };
  return (
    <details class="exchange" open={open}>
      <summary>
        <span class={exchange.why === 'failure' ? 'bad' : ''}>{exchange.status ? exchange.status : 'no answer'}</span> <strong>{exchange.method}</strong> <span class="url">{exchange.url}</span>{' '}
        <span class="dim">
          {exchange.duration !== null && exchange.duration !== undefined && duration(exchange.duration)}
          {exchange.at !== null && exchange.at !== undefined && `, at ${clock(exchange.at / 1e6, true)}`}
        </span>
      </summary>
      {exchange.error && <p class="bad">{exchange.error}</p>}
      {all > 0 && (
        <p class="phases-line">
          <span class="phase-bar wide" aria-hidden="true">
            {PHASES.map(([name, , tone], i) => times[i]! > 0 && <i key={name} style={{ width: `${(times[i]! / all) * 100}%`, background: `var(${tone})` }} />)}
          </span>
          {PHASES.map(([name], i) => times[i]! > 0 && (
            <span key={name}>
              {name} {duration(times[i]!)}
            </span>
          ))}
        </p>
      )}
      {exchange.curl && (
        <p class="curl">
          <code>{exchange.curl}</code>{' '}
          <button type="button" class="chip" onClick={copy}>
            Copy
          </button>{' '}
          <span role="status">{copied}</span>
        </p>
      )}
      <div class="parts">
        <Half title="Request" part={exchange.request} />
        <Half title={`Response ${exchange.response?.proto ?? ''}`} part={exchange.response} />
      </div>
    </details>
  );
}

function Half({ title, part }: { title: string; part: Part | null | undefined }) {
  if (!part) return <div><h5>{title}</h5><p class="dim">There was none.</p></div>;
  const shown = part.body ? new TextEncoder().encode(part.body).length : 0;
  return (
    <div>
      <h5>{title}</h5>
      {(part.headers ?? []).length > 0 && (
        <dl class="headers">
          {(part.headers ?? []).slice(0, 200).map(([name, value], i) => (
            <div key={i}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {part.body ? <pre tabIndex={0}>{part.body}</pre> : <p class="dim">{part.cut ? 'The body is left out: this page would be too heavy with it. A run file (--out run) has it.' : part.size ? 'The body was not kept.' : 'No body.'}</p>}
      {part.body && (part.size ?? 0) > shown && (
        <p class="dim">
          The first {bytes(shown)} of {bytes(part.size ?? 0)}.{part.cut && ' A run file (--out run) has more of it.'}
        </p>
      )}
    </div>
  );
}

function Exceptions({ app }: { app: App }) {
  const { exceptions } = app.run.facts;
  if (exceptions.length === 0) return null;
  return (
    <>
      <h3>Exceptions of the script</h3>
      <ul class="exceptions">
        {exceptions.slice(0, 100).map((exception, i) => (
          <li key={i}>
            <Num value={exception.count} text={whole} tone="bad" /> × <pre tabIndex={0}>{exception.text}</pre>
          </li>
        ))}
      </ul>
      {!app.whole && <p class="note">Exceptions are those of the whole run.</p>}
    </>
  );
}
