// 34: sleep may be called in init code, requests and checks may not
import { sleep, check, group } from 'k6';
import http from 'k6/http';
import { Counter } from 'k6/metrics';
const told = (what, f) => { try { console.log(what, f()); } catch (e) { console.log(what, e.name, typeof e.message); } };
const counter = new Counter('mine');
if (__VU === 0) {
  sleep(0.01);
  told('get', () => http.get('http://127.0.0.1:1/'));
  told('check', () => check(1, { a: true }));
  told('group', () => group('a', () => 1));
  told('add', () => counter.add(1));
}
export default function () {}
