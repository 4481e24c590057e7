// 127: vu.tags itself can't be replaced
import exec from 'k6/execution';
export default function () {
  exec.vu.tags.mine = 'x';
  exec.vu.tags = { other: 'y' };
  console.log(exec.vu.tags.mine, exec.vu.tags.other);
  for (const bad of [null, undefined, {}, [1], () => 1]) { try { exec.vu.tags.bad = bad; } catch (error) { console.log(error.name, error.message); } }
  try { exec.vu.metrics.metadata.bad = {}; } catch (error) { console.log(error.name, error.message); }
}
