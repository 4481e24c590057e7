// TypeScript runs as it is; types are taken out, nothing is checked.

import http, { type RefinedResponse } from 'k6/http';
import { check } from 'k6';
import type { Options } from 'k6/options';

interface Item {
  id: number;
  name: string;
  price: number;
}

enum Step {
  List = 'list',
  Show = 'show',
}

const base: string = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options: Options = {
  vus: 2,
  iterations: 6,
  thresholds: { checks: ['rate==1'] },
};

function get<T>(path: string, step: Step): T {
  const res: RefinedResponse<'text'> = http.get(`${base}${path}`, { tags: { step } });
  check(res, { 'status is 200': (r) => r.status === 200 });
  return res.json() as unknown as T;
}

export default function (): void {
  const { items } = get<{ items: Item[] }>('/json?n=4', Step.List);
  const dearest = items.reduce((a, b) => (a.price > b.price ? a : b));
  const told = get<{ args: { id?: string } }>(`/anything?id=${dearest.id}`, Step.Show);
  check(told, { 'the dearest was shown': (t) => t.args.id === String(dearest!.id) });
}
