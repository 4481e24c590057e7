// 20: the keys of setup data are all there, in whatever order
export function setup() { return { z: 1, a: 2, m: { y: 1, b: 2 } }; }
export default function (data) { console.log(Object.keys(data).sort().join(), Object.keys(data.m).sort().join()); }
