// 128: vu and iter are metadata
import exec from 'k6/execution';
export const options = { iterations: 2, systemTags: ['vu', 'iter', 'scenario'] };
export default function () {
  const m = exec.vu.metrics.metadata;
  console.log(m.vu, m.iter, 'vu' in exec.vu.tags, exec.vu.tags.scenario);
  m.mine = 'x'; m.n = 5;
  console.log(m.mine, typeof m.n, Object.keys(m).sort().join());
  for (const bad of [null, {}, []]) { try { m.bad = bad; console.log('set'); } catch (e) { console.log(e.name); } }
}
