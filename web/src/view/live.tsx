/** The live page: parts of the data as they come, and what may be done to the run. */

import { useEffect, useState } from 'preact/hooks';
import { fromBase64, unpack } from '../data/open.js';
import type { Config } from '../data/model.js';
import { type App, useApp } from './app.js';
import { length } from './format.js';

/** A browser gives up after an answer that is no stream; the page asks again after so many milliseconds, as the server may come back. */
const AGAIN = 2000;

/**
 * Takes in parts, in their order; draws at most twice a second. Gives the first part's promise; until then `wait` is told why there is nothing,
 * and `failed` what cannot be read.
 */
export function follow(app: App, { events, alive }: Pick<NonNullable<Config['live']>, 'events' | 'alive'>, wait: (why: string) => void, failed: (error: unknown) => void): Promise<void> {
  return new Promise((first) => {
    let chain: Promise<void> = Promise.resolve();
    let slice = Number.POSITIVE_INFINITY;
    let reset = false;
    let drawn = 0;
    let planned = 0;
    const draw = () => {
      clearTimeout(planned);
      planned = 0;
      drawn = Date.now();
      const change = { slice, reset };
      slice = Number.POSITIVE_INFINITY;
      reset = false;
      app.changed(change);
      first();
    };
    const connect = () => {
      const source = new EventSource(events);
      source.onopen = () => {
        app.live = 'connected';
        app.tell();
      };
      source.onerror = () => {
        // The process that ran the test has gone away.
        if (app.live === 'ended' || app.live === 'broken') return source.close();
        if (app.run.version > 0 && !app.run.running) {
          // The last part came, only the word that it was the last did not.
          app.live = 'ended';
          source.close();
        } else {
          app.live = 'lost';
          wait('The run does not answer. This page tries again …');
          if (source.readyState === EventSource.CLOSED) setTimeout(connect, AGAIN);
        }
        app.tell();
      };
      source.addEventListener('part', (event) => {
        const text = (event as MessageEvent<string>).data;
        chain = chain.then(async () => {
          try {
            const change = app.run.apply(await unpack(fromBase64(text)));
            slice = Math.min(slice, change.slice);
            reset ||= change.reset;
            if (planned === 0) planned = window.setTimeout(draw, Math.max(0, drawn + 500 - Date.now()));
          } catch (error) {
            app.live = 'ended';
            source.close();
            failed(error);
          }
        });
      });
      // The connection stays open: by it the process knows that the page is still looked at.
      source.addEventListener('end', (event) => {
        const lost = (event as MessageEvent<string>).data === 'lost';
        if (lost) source.close();
        chain = chain.then(() => {
          app.live = lost ? 'broken' : 'ended';
          if (app.run.version > 0) draw();
          else wait('No data of this run can be read: its log says why.');
        });
      });
      // A timer would be slowed down in a window that nobody sees: so it is the process that asks.
      source.addEventListener('alive', () => {
        if (alive) fetch(alive).catch(() => {});
      });
    };
    app.live = 'connecting';
    connect();
  });
}

/** The finished page, fetched as soon as the run is over: then it can be saved when the process is gone, too. */
function useFinished(address: string | undefined, over: boolean): string | undefined {
  const [kept, keep] = useState<string>();
  useEffect(() => {
    if (!address || !over) return;
    fetch(address)
      .then(async (answer) => {
        if (answer.ok) keep(URL.createObjectURL(await answer.blob()));
      })
      .catch(() => {});
  }, [address, over]);
  return kept ?? address;
}

interface Fleet {
  seats: number;
  running: number;
  silent: number;
  lost: number;
}

/** The agents of a test on several machines, as its leader sees them: asked again and again, as a silent agent sends no part. */
function Agents({ status }: { status: string }) {
  const [fleet, see] = useState<Fleet>();
  useEffect(() => {
    const ask = () =>
      fetch(status)
        .then(async (answer) => see((await answer.json())?.data?.attributes?.agents))
        .catch(() => {});
    void ask();
    const timer = setInterval(ask, AGAIN);
    return () => clearInterval(timer);
  }, [status]);
  if (!fleet) return null;
  const { seats, running, silent, lost } = fleet;
  return (
    <span class={silent + lost > 0 ? 'badge bad' : 'dim'} data-figure="agents">
      {running} of {seats} agents
      {silent > 0 && `, ${silent} silent`}
      {lost > 0 && `, ${lost} lost`}
    </span>
  );
}

export function LiveBar({ app, config }: { app: App; config: NonNullable<Config['live']> }) {
  useApp(app);
  const { run, time, scenarios, thresholds } = app.run.facts;
  const control = config.control;
  const [said, say] = useState('');
  const [vus, setVus] = useState('');
  const [note, setNote] = useState('');
  const [sure, setSure] = useState(false);
  const [known, know] = useState<boolean | null>(null);
  const turns = app.run.events.filter((event) => event.kind === 'pause' || event.kind === 'resume');
  // A run that waits for its start has no events yet: it is asked.
  useEffect(() => {
    if (!control?.status || !control.pause) return;
    fetch(control.status)
      .then(async (answer) => {
        const paused = (await answer.json())?.data?.attributes?.paused;
        if (typeof paused === 'boolean') know(paused);
      })
      .catch(() => {});
  }, [control, turns.length]);
  const paused = known ?? turns[turns.length - 1]?.kind === 'pause';
  // Scenarios end here without their graceful stop: it is no part of the plan.
  const end = scenarios.reduce((most, scenario) => Math.max(most, scenario.to ?? 0), 0);
  const elapsed = time.end / 1e6;
  const part = end > 0 ? Math.min(elapsed / (end / 1e6), 1) : null;
  const send = async (what: string, url: string, method: string, body: unknown) => {
    try {
      const answer = await fetch(url, { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
      const text = answer.ok ? '' : (await answer.text()).slice(0, 300);
      say(answer.ok ? `${what}: done.` : `${what}: refused (${answer.status}). ${text}`);
      if (what === 'Pause' || what === 'Resume') know(answer.ok ? what === 'Pause' : null);
    } catch {
      say(`${what}: the run does not answer.`);
    }
  };
  const status = (what: string, attributes: Record<string, unknown>) => control?.status && void send(what, control.status, 'PATCH', { data: { type: 'status', id: 'default', attributes } });
  const running = app.run.running && app.live !== 'ended';
  const finished = useFinished(config.report, app.live === 'ended');
  const state =
    !running ? 'The run has ended: this is its report.' : app.live === 'broken' ? 'No more data come from this run: its log says why.' : app.live === 'lost' ? 'The connection is lost; the page tries again and will get what it missed.' : app.live === 'connecting' ? 'Connecting …' : paused ? 'Paused' : 'Live';
  return (
    <aside class={`live ${!running ? 'over' : app.live === 'lost' || app.live === 'broken' ? 'lost' : 'on'}`} aria-label="Live run">
      <span class="pulse" aria-hidden="true" />
      <span role="status">{state}</span>
      {running && (
        <span class="dim">
          {length(elapsed)}
          {end > 0 && ` of ${length(end / 1e6)}`}
        </span>
      )}
      {running && part !== null && <progress max={1} value={part} aria-label="Part of the planned time" />}
      {running && control?.status && control.agents && <Agents status={control.status} />}
      {thresholds.some((threshold) => threshold.passed === false) && <span class="badge bad">threshold broken</span>}
      {running && control?.status && (
        <span class="controls">
          {control.pause && (
            <button type="button" class="chip" onClick={() => status(paused ? 'Resume' : 'Pause', { paused: !paused })}>
              {paused ? 'Resume' : 'Pause'}
            </button>
          )}
          {control.scale && (
            <form
              onSubmit={(event) => {
                event.preventDefault();
                if (Number(vus) >= 0 && vus !== '') status(`Scale to ${vus} VUs`, { vus: Number(vus) });
              }}
            >
              <input type="number" min="0" step="1" inputMode="numeric" value={vus} placeholder="VUs" aria-label="Number of VUs" onInput={(event) => setVus(event.currentTarget.value)} />
              <button type="submit" class="chip">
                Scale
              </button>
            </form>
          )}
          {control.stop &&
            (sure ? (
              <>
                <button
                  type="button"
                  class="chip danger"
                  onClick={() => {
                    setSure(false);
                    status('Stop', { stopped: true });
                  }}
                >
                  Yes, end the test
                </button>
                <button type="button" class="chip" onClick={() => setSure(false)}>
                  No
                </button>
              </>
            ) : (
              <button type="button" class="chip" onClick={() => setSure(true)}>
                Stop
              </button>
            ))}
        </span>
      )}
      {running && control?.note && (
        <form
          class="controls"
          onSubmit={(event) => {
            event.preventDefault();
            if (note.trim()) void send('Note', control.note!, 'POST', { text: note.trim() });
            setNote('');
          }}
        >
          <input type="text" maxLength={500} value={note} placeholder="A note" aria-label="A note on what happens now" onInput={(event) => setNote(event.currentTarget.value)} />
          <button type="submit" class="chip">
            Add
          </button>
        </form>
      )}
      {!running && finished !== undefined && app.live === 'ended' && (
        <a class="chip" href={finished} download={`${(run.name || 'report').replace(/[^\w.-]+/g, '-')}.html`}>
          Download the report
        </a>
      )}
      {said && <span role="status">{said}</span>}
    </aside>
  );
}
