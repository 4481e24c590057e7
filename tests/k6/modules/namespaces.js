// Members of a namespace: `default` only if the file exports it.
import * as http from 'k6/http';
import * as k6 from 'k6';
import * as cjs from './lib/exports.js';
import http2, { get } from 'k6/http';
const sorted = (object) => Object.keys(object).sort().join();
console.log(typeof http.default, 'default' in http, typeof k6.default, sorted(k6), typeof http2.get, typeof get);
console.log(sorted(cjs), 'default' in cjs);
let names = [];
for (const name in k6) names.push(name);
console.log(names.sort().join(), Object.values(k6).every((value) => typeof value === 'function'), sorted({ ...k6 }));
export default function () { http.get(`${__ENV.DEMO_URL}/ping`); k6.check(1, { one: (v) => v === 1 }); }
