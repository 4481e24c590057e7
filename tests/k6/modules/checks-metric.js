// Samples of the metric `checks` that a script adds itself, as k6-utils does, are checks
import { Rate } from 'k6/metrics';
import exec from 'k6/execution';
import { check, group } from 'k6';
const results = new Rate('checks');
async function checked(value, sets, tags) {
  for (const [name, predicate] of Object.entries(sets)) results.add(await predicate(await value), { ...tags, check: name });
}
export default async function () {
  await checked(Promise.resolve(1), { later: async (value) => value === 1, fails: async () => false }, { more: 'tags' });
  results.add(true);
  group('a group', () => {
    results.add(1, { check: 'added in a group' });
    check(1, { 'added in a group': (value) => value === 2 });
    results.add(1, { check: 'elsewhere', group: '::x::y' });
  });
  exec.vu.metrics.tags.check = 'of the VU';
  results.add(1);
}
const told = ({ name, groups, checks }) => ({ name, checks: checks.map((one) => [one.name, one.path, one.passes, one.fails].join()), groups: groups.map(told) });
export function handleSummary(data) {
  const { passes, fails } = data.metrics.checks.values;
  return { stdout: `${JSON.stringify(told(data.root_group), null, 1)}\n${passes} ${fails}\n` };
}
