/** The heat map: time × log latency, a cell darker the more values it has. */

import { useMemo } from 'preact/hooks';
import type uPlot from 'uplot';
import type { Pool } from '../data/pool.js';
import type { App, Stretch } from './app.js';
import { clock } from './format.js';
import { axis, axisSize, color, everyMark, FreePlot, logSplits, timeLabel } from './plot.js';

/** Cells of an octave, on the way from a microsecond to an hour. */
const PER_DECADE = 16;

/** The last colours are for the fullest cells: from the page's ground to its darkest (or brightest) blue. */
export function heatColors(): [number, number, number][] {
  const parse = (text: string) => [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
  const stops = ['--heat-0', '--heat-1', '--heat-2', '--heat-3'].map((name) => parse(color(name)));
  return Array.from({ length: 64 }, (_, i) => {
    const at = (i / 63) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    const [red, green, blue] = stops[low]!.map((value, channel) => Math.round(value + (stops[low + 1]![channel]! - value) * (at - low)));
    return [red!, green!, blue!];
  });
}

export function HeatMap({ app, pool, stretch, tell, height }: { app: App; pool: Pool; stretch: Stretch; tell: (value: number) => string; height: number }) {
  const { run } = app;
  const { from, to, version } = stretch;
  const { borders, cells } = useMemo(() => {
    const whole = pool.totals(0, run.slices);
    const high = Math.log10(Math.max(whole.max, 1e-3));
    const low = Math.max(Math.log10(Math.max(whole.min, 1e-6)), high - 6);
    const first = Math.floor(low * PER_DECADE);
    const cells = Math.max(2, Math.ceil(high * PER_DECADE + 1e-9) - first + 1);
    const borders = new Float64Array(cells + 1);
    for (let i = 0; i <= cells; i++) borders[i] = 10 ** ((first + i) / PER_DECADE);
    return { borders, cells };
  }, [pool, version]);
  const grid = pool.grid(borders, from, to);
  const make = () => {
    const [start, end] = [run.border(from), run.border(to)];
    let [lowest, highest] = [cells - 1, 0];
    for (let slice = from; slice < to; slice++) {
      for (let cell = 0; cell < cells; cell++) {
        if (grid[slice * cells + cell]! > 0) {
          if (cell < lowest) lowest = cell;
          if (cell > highest) highest = cell;
        }
      }
    }
    const options: uPlot.Options = {
      width: 0,
      height: 0,
      padding: [10, 26, 0, 0],
      cursor: { sync: { key: 'time' }, drag: { x: true, y: false, setScale: false }, points: { show: false } },
      scales: {
        x: { time: false, range: () => [start, Math.max(end, start + 1e-3)] },
        y: { distr: 3, log: 10, range: () => [borders[Math.min(lowest, highest)]!, borders[Math.max(highest, lowest) + 1]!] },
      },
      series: [{}, { show: true, stroke: 'transparent', points: { show: false } }],
      axes: [
        axis({ space: 64, size: 26, grid: { show: false }, incrs: [0.01, 0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400], values: (_u, splits, _a, _s, step) => splits.map((at) => timeLabel(at, step)) }),
        axis({ size: axisSize, space: 32, grid: { show: false }, splits: logSplits, filter: everyMark, values: (_u, splits) => splits.map((value) => (tell(value))) }),
      ],
      hooks: {
        drawAxes: [(u) => paint(u)],
        setSelect: [
          (u) => {
            if (u.select.width < 4) return;
            app.chooseSeconds(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'));
          },
        ],
      },
    };
    const paint = (u: uPlot) => {
      const { ctx } = u;
      const colors = heatColors();
      const columns = Math.max(1, Math.min(to - from, Math.floor(u.bbox.width / devicePixelRatio / 3)));
      const sums = new Float64Array(columns * cells);
      let most = 0;
      const starts: number[] = [];
      for (let column = 0; column < columns; column++) {
        const first = from + Math.floor((column * (to - from)) / columns);
        const last = Math.max(first + 1, from + Math.floor(((column + 1) * (to - from)) / columns));
        starts.push(first);
        for (let slice = first; slice < last; slice++) {
          for (let cell = lowest; cell <= highest; cell++) {
            sums[column * cells + cell]! += grid[slice * cells + cell]! / (last - first);
          }
        }
        for (let cell = lowest; cell <= highest; cell++) most = Math.max(most, sums[column * cells + cell]!);
      }
      starts.push(to);
      ctx.save();
      ctx.beginPath();
      ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
      ctx.clip();
      // A column of pixels a column, its cells from above: their heights are equal on the log scale.
      const rows = highest - lowest + 1;
      if (rows < 1) return ctx.restore();
      const picture = new ImageData(1, rows);
      const strip = document.createElement('canvas');
      strip.width = columns;
      strip.height = rows;
      const paper = strip.getContext('2d')!;
      for (let column = 0; column < columns; column++) {
        picture.data.fill(0);
        for (let cell = lowest; cell <= highest; cell++) {
          const value = sums[column * cells + cell]!;
          if (value === 0) continue;
          // The root makes single slow requests visible beside thousands of fast ones.
          const shade = colors[Math.min(63, 8 + Math.floor(Math.sqrt(value / most) * 55))]!;
          picture.data.set([...shade, 255], (highest - cell) * 4);
        }
        paper.putImageData(picture, column, 0);
      }
      ctx.imageSmoothingEnabled = false;
      const [top, bottom] = [u.valToPos(borders[highest + 1]!, 'y', true), u.valToPos(borders[lowest]!, 'y', true)];
      for (let column = 0; column < columns; column++) {
        const x = Math.round(u.valToPos(run.border(starts[column]!), 'x', true));
        const next = Math.round(u.valToPos(run.border(starts[column + 1]!), 'x', true));
        ctx.drawImage(strip, column, 0, 1, rows, x, top, Math.max(1, next - x), bottom - top);
      }
      ctx.restore();
    };
    return { options, data: [[start, end], [null, null]] as uPlot.AlignedData };
  };
  return <FreePlot title="Heat map" unit="darker: more values; log scale" label={`Heat map of response times from ${clock(run.border(from))} to ${clock(run.border(to))}; the same values as in the percentiles over time`} height={height} make={make} stale={[pool, from, to, version]} />;
}
