// 22: a setup that throws ends with 107, without a teardown
export function setup() { throw new Error('in setup'); }
export default function () { console.log('never'); }
export function teardown() { console.log('never'); }
export function handleSummary() { console.log('summary'); return {}; }
