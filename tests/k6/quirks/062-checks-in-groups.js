// 62, 63: checks of one name in two groups stay apart in root_group; failing ones don't fail the run
import { check, group } from 'k6';
export default function () {
  group('one', () => { check(1, { same: true }); group('deep', () => check(1, { inner: false })); });
  group('two', () => check(1, { same: false }));
}
export function handleSummary({ root_group }) {
  const told = (g) => ({
    name: g.name, path: g.path, id: g.id, checks: g.checks.map((c) => [c.name, c.path, c.id, c.passes, c.fails]),
    groups: g.groups.map(told),
  });
  return { stdout: `${JSON.stringify(told(root_group))}\n` };
}
