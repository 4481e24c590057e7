
import { check as checkNow } from 'k6';

/** The `check` of k6 that waits for promises: the value, a check or its result may be one. If there is one, a promise comes back. */
export function check(value, checks, tags) {
  if (value instanceof Promise) return value.then((settled) => check(settled, checks, tags));
  let passed = true;
  const waiting = [];
  for (const [name, checker] of Object.entries(checks)) {
    const report = (result) => {
      if (!checkNow(value, { [name]: !!result }, tags || {})) passed = false;
    };
    const result = typeof checker === 'function' ? checker(value) : checker;
    if (result instanceof Promise) waiting.push(result.then(report));
    else report(result);
  }
  return waiting.length > 0 ? Promise.all(waiting).then(() => passed) : passed;
}
