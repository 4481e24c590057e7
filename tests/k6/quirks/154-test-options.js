// 154: exec.test.options is frozen and complete
// unprinted
import exec from 'k6/execution';
export const options = { vus: 1, iterations: 1, tags: { a: 'b' }, thresholds: { iterations: ['count>0'] } };
export default function () {
  const o = exec.test.options;
  console.log(Object.isFrozen(o), o.rps, o.userAgent, JSON.stringify(o.scenarios.default), JSON.stringify(o.thresholds));
  console.log(Object.keys(o).filter((k) => k !== 'handleSummaryTimeout').sort().join());
  try { o.vus = 5; console.log(o.vus); } catch (e) { console.log(e.name); }
}
