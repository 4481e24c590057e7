// 30: a forgotten interval keeps the iteration until the graceful stop
// uncounted
export const options = { scenarios: { a: { executor: 'per-vu-iterations', maxDuration: '1s', gracefulStop: '100ms' } } };
export default function () { setInterval(() => {}, 20); }
