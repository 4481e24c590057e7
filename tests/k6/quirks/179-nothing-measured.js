// 179: a run without any whole iteration still has a summary
// uncounted
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', exec: 'never', startTime: '0s', gracefulStop: '0s' } } };
export function never() { const end = Date.now() + 60000; while (Date.now() < end); }
export function handleSummary(data) { return { stdout: `${typeof data.metrics}\n` }; }
