// Values that no tag can have, wherever tags are given, and values that no metric takes.
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter } from 'k6/metrics';

const counter = new Counter('mine');
const tell = (name, run) => {
  try {
    const told = run();
    console.log(name, told && told.error ? told.error : told);
  } catch (error) {
    console.log(name, error.name, error.message);
  }
};

export default function () {
  tell('tag', () => { exec.vu.tags.a = {}; });
  tell('null', () => { exec.vu.metrics.tags.a = null; });
  tell('metadata', () => { exec.vu.metrics.metadata.a = []; });
  tell('check', () => check(1, { passes: true }, { a: {} }));
  tell('metric', () => counter.add(1, { a: {} }));
  tell('value', () => counter.add('x'));
  tell('request', () => http.get('http://127.0.0.1:1/', { tags: { a: {} } }));
}
