// 14: a function that a scenario names must be there
export const options = { scenarios: { a: { executor: 'per-vu-iterations', exec: 'nope' } } };
export default function () {}
