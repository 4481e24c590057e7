/** Plots: uPlot in a frame that has a name, a legend of buttons, and drags that choose a stretch of time. */

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { everyOf, grouped, type Pool } from '../data/pool.js';
import type { App } from './app.js';
import { clock, length, local } from './format.js';

export interface Line {
  name: string;
  /** A value a slice; NaN = none. */
  values?: ArrayLike<number>;
  /** The values of so many slices at a time, if their mean is not what is wanted; those of the stretch are enough. */
  grouped?: (every: number, from: number, to: number) => ArrayLike<number>;
  /** Groups of slices show their greatest value. */
  most?: boolean;
  /** A variable of the style: --c-ok. */
  color: string;
  dash?: number[];
  /** Filled down to the axis, or to the line below in a stack. */
  fill?: boolean;
  width?: number;
  /** On the axis at the right. */
  right?: boolean;
  hidden?: boolean;
}

interface Props {
  app: App;
  from: number;
  to: number;
  version: number;
  label: string;
  lines: Line[];
  format: (value: number) => string;
  rightFormat?: (value: number) => string;
  unit: string;
  rightUnit?: string;
  height?: number;
  log?: boolean;
  stacked?: boolean;
  limit?: number | null;
  /** Least upper end of the axis. */
  ceiling?: number;
  /** The title, if the label says too much beside what is around it. */
  title?: string;
}

/** Colours of the style as they are now: asking the browser each time is slow. */
const colours = new Map<string, string>();

export function color(name: string): string {
  let found = colours.get(name);
  if (found === undefined) {
    found = getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888';
    colours.set(name, found);
  }
  return found;
}

/** Everything that must be drawn anew when the colours change. */
export const repaint = new Set<() => void>();

/** The colours have changed: light or dark, or paper. */
export function recolour(): void {
  colours.clear();
  for (const draw of repaint) draw();
}

const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

/** Marks of a time axis: never two with the same text. */
export function timeLabel(seconds: number, step: number): string {
  if (step >= 3600 && seconds > 0) return `${Math.round(seconds / 3600)} h`;
  return step < 1 ? `${Number(seconds.toFixed(2))} s` : clock(seconds);
}

export function axisFont(): string {
  return `11px ${getComputedStyle(document.body).fontFamily}`;
}

export const axis = (more: Partial<uPlot.Axis>): uPlot.Axis => ({
  stroke: () => color('--dim'),
  grid: { stroke: () => color('--grid'), width: 1 },
  ticks: { stroke: () => color('--grid'), width: 1, size: 4 },
  font: axisFont(),
  labelFont: axisFont(),
  labelSize: 16,
  gap: 4,
  ...more,
});

/** A width that follows the element's. */
export function useWidth(): [{ current: HTMLDivElement | null }, number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, set] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () => set(Math.floor(element.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

/** Room that a vertical axis needs for its texts. */
export const axisSize: uPlot.Axis.Size = (_u, values, _index, cycle) => {
  if (cycle > 1 || !values) return 52;
  const longest = values.reduce((most, text) => Math.max(most, text?.length ?? 0), 0);
  return Math.max(36, 12 + longest * 6.2);
};

export function TimePlot(props: Props) {
  const { app, lines, label, unit, height = 180 } = props;
  const [box, width] = useWidth();
  const plot = useRef<uPlot | null>(null);
  const legend = useRef<(HTMLElement | null)[]>([]);
  const readout = useRef<HTMLSpanElement>(null);
  const [off, setOff] = useState<Record<string, boolean>>({});
  const isOff = (line: Line) => off[line.name] ?? line.hidden ?? false;
  const shown = lines.map((line) => !isOff(line));
  const latest = useRef(props);
  latest.current = props;

  const every = everyOf(props.to - props.from);
  const { slices } = app.run;
  // Lines of percentiles know the groups of the stretch; means are quick, and are those of the whole run.
  const partial = lines.some((line) => line.grouped);
  const values = useMemo(
    () => lines.map((line) => (line.grouped ? line.grouped(every, props.from, props.to) : grouped(line.values ?? [], slices, every, line.most))),
    [lines, every, slices, props.version, partial && props.from, partial && props.to],
  );
  const points = useRef(values);
  points.current = values;
  const data = useMemo(() => {
    const { run } = app;
    const n = Math.ceil(slices / every);
    const x = new Float64Array(n);
    for (let i = 0; i < n; i++) x[i] = (run.border(i * every) + run.border(Math.min((i + 1) * every, slices))) / 2;
    const columns: (number | null)[][] = [];
    const base = new Float64Array(n);
    lines.forEach((line, index) => {
      const column = new Array<number | null>(n);
      for (let i = 0; i < n; i++) {
        let value = values[index]![i] ?? Number.NaN;
        if (props.stacked && !line.right) {
          if (!shown[index]) value = Number.NaN;
          else if (!Number.isNaN(value)) {
            base[i]! += value;
            value = base[i]!;
          }
        }
        column[i] = Number.isNaN(value) || !Number.isFinite(value) || (props.log && value <= 0) ? null : value;
      }
      columns.push(column);
    });
    return [x, ...columns] as unknown as uPlot.AlignedData;
  }, [app, slices, every, values, props.version, props.log, props.stacked, lines, shown.join()]);

  const shape = `${lines.map((line) => `${line.name}|${line.color}|${line.dash}|${line.fill}|${line.right}`).join('\n')}\n${props.log}${props.stacked}${props.unit}`;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || width === 0) return;
    const bands: uPlot.Band[] = [];
    if (props.stacked) {
      const stack = lines.map((line, index) => (line.right ? -1 : index)).filter((index) => index >= 0);
      for (let i = stack.length - 1; i > 0; i--) bands.push({ series: [stack[i]! + 1, stack[i - 1]! + 1], fill: () => alpha(color(lines[stack[i]!]!.color), 0.35) });
    }
    const view = new uPlot(
      {
        width,
        height,
        padding: [10, lines.some((line) => line.right) ? 4 : 26, 0, 0],
        legend: { show: false },
        cursor: {
          sync: { key: 'time' },
          drag: { x: true, y: false, setScale: false },
          points: { size: 6 },
          focus: { prox: -1 },
        },
        select: { show: true, left: 0, top: 0, width: 0, height: 0 },
        scales: {
          x: { time: false, range: () => window_(latest.current) },
          y: props.log
            ? { distr: 3, log: 10, range: (_u, min, max) => logRange(min, max) }
            : { range: (_u, _min, max) => [0, (Math.max(max ?? 0, latest.current.limit ?? 0, latest.current.ceiling ?? 0) || 1) * 1.06] },
          right: { range: (_u, _min, max) => [0, (max ?? 0) > 0 ? max * 1.06 : 1] },
        },
        series: [
          {},
          ...lines.map((line, index): uPlot.Series => ({
            scale: line.right ? 'right' : 'y',
            stroke: () => color(line.color),
            width: line.width ?? 1.5,
            show: shown[index]!,
            ...(line.dash ? { dash: line.dash } : {}),
            ...(line.fill && (!props.stacked || index === 0) ? { fill: () => alpha(color(line.color), props.stacked ? 0.35 : 0.14) } : {}),
            points: { show: slices / every < 40, size: 5 },
            spanGaps: false,
          })),
        ],
        bands,
        axes: [
          axis({ incrs: STEPS, space: 64, size: 26, values: (_u, splits, _a, _s, step) => splits.map((at) => timeLabel(at, step)) }),
          axis({
            scale: 'y',
            size: axisSize,
            space: 32,
            values: (_u, splits) => splits.map((value) => (value === null ? '' : latest.current.format(value))),
            ...(props.log ? { splits: logSplits, filter: everyMark } : {}),
          }),
          ...(lines.some((line) => line.right)
            ? [axis({ scale: 'right', side: 1, size: axisSize, space: 32, grid: { show: false }, values: (u: uPlot, splits: number[]) => splits.map((value) => (u.series.some((one) => one.scale === 'right' && one.show) ? (latest.current.rightFormat ?? latest.current.format)(value) : '')) })]
            : []),
        ],
        hooks: {
          draw: [
            (u) => {
              const { limit } = latest.current;
              if (limit === null || limit === undefined) return;
              const y = u.valToPos(limit, 'y', true);
              if (y < u.bbox.top || y > u.bbox.top + u.bbox.height) return;
              u.ctx.save();
              u.ctx.strokeStyle = color('--c-fail');
              u.ctx.setLineDash([6, 4]);
              u.ctx.lineWidth = 1.5 * devicePixelRatio;
              u.ctx.beginPath();
              u.ctx.moveTo(u.bbox.left, y);
              u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
              u.ctx.stroke();
              u.ctx.restore();
            },
          ],
          setSelect: [
            (u) => {
              if (u.select.width < 4) return;
              const from = u.posToVal(u.select.left, 'x');
              const to = u.posToVal(u.select.left + u.select.width, 'x');
              u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              app.chooseSeconds(from, to);
            },
          ],
          setCursor: [
            (u) => {
              const at = u.cursor.idx;
              const { lines: now, format, rightFormat, app: owner } = latest.current;
              const here = at !== null && at !== undefined && (u.cursor.left ?? -1) >= 0;
              now.forEach((line, index) => {
                const cell = legend.current[index];
                if (!cell) return;
                const value = here ? (points.current[index]?.[at] ?? Number.NaN) : Number.NaN;
                cell.textContent = here ? (Number.isNaN(value) ? '–' : (line.right ? (rightFormat ?? format) : format)(value)) : '';
              });
              if (readout.current) {
                const { run, time } = owner.run.facts;
                const { from, to } = latest.current;
                const start = here ? owner.run.border(at * everyOf(to - from)) : 0;
                readout.current.textContent = here ? `${timeLabel(start, time.width / 1000)} · ${local(run.started, start, run.timezone)}` : '';
              }
            },
          ],
        },
      },
      data,
      element,
    );
    view.over.addEventListener('dblclick', () => app.choose(null));
    plot.current = view;
    const redraw = () => view.redraw(false, true);
    repaint.add(redraw);
    return () => {
      repaint.delete(redraw);
      view.destroy();
      plot.current = null;
    };
  }, [shape, width > 0, height]);

  useLayoutEffect(() => {
    const view = plot.current;
    if (!view || width === 0) return;
    if (view.width !== width) view.setSize({ width, height });
  }, [width, height]);

  useLayoutEffect(() => {
    const view = plot.current;
    if (!view) return;
    view.batch(() => {
      lines.forEach((_, index) => {
        if (view.series[index + 1]?.show !== shown[index]) view.setSeries(index + 1, { show: shown[index]! });
      });
      view.setData(data, true);
    });
  }, [data, props.from, props.to, props.limit, shown.join()]);

  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">
          {props.title ?? label} <span class="unit">{[unit, every > 1 ? `steps of ${length((app.run.facts.time.width * every) / 1000)}` : ''].filter(Boolean).join(', ')}</span>
        </span>
        <span class="legend">
          {lines.map((line, index) => (
            <button type="button" key={line.name} class="key" aria-pressed={!isOff(line)} onClick={() => setOff({ ...off, [line.name]: !isOff(line) })}>
              <Swatch line={line} />
              {line.name}
              <span
                class="at"
                ref={(element) => {
                  legend.current[index] = element;
                }}
              />
            </button>
          ))}
          <span class="readout" ref={readout} />
        </span>
      </figcaption>
      <div class="canvas" ref={box} role="img" aria-label={describe(props, values, every)} style={{ minHeight: `${height}px` }} />
    </figure>
  );
}

function Swatch({ line }: { line: Line }) {
  return (
    <svg class="swatch" viewBox="0 0 18 8" aria-hidden="true">
      {line.fill && <rect x="0" y="1" width="18" height="7" fill={`var(${line.color})`} opacity="0.3" />}
      <line x1="0" y1={line.fill ? 1 : 4} x2="18" y2={line.fill ? 1 : 4} stroke={`var(${line.color})`} stroke-width="2" stroke-dasharray={line.dash?.map((d) => d / 1.5).join(' ')} />
    </svg>
  );
}

/** The picture in words, for those who do not see it. */
function describe({ app, label, lines, from, to, format, rightFormat }: Props, values: ArrayLike<number>[], every: number): string {
  const words = lines.slice(0, 8).flatMap((line, index) => {
    let [least, most, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
    for (let i = Math.floor(from / every); i < to / every; i++) {
      const value = values[index]![i] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
      last = value;
    }
    const tell = line.right ? (rightFormat ?? format) : format;
    return Number.isNaN(last) ? [] : [`${line.name}: ${tell(least)} to ${tell(most)}, at the end ${tell(last)}`];
  });
  return `${label} over time, ${clock(app.run.border(from))} to ${clock(app.run.border(to))}. ${words.join('. ') || 'No values.'}`;
}

function window_({ app, from, to }: Props): [number, number] {
  const [start, end] = [app.run.border(from), app.run.border(to)];
  return end > start ? [start, end] : [start, start + 1];
}

export function logRange(min: number | null, max: number | null): [number, number] {
  const low = Math.max(min ?? 0.1, 1e-6);
  const high = Math.max(max ?? 1, low * 2);
  return [low / 1.3, high * 1.3];
}

/** uPlot would leave marks of a log axis out that it did not make. */
export const everyMark: uPlot.Axis.Filter = (_u, splits) => splits;

/** Marks of a log axis: decades always, parts of them where there is room. */
export const logSplits = (u: uPlot, _index: number, low: number, high: number): number[] => {
  if (!(low > 0) || !(high > low)) return [];
  const room = (u.height - 40) / Math.log10(high / low);
  const parts = room > 190 ? [1, 2, 3, 5, 7] : room > 110 ? [1, 2, 5] : room > 60 ? [1, 3] : [1];
  const marks: number[] = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade++) {
    for (const part of parts) {
      const mark = Number(`${part}e${decade}`);
      if (mark >= low && mark <= high) marks.push(mark);
    }
  }
  return marks;
};

export function alpha(colour: string, part: number): string {
  const match = /^#([0-9a-f]{6})$/i.exec(colour);
  return match ? `${colour}${Math.round(part * 255).toString(16).padStart(2, '0')}` : colour;
}

/** A plot whose x is not time: made anew for each change, it has few points. */
export function FreePlot({ label, title, unit, make, height = 220, stale }: { label: string; title: string; unit?: string; make: (width: number, height: number) => { options: uPlot.Options; data: uPlot.AlignedData } | null; height?: number; stale: unknown[] }) {
  const [box, width] = useWidth();
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || width === 0) return;
    const made = make(width, height);
    if (!made) return;
    const view = new uPlot({ legend: { show: false }, cursor: { drag: { x: false, y: false } }, ...made.options, width, height }, made.data, element);
    const redraw = () => view.redraw(false, true);
    repaint.add(redraw);
    return () => {
      repaint.delete(redraw);
      view.destroy();
    };
  }, [width, height, ...stale]);
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">
          {title} {unit && <span class="unit">{unit}</span>}
        </span>
      </figcaption>
      <div class="canvas" ref={box} role="img" aria-label={label} style={{ minHeight: `${height}px` }} />
    </figure>
  );
}

/** A line without axes, as high as a line of text. */
export function Spark({ values, from, to, width = 96, height = 22, tone = '--c-ok', limit, label }: { values: ArrayLike<number>; from: number; to: number; width?: number; height?: number; tone?: string; limit?: number | null; label?: string }) {
  const cells = Math.min(to - from, Math.floor(width / 1.5));
  if (cells < 1) return null;
  const points: (number | null)[] = [];
  let most = limit ?? 0;
  for (let cell = 0; cell < cells; cell++) {
    const start = from + Math.floor((cell * (to - from)) / cells);
    const end = Math.max(start + 1, from + Math.floor(((cell + 1) * (to - from)) / cells));
    let [sum, n] = [0, 0];
    for (let i = start; i < end; i++) {
      const value = values[i] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      sum += value;
      n++;
    }
    const value = n === 0 ? null : sum / n;
    points.push(value);
    if (value !== null && value > most) most = value;
  }
  const y = (value: number) => (height - 1.5 - (most > 0 ? value / most : 0) * (height - 3)).toFixed(1);
  let path = '';
  let open = false;
  points.forEach((value, index) => {
    if (value === null) {
      open = false;
      return;
    }
    const x = (cells === 1 ? width / 2 : (index / (cells - 1)) * width).toFixed(1);
    path += `${open ? 'L' : 'M'}${x} ${y(value)}`;
    if (!open && points[index + 1] === undefined) path += 'h1';
    open = true;
  });
  return (
    <svg class="spark" width={width} height={height} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" {...(label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': true })}>
      {limit !== null && limit !== undefined && most > 0 && <line x1="0" x2={width} y1={y(limit)} y2={y(limit)} stroke="var(--c-fail)" stroke-dasharray="3 2" />}
      <path d={path} fill="none" stroke={`var(${tone})`} stroke-width="1.5" vector-effect="non-scaling-stroke" />
    </svg>
  );
}

/** A percentile over time as a spark. */
export function TrendSpark({ pool, percent, from, to, ...more }: { pool: Pool; percent: number; from: number; to: number; width?: number; height?: number }) {
  const every = everyOf(to - from, 60);
  return <Spark values={pool.percentiles([percent], every, from, to)[0]!} from={Math.floor(from / every)} to={Math.ceil(to / every)} {...more} />;
}
