// Groups give a journey its steps; thresholds can look at one group or one tag alone.

import http from 'k6/http';
import { check, group, sleep } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 3,
  duration: '2s',
  thresholds: {
    'checks{step:catalogue}': ['rate==1'],
    'group_duration{group:::visit::basket}': ['avg<1000'],
    'http_req_duration{group:::visit::catalogue}': ['p(95)<500'],
  },
};

export default function () {
  group('visit', () => {
    const item = group('catalogue', () => {
      const res = http.get(`${base}/json?n=5`);
      check(
        res,
        {
          'status is 200': (r) => r.status === 200,
          'there are five items': (r) => r.json('items').length === 5,
        },
        { step: 'catalogue' },
      );
      return res.json('items.0');
    });

    group('basket', () => {
      const res = http.post(`${base}/anything/basket`, { item: item.id });
      check(res, { 'the item is in the basket': (r) => r.json('form.item') === `${item.id}` });
    });
  });
  sleep(0.2);
}
