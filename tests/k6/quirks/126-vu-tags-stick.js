// 126: tags of the VU stay for its next iterations
import exec from 'k6/execution';
export const options = { iterations: 2 };
export default function () {
  console.log(exec.vu.tags.mine, exec.vu.metrics.tags.mine, 'mine' in exec.vu.tags);
  exec.vu.metrics.tags.mine = 'y';
  exec.vu.tags.n = 5; exec.vu.tags.b = true;
  console.log(exec.vu.tags.mine, typeof exec.vu.tags.n, exec.vu.tags.b);
  for (const bad of [null, undefined, {}, [1]]) { try { exec.vu.tags.bad = bad; console.log('set', exec.vu.tags.bad); } catch (e) { console.log(e.name); } }
  delete exec.vu.tags.n;
  console.log(exec.vu.tags.n);
}
