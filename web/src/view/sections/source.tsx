/** Section 12: options, names of variables, events, and the script. */

import type { JSX } from 'preact';
import type { App, Stretch } from '../app.js';
import { bytes, clock, local, whole } from '../format.js';
import { Empty } from '../section.js';

/** A text longer than this is shown without colours, so that the page stays quick. */
const COLOURED_MAX = 200_000;

const TOKEN = /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\[\s\S]|[^`\\])*`?)|(\b(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:e[+-]?\d+)?)n?\b)|(\b(?:as|async|await|break|case|catch|class|const|continue|default|delete|do|else|enum|export|extends|finally|for|from|function|if|import|in|instanceof|interface|let|new|null|of|return|static|super|switch|this|throw|true|false|try|type|typeof|undefined|var|void|while|yield)\b)/gi;

/** JavaScript, TypeScript or JSON in colours: comments, strings, numbers, words of the language. Everything else is text as it is. */
export function highlight(text: string): (JSX.Element | string)[] {
  const parts: (JSX.Element | string)[] = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > at) parts.push(text.slice(at, match.index));
    const kind = match[1] !== undefined ? 'comment' : match[2] !== undefined ? 'string' : match[3] !== undefined ? 'number' : 'word';
    // Words of the language are in small letters.
    parts.push(kind === 'word' && match[0] !== match[0].toLowerCase() ? match[0] : <span class={`t-${kind}`}>{match[0]}</span>);
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}

export function Source({ app, stretch: { from, to } }: { app: App; stretch: Stretch }) {
  const { run, sources } = app.run.facts;
  // Events at the very end, or after it, belong to a stretch that goes up to the end.
  const [start, end] = [app.run.border(from), app.run.border(to)];
  const events = app.run.events.filter(({ at }) => app.whole || (at >= start * 1e6 && (at < end * 1e6 || to === app.run.slices)));
  const others = app.run.events.length - events.length;
  const facts: [string, string | undefined | null][] = [
    ['Name', run.name],
    ['Run', run.id],
    ['State', run.state],
    ['Command', run.arguments?.length ? `brunt ${run.arguments.join(' ')}` : null],
    ['Script', run.script],
    ['SHA-256', run.sha256],
    ['Exit code', run.exit === null || run.exit === undefined ? null : String(run.exit)],
    ['Started', local(run.started, 0, run.timezone, true)],
    ['Ended', run.ended ? local(run.ended, 0, run.timezone, true) : run.state === 'died' ? 'not known: it died' : null],
    ['Started (UTC)', run.started],
    ['Brunt', run.brunt],
    ['Host', run.host],
    ['Kernel', run.kernel],
    ['CPU', run.cpu],
    ['Cores used', run.cores === undefined ? null : whole(run.cores)],
    ['Memory', run.memory ? bytes(run.memory) : null],
    ['Random seed', run.seed === null || run.seed === undefined ? null : String(run.seed)],
    ['Commit', run.commit],
    ['Branch', run.branch],
    ['CI build', run.build],
    ['Labels', Object.entries(run.labels ?? {}).map(([key, value]) => `${key}=${value}`).join(', ')],
    ['Width of a slice', `${app.run.facts.time.width / 1000} s, ${whole(app.run.slices)} slices, ${whole(app.run.series.length)} series`],
  ];
  return (
    <>
      <dl class="facts all">
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{name === 'CI build' && /^https?:\/\//.test(value) ? <a href={value} rel="noreferrer noopener">{value}</a> : value}</dd>
              </div>
            ),
        )}
      </dl>
      {app.run.events.length > 0 && (
        <>
          <h3>Events</h3>
          {others > 0 && <p class="note">{whole(others)} outside of the stretch.</p>}
          <ul class="events">
            {events.slice(0, 500).map((event, i) => (
              <li key={i}>
                <time>{clock(event.at / 1e6)}</time> <span class={`event-kind ${event.kind}`}>{event.kind}</span> {event.text} {event.scenario && <span class="dim">{event.scenario}</span>}
              </li>
            ))}
          </ul>
        </>
      )}
      {(run.environment?.length ?? 0) > 0 && (
        <>
          <h3>Environment</h3>
          <p class="names">
            {run.environment!.map((name) => (
              <code key={name}>{name}</code>
            ))}
          </p>
          <p class="note">Names alone: values may be secrets and are not kept.</p>
        </>
      )}
      {run.options !== undefined && run.options !== null && (
        <details open={app.run.slices === 0}>
          <summary>Options</summary>
          <pre tabIndex={0}>{highlight(JSON.stringify(run.options, null, 2) ?? '')}</pre>
        </details>
      )}
      {sources.map((source, i) => (
        <details key={source.path} open={i === 0}>
          <summary>{source.path}</summary>
          {source.text ? (
            <pre class="code" tabIndex={0}>
              {source.text.length <= COLOURED_MAX ? highlight(source.text) : source.text}
            </pre>
          ) : (
            <p class="dim">The text was left out.</p>
          )}
        </details>
      ))}
      {sources.length === 0 && run.kind !== 'attack' && <Empty>The script’s text was not kept.</Empty>}
    </>
  );
}
