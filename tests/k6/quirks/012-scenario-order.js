// 12: VUs are numbered by the scenarios' start time and name
export const options = {
  scenarios: {
    c: { executor: 'per-vu-iterations', exec: 'told', env: { NAME: 'c' }, startTime: '400ms' },
    b: { executor: 'per-vu-iterations', exec: 'told', env: { NAME: 'b' }, startTime: '200ms' },
    a: { executor: 'per-vu-iterations', exec: 'told', env: { NAME: 'a' } },
  },
};
export function told() { console.log(__ENV.NAME, __VU); }
