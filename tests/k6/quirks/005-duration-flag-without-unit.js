// 5: a duration on the command line needs its unit
// flags: --duration 5
export default function () {}
