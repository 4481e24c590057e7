
import { check as checkNow } from 'k6';

/** The `check` of k6, for whose values and functions promises will do. If there is one, a promise comes back. */
export function check(...given) {
  const [value, checks, tags] = given.length < 2 ? [undefined, given[0]] : given;
  let passed = true;
  const waiting = [];
  for (const [name, checker] of Object.entries(checks)) {
    const report = (result) => {
      if (!checkNow(value, { [name]: !!result }, tags || {})) passed = false;
    };
    const result = typeof checker === 'function' ? checker(value) : checker;
    if (result && typeof result.then === 'function') waiting.push(result.then(report));
    else report(result);
  }
  return waiting.length > 0 ? Promise.all(waiting).then(() => passed) : passed;
}
