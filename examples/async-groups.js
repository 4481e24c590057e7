// Async functions in groups and checks, which k6 refuses: the group lasts over every `await` inside.
import http from 'k6/http';
import { check, group } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  iterations: 2,
  // The samples of a group are those made in it, also after an `await`.
  thresholds: { 'http_reqs{group:::shop::basket}': ['count==4'], checks: ['rate==1'] },
};

export default async function () {
  await group('shop', async () => {
    const page = await http.asyncRequest('GET', `${base}/html`);
    await check(page, {
      'the page is there': (r) => r.status === 200,
      'what it shows is there, too': async () => (await http.asyncRequest('GET', `${base}/json`)).status === 200,
    });
    await group('basket', async () => {
      const both = await Promise.all([1, 2].map((id) => http.asyncRequest('GET', `${base}/anything/${id}`)));
      check(both, { 'both are there': (list) => list.every((r) => r.status === 200) });
    });
  });
}
