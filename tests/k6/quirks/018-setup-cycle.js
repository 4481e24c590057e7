// 18: a cycle in setup data ends the run
export function setup() { const a = {}; a.a = a; return a; }
export default function () { console.log('never'); }
