// 16: init code runs once for the options, once for each VU, once for setup, teardown and summary
// unordered
export const options = { vus: 2, iterations: 2 };
console.log(`init ${__VU}`);
export function setup() {}
export default function () {}
export function teardown() {}
export function handleSummary() { return {}; }
