/** The section of a search for capacity: the limit, and every step as a point of two plots. */

import type uPlot from 'uplot';
import type { Capacity, CapacityStep } from '../../data/model.js';
import { amount, clock, duration, percent, perSecond } from '../format.js';
import { axis, axisSize, color, everyMark, FreePlot, logSplits } from '../plot.js';
import { Empty, Num } from '../section.js';

const WORDS: Record<CapacityStep['outcome'], string> = { held: 'held', broke: 'broke', generator: 'generator', unmeasured: 'no values' };

const TONES: Record<CapacityStep['outcome'], 'good' | 'bad' | 'warn'> = { held: 'good', broke: 'bad', generator: 'warn', unmeasured: 'warn' };

const COLORS: Record<CapacityStep['outcome'], string> = { held: '--c-good', broke: '--c-fail', generator: '--c-warn', unmeasured: '--c-warn' };

/** The steps by their load, those of one load in their order. */
function sorted(steps: CapacityStep[]): CapacityStep[] {
  return [...steps].sort((a, b) => a.load - b.load);
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

/** Part of the answers that failed. */
export function failedShare({ good, failed }: CapacityStep): number {
  return good + failed > 0 ? failed / (good + failed) : 0;
}

export function CapacityFound({ capacity }: { capacity: Capacity }) {
  const steps = sorted(capacity.steps ?? []);
  const vus = capacity.unit === 'VUs';
  const load = (value: number) => (vus ? `${amount(value)} ${value === 1 ? 'VU' : 'VUs'}` : perSecond(value));
  const notes = capacity.notes ?? [];
  return (
    <>
      <p>
        <strong>{sentence(capacity.text)}</strong>
        {typeof capacity.limit === 'number' && typeof capacity.uncertainty === 'number' && (
          <>
            {' '}
            From all steps together the limit is about {load(capacity.limit)}, give or take {percent(capacity.uncertainty)}.
          </>
        )}
      </p>
      {(capacity.goals ?? []).length > 0 && (
        <p class="note">
          Goals: {(capacity.goals ?? []).map((goal, index) => (
            <span key={goal}>
              {index > 0 && ', '}
              <code>{goal}</code>
            </span>
          ))}
        </p>
      )}
      {notes.map((note) => (
        <p class="note" key={note}>
          {sentence(note)}
        </p>
      ))}
      {steps.length === 0 && <Empty>No step of the search came to its end, so there is nothing to draw.</Empty>}
      {steps.length > 0 && (
        <>
          <Steps capacity={capacity} steps={steps} which="latency" load={load} />
          <Steps capacity={capacity} steps={steps} which="good" load={load} />
          <div class="scroll" tabIndex={0} role="region" aria-label="Steps of the search">
            <table>
              <thead>
                <tr>
                  <th scope="col">Load</th>
                  <th scope="col" class="text">Outcome</th>
                  <th scope="col">Good answers/s</th>
                  <th scope="col">Failed</th>
                  <th scope="col">Latency</th>
                  <th scope="col">VUs busy</th>
                  <th scope="col">Measured from</th>
                  <th scope="col" class="text">Why</th>
                </tr>
              </thead>
              <tbody>
                {steps.map((step, index) => (
                  <tr key={index}>
                    <th scope="row">
                      <Num value={step.load} text={load} />
                      {step.load === capacity.held && step.outcome === 'held' && capacity.broke != null && ' ◀ limit'}
                    </th>
                    <td class="text">
                      <span class={`badge ${TONES[step.outcome]}`}>{WORDS[step.outcome] ?? step.outcome}</span>
                    </td>
                    <td>
                      <Num value={step.good} text={amount} />
                    </td>
                    <td>
                      <Num value={failedShare(step)} text={percent} />
                    </td>
                    <td>
                      <Num value={step.latencyMs} text={duration} />
                    </td>
                    <td>
                      <Num value={step.vus} text={amount} />
                    </td>
                    <td>{step.from == null ? '' : clock(step.from)}</td>
                    <td class="text why">
                      {step.reason ?? ''}
                      {step.recovered === false && ' (the system had not become as quick again before it)'}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </>
  );
}

/** A point for each step: its load, and latency or good answers. The limit and the knee are marked. */
function Steps({ capacity, steps, which, load }: { capacity: Capacity; steps: CapacityStep[]; which: 'latency' | 'good'; load: (value: number) => string }) {
  const latency = which === 'latency';
  const y = (step: CapacityStep) => (latency ? (step.latencyMs ?? Number.NaN) : step.good);
  const points = steps.filter((step) => Number.isFinite(y(step)) && (!latency || y(step) > 0));
  if (points.length === 0) return null;
  const marks = [
    { at: capacity.held, text: capacity.broke == null ? 'held' : 'limit', tone: '--c-good', row: 0 },
    { at: capacity.knee, text: 'knee', tone: '--c-fourth', row: 1 },
  ].filter((mark): mark is { at: number; text: string; tone: string; row: number } => typeof mark.at === 'number');
  const make = () => {
    const options: uPlot.Options = {
      width: 0,
      height: 0,
      padding: [12, 20, 0, 0],
      scales: {
        x: { time: false, range: (_u, _min, max) => [0, Math.max(max, 1e-9) * 1.06] },
        y: latency
          ? { distr: 3, log: 10, range: (_u, min, max) => [Math.max(min, 1e-6) / 1.5, Math.max(max, 2e-6) * 1.5] }
          : { range: (_u, _min, max) => [0, Math.max(max, 1e-9) * 1.15] },
      },
      series: [{}, { stroke: color('--c-max'), width: 1, points: { show: false } }],
      axes: [
        axis({ size: 26, space: 64, values: (_u, splits) => splits.map(load) }),
        latency
          ? axis({ size: axisSize, space: 32, splits: logSplits, filter: everyMark, values: (_u, splits) => splits.map((value) => duration(value)) })
          : axis({ size: axisSize, space: 32, values: (_u, splits) => splits.map(perSecond) }),
      ],
      hooks: {
        draw: [
          (u) => {
            const { ctx } = u;
            const scale = devicePixelRatio;
            ctx.save();
            ctx.font = `${11 * scale}px ${getComputedStyle(document.body).fontFamily}`;
            for (const { at, text, tone, row } of marks) {
              const x = u.valToPos(at, 'x', true);
              ctx.strokeStyle = ctx.fillStyle = color(tone);
              ctx.setLineDash([6 * scale, 4 * scale]);
              ctx.lineWidth = 1.5 * scale;
              ctx.beginPath();
              ctx.moveTo(x, u.bbox.top);
              ctx.lineTo(x, u.bbox.top + u.bbox.height);
              ctx.stroke();
              // The two may stand side by side: the name of the lower one is left of both, that of the higher one right, if there is room.
              const isLower = marks.length > 1 ? marks.every((mark) => mark.at >= at) && (marks[0]!.at !== marks[1]!.at || row === 0) : row === 0;
              const isLeft = x > u.bbox.left + u.bbox.width * (isLower ? 0.2 : 0.8);
              ctx.textAlign = isLeft ? 'right' : 'left';
              ctx.fillText(`${text} ${load(at)}`, x + (isLeft ? -6 : 6) * scale, u.bbox.top + (14 + 14 * row) * scale);
            }
            ctx.setLineDash([]);
            for (const step of points) {
              const [x, top] = [u.valToPos(step.load, 'x', true), u.valToPos(y(step), 'y', true)];
              const radius = 4 * scale;
              ctx.fillStyle = ctx.strokeStyle = color(COLORS[step.outcome] ?? '--c-warn');
              ctx.lineWidth = 2 * scale;
              ctx.beginPath();
              if (step.outcome === 'held') {
                ctx.arc(x, top, radius, 0, 7);
                ctx.fill();
              } else {
                // A cross: shapes tell what colours may not.
                ctx.moveTo(x - radius, top - radius);
                ctx.lineTo(x + radius, top + radius);
                ctx.moveTo(x + radius, top - radius);
                ctx.lineTo(x - radius, top + radius);
                ctx.stroke();
              }
            }
            ctx.restore();
          },
        ],
      },
    };
    return { options, data: [points.map((step) => step.load), points.map(y)] as uPlot.AlignedData };
  };
  const told = latency ? duration : perSecond;
  const best = points.reduce((a, b) => (y(b) > y(a) ? b : a));
  return (
    <FreePlot
      title={latency ? 'Latency of each step' : 'Good answers of each step'}
      unit={latency ? 'log scale; a dot held, a cross broke' : `per second${typeof capacity.plateau === 'number' ? `; plateau ${perSecond(capacity.plateau)}` : ''}`}
      label={`${latency ? 'Latency' : 'Good answers per second'} of ${points.length} steps by load. ${typeof capacity.held === 'number' ? `The highest load that held is ${load(capacity.held)}.` : 'No load held.'} The highest value is ${told(y(best))} at ${load(best.load)}.`}
      make={make}
      height={220}
      stale={[steps.length, capacity.held, capacity.knee]}
    />
  );
}
