// 17: __ITER is there in iterations only
console.log(typeof __ITER);
export function setup() { console.log('setup', typeof __ITER); }
export default function () { console.log(typeof __ITER, __ITER); }
export function teardown() { console.log('teardown', typeof __ITER); }
