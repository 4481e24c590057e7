// 134: every form of import of a module of k6 works
import http from 'k6/http';
import * as all from 'k6/http';
import { get, post as send } from 'k6/http';
import { default as named } from 'k6/http';
import both, { url as template } from 'k6/http';
import k6, { check } from 'k6';
import metrics from 'k6/metrics';
const required = require('k6/http');
console.log(typeof http.get, typeof all.get, typeof get, typeof send, named === http, both === http, typeof template, required === http);
console.log(typeof k6.check, typeof metrics.Counter, typeof require('k6').check, typeof require('k6/metrics').Counter);
export default function () { for (const f of [http.get, all.get, get, named.get, required.get]) console.log(f(`${__ENV.DEMO_URL}/ping`).status); }
