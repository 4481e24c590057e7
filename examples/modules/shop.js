// A module of our own: what several scripts would share.

import http from 'k6/http';
import { check } from 'k6';

export class Shop {
  constructor(base) {
    this.base = base;
  }

  list(count) {
    const res = http.get(`${this.base}/json?n=${count}`, { tags: { name: '/json' } });
    check(res, { 'list: 200': (r) => r.status === 200 });
    return res.json('items');
  }

  order(item) {
    const res = http.post(`${this.base}/anything/orders`, { id: item.id });
    check(res, { 'order: 200': (r) => r.status === 200 });
    return res.json('form');
  }
}
