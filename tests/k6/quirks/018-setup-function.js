// 18: a function in setup data ends the run
export function setup() { return { a() {} }; }
export default function () { console.log('never'); }
