// 18: setup may return plain values
export async function setup() { await null; return 'text'; }
export default function (data) { console.log(typeof data, data); }
export function teardown(data) { console.log('teardown', data); }
