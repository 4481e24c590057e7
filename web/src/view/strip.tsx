/** The strip of the whole run: drag over it, and everything on the page is of that stretch. */

import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Stage } from '../data/model.js';
import { summed } from '../data/pool.js';
import { type App, judged, subject, useApp } from './app.js';
import { clock, length, local, perSecond } from './format.js';
import { alpha, color, repaint, timeLabel, useWidth } from './plot.js';

const HEIGHT = 58;
const STEPS = [0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

/** The part of a run between its first ramps and its last ones; null if there is no such part. */
export function withoutRamps(stages: Stage[], end: number): { from: number; to: number } | null {
  if (!stages.some((stage) => stage.ramp) || stages.every((stage) => stage.ramp)) return null;
  const sorted = [...stages].sort((a, b) => a.from - b.from);
  const flat = sorted.filter((stage) => !stage.ramp);
  const from = flat.reduce((least, stage) => Math.min(least, stage.from), Number.POSITIVE_INFINITY);
  const to = flat.reduce((most, stage) => Math.max(most, stage.to), 0);
  if (to <= from || (from <= 0 && to >= end)) return null;
  return { from, to: Math.min(to, end) };
}

/** From when to when by the clock, with the days if there are two. */
function clocks(started: string, start: number, stop: number, zone: string | null | undefined): string {
  const [from, to] = [start, stop].map((at) => local(started, at, zone, true).split(' '));
  const day = from![0] === to![0] ? '' : `${from![0]} `;
  return `${day}${local(started, start, zone)} – ${day ? `${to![0]} ` : ''}${local(started, stop, zone)}`;
}

export function Strip({ app }: { app: App }) {
  useApp(app);
  const { run } = app;
  const [box, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const { from, to } = app.stretch;
  const n = run.slices;
  const { count: counter, word } = subject(run);
  const version = run.version;
  const series = useMemo(() => {
    const counts = summed(run, run.of(counter), 0);
    return { counts, failed: judged(run).failed };
  }, [run, version]);

  useEffect(() => {
    const draw = () => {
      const element = canvas.current;
      const context = element?.getContext('2d');
      if (!element || !context || width === 0 || n === 0) return;
      const scale = devicePixelRatio;
      element.width = width * scale;
      element.height = HEIGHT * scale;
      context.scale(scale, scale);
      const columns = Math.min(width, n);
      const rate = new Float64Array(columns);
      const bad = new Float64Array(columns);
      for (let column = 0; column < columns; column++) {
        const start = Math.floor((column * n) / columns);
        const stop = Math.max(start + 1, Math.floor(((column + 1) * n) / columns));
        const seconds = Math.max(run.seconds(start, stop), 1e-3);
        // A last slice of a few milliseconds would make a peak out of one request.
        if (column > 0 && seconds * 10_000 < run.facts.time.width) {
          rate[column] = rate[column - 1]!;
          bad[column] = bad[column - 1]!;
          continue;
        }
        for (let i = start; i < stop; i++) {
          rate[column]! += series.counts[i]! / seconds;
          bad[column]! += series.failed[i]! / seconds;
        }
      }
      const most = Math.max(1e-9, ...rate) * 1.05;
      const step = width / columns;
      const area = (values: Float64Array, fill: string) => {
        context.fillStyle = fill;
        context.beginPath();
        context.moveTo(0, HEIGHT);
        values.forEach((value, index) => {
          const y = HEIGHT - (value / most) * (HEIGHT - 4);
          context.lineTo(index * step, y);
          context.lineTo((index + 1) * step, y);
        });
        context.lineTo(width, HEIGHT);
        context.fill();
      };
      area(rate, alpha(color('--c-ok'), 0.45));
      area(bad, color('--c-fail'));
    };
    draw();
    repaint.add(draw);
    return () => {
      repaint.delete(draw);
    };
  }, [series, width, n, version]);

  const end = run.border(n);
  const part = (seconds: number) => (end > 0 ? Math.min(Math.max(seconds / end, 0), 1) * 100 : 0);
  const drag = useRef<{ from: number; pointer: number } | null>(null);
  const secondsAt = (event: PointerEvent) => {
    const rect = box.current!.getBoundingClientRect();
    return (Math.min(Math.max(event.clientX - rect.left, 0), rect.width) / rect.width) * end;
  };
  const frame = useRef(0);
  const down = (event: PointerEvent) => {
    if (event.button !== 0 || (event.target as HTMLElement).closest('[role=slider]')) return;
    drag.current = { from: secondsAt(event), pointer: event.pointerId };
    box.current!.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    const start = drag.current;
    if (!start || start.pointer !== event.pointerId) return;
    const now = secondsAt(event);
    if (Math.abs(part(now) - part(start.from)) * width < 300) return;
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => app.chooseSeconds(Math.min(start.from, now), Math.max(start.from, now)));
  };
  const up = (event: PointerEvent) => {
    move(event);
    drag.current = null;
  };
  const slide = (which: 'from' | 'to') => (event: KeyboardEvent) => {
    const far = Math.max(1, Math.round(n / 20));
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -far, PageUp: far, Home: -n, End: n }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    app.choose(which === 'from' ? { from: Math.min(Math.max(from + step, 0), to - 1), to } : { from, to: Math.max(Math.min(to + step, n), from + 1) });
  };
  const pull = (which: 'from' | 'to') => (event: PointerEvent) => {
    event.preventDefault();
    const handle = event.currentTarget as HTMLElement;
    handle.setPointerCapture(event.pointerId);
    handle.focus();
    const follow = (moved: PointerEvent) => {
      const width = run.facts.time.width / 1000;
      const at = Math.round(secondsAt(moved) / width);
      const now = app.stretch;
      cancelAnimationFrame(frame.current);
      frame.current = requestAnimationFrame(() => app.choose(which === 'from' ? { from: Math.min(at, now.to - 1), to: now.to } : { from: now.from, to: Math.max(at, now.from + 1) }));
    };
    handle.addEventListener('pointermove', follow);
    handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', follow), { once: true });
  };

  const { stages, run: facts, time } = run.facts;
  const flat = withoutRamps(stages, time.end);
  const width1 = time.width / 1000;
  const chosen = (a: number, b: number) => Math.floor(a / 1e6 / width1 + 1e-6) === from && Math.min(n, Math.ceil(b / 1e6 / width1 - 1e-6)) === to && !app.whole;
  const preset = (label: string, a: number, b: number) => (
    <button type="button" key={`${label} ${a}`} class="chip" aria-pressed={chosen(a, b)} onClick={() => app.chooseSeconds(a / 1e6, b / 1e6)}>
      {label}
    </button>
  );
  const step = STEPS.find((one) => (end / one) * 76 < Math.max(width, 200)) ?? 86400;
  const marks: number[] = [];
  for (let at = 0; at <= end * 0.985 && marks.length < 40; at += step) marks.push(at);
  const last = stages.length > 0 ? stages.reduce((a, b) => (b.to > a.to ? b : a)) : null;
  const sameSpan = (a: Stage, b: Stage) => a.from === b.from && a.to === b.to;
  const distinct = stages.filter((stage, index) => stages.findIndex((other) => sameSpan(other, stage)) === index);
  if (n === 0) return null;
  const start = run.border(from);
  const stop = run.border(to);
  return (
    <section id="range" class="strip" aria-label="Time range" tabIndex={-1}>
      <div class="strip-head">
        <h2>Time range</h2>
        <output class="chosen" aria-live="polite">
          <strong>
            {app.whole ? 'whole run' : `${clock(start, width1 < 1)} – ${clock(stop, true)}`}
          </strong>{' '}
          {length(stop - start)}
          {facts.started && (
            <span class="dim">
              {' '}
              · {clocks(facts.started, start, stop, facts.timezone)}
            </span>
          )}
        </output>
        <div class="chips" role="group" aria-label="Presets">
          <button type="button" class="chip" aria-pressed={app.whole} onClick={() => app.choose(null)}>
            All
          </button>
          {flat && preset('Without ramps', flat.from, flat.to)}
          {run.running && n > 60 / width1 && preset('Last minute', Math.max(0, time.end - 60e6), time.end)}
          {last && distinct.length > 1 && preset('Last stage', last.from, last.to)}
          {distinct.length > 1 && distinct.length <= 6 && distinct.map((stage) => preset(stage.name, stage.from, stage.to))}
          {distinct.length > 6 && (
            <select
              aria-label="A stage"
              value=""
              onChange={(event) => {
                const stage = distinct[Number((event.currentTarget as HTMLSelectElement).value)];
                if (stage) app.chooseSeconds(stage.from / 1e6, stage.to / 1e6);
              }}
            >
              <option value="">A stage …</option>
              {distinct.map((stage, index) => (
                <option key={index} value={index}>
                  {stage.name}
                </option>
              ))}
            </select>
          )}
        </div>
      </div>
      <div class="strip-body" ref={box} onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={up} onDblClick={() => app.choose(null)}>
        <canvas ref={canvas} role="img" aria-label={`${word} per second over the whole run, failures in front; most ${perSecond(series.counts.reduce((a, b) => Math.max(a, b), 0) / width1)}`} style={{ height: `${HEIGHT}px` }} />
        {distinct.slice(0, 60).map((stage) => (
          <i key={`${stage.name}${stage.from}`} class={`mark-stage ${stage.ramp ? 'ramp' : ''}`} style={{ left: `${part(stage.from / 1e6)}%`, width: `${part(stage.to / 1e6) - part(stage.from / 1e6)}%` }} title={stage.name} />
        ))}
        {run.events.slice(0, 200).map((event, index) => (
          <i key={index} class={`mark-event ${event.kind}`} style={{ left: `${part(event.at / 1e6)}%` }} title={`${clock(event.at / 1e6)} ${event.text}`} />
        ))}
        <i class="veil" style={{ left: 0, width: `${part(start)}%` }} />
        <i class="veil" style={{ left: `${part(stop)}%`, right: 0 }} />
        {(['from', 'to'] as const).map((which) => (
          <span
            key={which}
            class={`handle ${which}`}
            role="slider"
            tabIndex={0}
            aria-label={which === 'from' ? 'Begin of the stretch' : 'End of the stretch'}
            aria-valuemin={0}
            aria-valuemax={Math.round(end * 1000) / 1000}
            aria-valuenow={Math.round((which === 'from' ? start : stop) * 1000) / 1000}
            aria-valuetext={clock(which === 'from' ? start : stop)}
            style={{ left: `${part(which === 'from' ? start : stop)}%` }}
            onKeyDown={slide(which)}
            onPointerDown={pull(which)}
          />
        ))}
      </div>
      <div class="strip-axis" aria-hidden="true">
        {marks.map((at) => (
          <span key={at} style={{ left: `${part(at)}%` }}>
            <b>{timeLabel(at, step)}</b>
            <em>{local(facts.started, at, facts.timezone)}</em>
          </span>
        ))}
      </div>
    </section>
  );
}
