// 33: globals of a VU live on between iterations
export const options = { iterations: 3 };
let count = 0;
export default function () { count += 1; globalThis.seen = (globalThis.seen || 0) + 2; console.log(count, globalThis.seen); }
