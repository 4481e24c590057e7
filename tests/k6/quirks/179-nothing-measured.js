// 179: a run without any iteration still has a summary
// uncounted
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '100ms', exec: 'never', startTime: '0s', gracefulStop: '0s' } } };
export function never() { const end = Date.now() + 10; while (Date.now() < end); }
export function handleSummary(data) { return { stdout: `${typeof data.metrics}\n` }; }
