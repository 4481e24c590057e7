/** The page: its sections in their order, and the list of them that follows the scroll. */

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Config } from '../data/model.js';
import { type App, type Stretch, subject, useApp } from './app.js';
import { LiveBar } from './live.js';
import { Section } from './section.js';
import { Agents } from './sections/agents.js';
import { CapacityFound } from './sections/capacity.js';
import { Failures } from './sections/failures.js';
import { Generator } from './sections/generator.js';
import { BUILTIN, Custom, Groups, Scenarios } from './sections/groups.js';
import { Figures, Head } from './sections/head.js';
import { Latency } from './sections/latency.js';
import { Load } from './sections/load.js';
import { Requests } from './sections/requests.js';
import { Responses } from './sections/responses.js';
import { Scatter } from './sections/scatter.js';
import { Source } from './sections/source.js';
import { Checks, Thresholds } from './sections/thresholds.js';
import { Strip } from './strip.js';

interface Entry {
  id: string;
  title: string;
  draw: (stretch: Stretch) => JSX.Element | null;
}

/** The sections that this run has. An attack has no scenarios, so that what only scenarios have is left out. */
function entries(app: App): Entry[] {
  const { run } = app;
  const { facts } = run;
  const attack = facts.run.kind === 'attack';
  const custom = run.metrics.some((metric) => (metric.family ?? 'metric') === 'metric' && !BUILTIN.test(metric.name));
  const grouped = facts.groups.length > 0 || run.of('group_duration').length > 0;
  const list: (Entry & { is?: boolean })[] = [
    {
      id: 'capacity',
      title: 'Capacity',
      is: !!facts.capacity,
      draw: () => <>{facts.capacity && <CapacityFound capacity={facts.capacity} />}</>,
    },
    {
      id: 'thresholds',
      title: attack ? 'Thresholds' : 'Thresholds and checks',
      is: !attack || facts.thresholds.length > 0,
      draw: (stretch) => (
        <>
          <Thresholds app={app} stretch={stretch} />
          {!attack && <h3>Checks</h3>}
          <Checks app={app} stretch={stretch} />
        </>
      ),
    },
    { id: 'load', title: 'Load', is: !attack || run.metrics.some((metric) => metric.family === 'load' && metric.name !== 'load.requests_started'), draw: (stretch) => <Load app={app} stretch={stretch} /> },
    { id: 'responses', title: 'Responses', draw: (stretch) => <Responses app={app} stretch={stretch} /> },
    { id: 'latency', title: 'Latency', draw: (stretch) => <Latency app={app} stretch={stretch} /> },
    { id: 'requests', title: subject(run).http ? 'Requests' : subject(run).duration === 'sql_duration' ? 'Statements' : 'Iterations', draw: (stretch) => <Requests app={app} stretch={stretch} /> },
    { id: 'knee', title: 'Latency against load', draw: (stretch) => <Scatter app={app} stretch={stretch} /> },
    { id: 'failures', title: 'Failures', draw: (stretch) => <Failures app={app} stretch={stretch} /> },
    { id: 'groups', title: 'Groups and scenarios', is: !attack || grouped, draw: (stretch) => (
        <>
          <h3>Groups</h3>
          <Groups app={app} stretch={stretch} />
          {facts.scenarios.length > 0 && <h3>Scenarios</h3>}
          <Scenarios app={app} stretch={stretch} />
        </>
      ) },
    { id: 'metrics', title: 'Custom metrics', is: !attack || custom, draw: (stretch) => <Custom app={app} stretch={stretch} /> },
    { id: 'agents', title: 'Agents', is: (facts.agents?.length ?? 0) > 0, draw: () => <Agents app={app} /> },
    { id: 'generator', title: 'Generator', is: !attack || run.metrics.some((metric) => metric.family === 'health') || (facts.verdict.findings?.length ?? 0) > 0, draw: (stretch) => <Generator app={app} stretch={stretch} /> },
    { id: 'source', title: attack ? 'Settings' : 'Options and script', draw: (stretch) => <Source app={app} stretch={stretch} /> },
  ];
  return list.filter((entry) => entry.is !== false);
}

export function Page({ app, config }: { app: App; config: Config }) {
  useApp(app);
  const list = entries(app);
  return (
    <>
      <a class="skip" href="#thresholds" onClick={(event) => go(event, list[0]?.id ?? 'source')}>
        Skip to the results
      </a>
      <Nav list={list} title={app.run.facts.run.kind === 'attack' ? 'Attack' : 'Run'} />
      <main>
        {config.mode === 'live' && config.live && <LiveBar app={app} config={config.live} />}
        <Head app={app} />
        <Section app={app} id="figures" title="Figures" draw={(stretch) => <Figures app={app} stretch={stretch} />} />
        <Strip app={app} />
        {list.map(({ id, title, draw }) => (
          <Section key={id} app={app} id={id} title={title} draw={draw} />
        ))}
        <footer>
          Made by Brunt {app.run.facts.run.brunt ?? ''}. This page is one file; it computes its numbers itself and asks nobody for anything. Times of slices are those of responses.
        </footer>
      </main>
    </>
  );
}

function go(event: Event, id: string): void {
  event.preventDefault();
  const element = document.getElementById(id);
  element?.scrollIntoView({ block: 'start' });
  element?.focus({ preventScroll: true });
}

function Nav({ list, title }: { list: Entry[]; title: string }) {
  const [current, setCurrent] = useState('');
  const ids = list.map((entry) => entry.id).join();
  useEffect(() => {
    let planned = 0;
    const look = () => {
      planned = 0;
      const line = 160;
      let found = '';
      for (const { id } of list) {
        const element = document.getElementById(id);
        if (element && element.getBoundingClientRect().top <= line) found = id;
      }
      if (window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 4) found = list[list.length - 1]?.id ?? found;
      setCurrent(found);
    };
    const plan = () => {
      if (planned === 0) planned = requestAnimationFrame(look);
    };
    look();
    addEventListener('scroll', plan, { passive: true });
    return () => removeEventListener('scroll', plan);
  }, [ids]);
  return (
    <nav aria-label="Sections">
      <p class="brand">
        Brunt <span>{title}</span>
      </p>
      <ol>
        {list.map(({ id, title }) => (
          <li key={id}>
            <a href={`#${id}`} {...(current === id ? { 'aria-current': 'true' as const } : {})} onClick={(event) => go(event, id)}>
              {title}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
