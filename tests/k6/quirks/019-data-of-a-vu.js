// 19: each VU has its own copy of the data, teardown the original
export const options = { iterations: 3 };
export function setup() { return { n: 0, list: [] }; }
export default function (data) { data.n += 1; console.log(data.n, data.list.length); }
export function teardown(data) { console.log('teardown', data.n, data.list.length); }
