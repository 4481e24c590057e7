// 4: an unknown key in a scenario is an error
export const options = { scenarios: { a: { executor: 'per-vu-iterations', iterationz: 1 } } };
export default function () {}
