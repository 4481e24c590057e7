// 14: no default function is needed when every scenario names another
export const options = { scenarios: { a: { executor: 'per-vu-iterations', exec: 'mine' } } };
export function mine() { console.log('mine'); }
