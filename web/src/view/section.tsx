/** A section of the page: it draws itself at once while it is in sight, and otherwise when there is time. */

import type { ComponentChildren, JSX } from 'preact';
import { useErrorBoundary, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { App, Stretch } from './app.js';

/** Sections that wait for a moment without work. */
const waiting: (() => void)[] = [];
let planned = 0;
/** Nothing that is out of sight is drawn until so many milliseconds after the last change: a drag changes often. */
const REST = 120;

/** Whether what was in sight at first has been painted: nothing else is drawn before. */
let painted = false;

function next(): void {
  waiting.shift()?.();
  // A frame may come in between.
  if (waiting.length > 0) planned = window.setTimeout(next, 5);
}

function later(work: (() => void) | null, rest: number): void {
  if (work) waiting.push(work);
  clearTimeout(planned);
  if (painted) planned = window.setTimeout(next, rest);
  else {
    // A window that nobody sees paints nothing, and does not wait for it.
    planned = window.setTimeout(next, 500);
    requestAnimationFrame(() =>
      setTimeout(() => {
        if (painted) return;
        painted = true;
        later(null, rest);
      }, 0),
    );
  }
}

/** Draws everything that still waits: before printing. */
export function drawAll(): void {
  for (const work of waiting.splice(0)) work();
}

interface Props {
  app: App;
  id: string;
  title: string;
  note?: ComponentChildren;
  draw: (stretch: Stretch) => JSX.Element | null;
}

export function Section({ app, id, title, note, draw }: Props) {
  const ref = useRef<HTMLElement>(null);
  const [stretch, set] = useState<Stretch | null>(null);
  const [error] = useErrorBoundary();
  const stretched = useRef(false);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    let queued = false;
    const update = () => {
      queued = false;
      if (element.isConnected) {
        stretched.current = true;
        set({ ...app.stretch });
      }
    };
    const inSight = () => {
      const { top, bottom } = element.getBoundingClientRect();
      return bottom > -100 && top < window.innerHeight + 100;
    };
    const plan = () => {
      if (inSight()) update();
      else {
        later(queued ? null : () => queued && update(), stretched.current ? REST : 20);
        queued = true;
      }
    };
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting) && queued) update();
      },
      { rootMargin: '100px' },
    );
    observer.observe(element);
    plan();
    const stop = app.listen(plan);
    return () => {
      stop();
      observer.disconnect();
    };
  }, [app]);
  // Only what changes the stretch (or what it stands for) draws the section anew.
  const drawn = useMemo(() => (stretch && !error ? draw(stretch) : null), [stretch, error]);
  let inside: ComponentChildren = <p class="empty">Adding up …</p>;
  if (error) inside = <p class="empty">This section could not be drawn: {error instanceof Error ? error.message : String(error)}. The other sections are not touched.</p>;
  else if (stretch) inside = drawn ?? <p class="empty">There is nothing to show.</p>;
  return (
    <section id={id} ref={ref} class={stretch ? '' : 'undrawn'} data-stretch={stretch ? `${stretch.from}-${stretch.to}` : ''} aria-labelledby={`${id}-title`} tabIndex={-1}>
      <h2 id={`${id}-title`}>{title}</h2>
      {note && <p class="note">{note}</p>}
      {inside}
    </section>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** A number with its full precision for those who hover or copy. */
export function Num({ value, text, tone }: { value: number | null | undefined; text: (value: number) => string; tone?: string | undefined }) {
  if (value === null || value === undefined || Number.isNaN(value)) return <span class="num none">–</span>;
  return (
    <data class={`num ${tone ?? ''}`} value={String(value)} title={String(value)}>
      {text(value)}
    </data>
  );
}

/** Why there is nothing of a kind, in the words of this run. */
export function why(app: App, what: string): string {
  const { run } = app;
  const { state, kind } = run.facts.run;
  const test = kind === 'attack' ? 'attack' : 'test';
  if (run.slices === 0 || run.facts.time.end === 0) {
    if (state === 'running') return `The ${test} has just begun: there are no ${what} yet.`;
    if (state === 'died') return `The ${test} died before it measured any ${what}.`;
    return `The ${test} ended before it measured any ${what}.`;
  }
  if (!app.whole) return `There are no ${what} in the selected stretch of time.`;
  if (state === 'running') return `There are no ${what} so far.`;
  if (state === 'died') return `There are no ${what}; the ${test} died.`;
  return `This ${test} had no ${what}.`;
}
