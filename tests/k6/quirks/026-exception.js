// 26: an uncaught exception ends its iteration only
export const options = { iterations: 2 };
function inner() { throw new Error('boom'); }
export default function () { inner(); }
