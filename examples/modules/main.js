// A script in several files. Paths are relative to the file that imports.

import { check } from 'k6';
import { Shop } from './shop.js';
import { cheapest } from './pick.js';

const shop = new Shop(__ENV.DEMO_URL || 'http://127.0.0.1:8080');

export const options = {
  vus: 2,
  iterations: 6,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const item = cheapest(shop.list(8));
  const order = shop.order(item);
  check(order, { 'the cheapest was ordered': (o) => o.id === `${item.id}` });
}
