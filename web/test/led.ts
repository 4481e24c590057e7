/** A synthetic test on several machines. */

import { DocumentWriter } from '../src/data/write.js';
import { Dice, trendChunk } from './synthetic.js';

/** A test on several machines: one of them slow, one lost, one busy; or one without an iteration. */
export function led(count: number, empty = false): Uint8Array {
  const writer = new DocumentWriter();
  const seconds = empty ? 5 : 120;
  const dice = new Dice(7);
  const finding = { name: 'cpu-taken-by-others', level: 'invalid', evidence: 'for 18 s (30 % of the time) core 1 waited for a CPU 34 % and timers were up to 41 ms late', advice: 'stop the other programs of this machine' };
  const agents = Array.from({ length: count }, (_, i) => {
    const seat = i + 1;
    const base = {
      seat, segment: `${i}/${count}:${seat}/${count}`, share: 1 / count, host: `load-${String(seat).padStart(3, '0')}.eu-central.example`, agent: `load-${seat}/1`, version: '0.1.0', cores: 4,
      offset_ms: dice.normal() * 3, offset_bound_ms: 0.12, late_ms: empty ? null : 0.4 + dice.roll(), iterations: empty ? 0 : 30_000 + Math.round(dice.normal() * 200), requests: empty ? 0 : 60_000, failed: 0, http_req_duration_p95_ms: empty ? null : 20 + dice.normal(),
      missed: 0, cpu_max: empty ? 0.01 : 0.3 + dice.roll() * 0.1, lateness_p99_ms: empty ? null : 0.2, whole: true, holes: [] as object[], errors: [] as string[], sentence: null as string | null, remarks: [] as string[], outlier: false,
      states: [['seated', -8.2], ['loading', -6], ['ready', -2.1], ['running', 0], ['finished', seconds], ['closed', seconds + 1.1]].map(([state, at_s]) => ({ state, at_s })),
      frames: { sent: seconds + 2, again: 0, coarser: 0, missing: 0 }, verdict: { level: 'ok', findings: [] as object[] } as object | null,
    };
    if (empty) return base;
    if (seat === 2) return { ...base, http_req_duration_p95_ms: 64.2, outlier: true, remarks: ['its p(95) is 3.2 times that of the others'] };
    if (seat === 3) return { ...base, cpu_max: 0.97, missed: 1204, verdict: { level: 'invalid', findings: [finding] }, remarks: ['generator invalid: cpu-taken-by-others', 'its CPUs were busy', '2 different errors'], errors: ['GoError: connection refused <b>here</b>', 'dial: no route to host'] };
    if (seat === 4) return { ...base, iterations: 12_004, requests: 24_008, whole: false, holes: [{ from_s: 47.9, to_s: null, lost: true }], missing_since_s: 47.9, frames: { sent: 49, again: 3, coarser: 0, missing: 1 }, verdict: null, sentence: 'results of seat 4 (load-004.eu-central.example) incomplete: it was lost (74 s without a sign of life); nothing is known of it since 47.9 s after the start; 1 of 49 frames missing', remarks: ['not whole from 47.90s', 'not heard of since 47.90s'], outlier: true };
    return base;
  });
  writer.json({
    time: { width: 1000, slices: seconds, end: seconds * 1e6 },
    run: { name: 'shop', script: 'shop.js', state: empty ? 'finished' : count > 3 ? 'aborted' : 'finished', started: '2026-11-23T14:30:00Z', passed: null, exit: empty ? 0 : 111, reason: empty ? null : 'results of seat 4 incomplete', host: 'leader', brunt: '0.1.0' },
    verdict: empty ? { state: 'trusted', text: '', findings: [] } : { state: 'invalid', text: 'These numbers are not those of the target alone: cpu-taken-by-others.', findings: [{ what: 'cpu taken by others', state: 'invalid', from: 12e6, to: 34e6, much: `1 of ${count} agents: seat 3 (load-003.eu-central.example): ${finding.evidence}`, touches: 'all durations', advice: finding.advice, metrics: [] }] },
    scenarios: [{ name: 'default', executor: 'constant-arrival-rate', from: 0, to: seconds * 1e6, text: '1000 iterations/s' }],
    agents,
    metrics: [{ name: 'iterations', type: 'counter' }, { name: 'iteration_duration', type: 'trend', contains: 'time' }],
    series: [[0, {}], [1, {}]],
  });
  if (empty) return writer.done();
  writer.chunk({ series: 0, type: 'counter', first: 0, columns: [new Array(seconds).fill(1000)] });
  writer.chunk(trendChunk(1, Array.from({ length: seconds }, () => Float64Array.from({ length: 100 }, (_, i) => 5 + i / 10))));
  return writer.done();
}
