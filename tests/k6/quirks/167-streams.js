// 167: console lines go to stderr, and with --quiet stdout holds the summary alone
import { check } from 'k6';
export default function () {
  console.log('to stderr');
  console.error('to stderr too');
  check(1, { one: (v) => v === 1 });
}
export function handleSummary(data) {
  console.warn('of the summary');
  return { stdout: `${data.metrics.checks.values.passes} passed\n`, stderr: 'no log line\n' };
}
