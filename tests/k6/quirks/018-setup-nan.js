// 18: NaN in setup data ends the run
export function setup() { return { a: NaN }; }
export default function () { console.log('never'); }
