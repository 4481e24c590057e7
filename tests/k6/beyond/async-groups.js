// Async functions in groups: the group and its tag last over every await
import { group, check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const here = () => JSON.stringify(exec.vu.tags.group);
async function helper(name) { await wait(5); console.log(name, here()); }
export const options = { thresholds: { 'http_reqs{group:::outer::inner}': ['count==1'], 'group_duration{group:::outer}': ['min>20'], 'checks{group:::outer}': ['rate==1'] } };
export default async function () {
  const outer = group('outer', async () => {
    console.log('before', here());
    await wait(10);
    console.log('after', here());
    const inner = await group('inner', async () => {
      await helper('helper');
      const r = await http.asyncRequest('GET', `${__ENV.DEMO_URL}/ping`);
      group('sync', () => console.log('sync', here()));
      await null;
      return r.status;
    });
    console.log('inner gave', inner, here());
    check(1, { one: (v) => v === 1 });
    await wait(10);
    return 'result';
  });
  console.log('meanwhile', here());
  await helper('outside');
  console.log(await outer, here());
  try { await group('fails', async () => { await wait(1); throw new Error('inside'); }); } catch (e) { console.log(e.message, here()); }
}
