// 168: a summary that throws is told, and does not change the exit code
// unprinted
export default function () {}
export function handleSummary() { throw new Error('in summary'); }
