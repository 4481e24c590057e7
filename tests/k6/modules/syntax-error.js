// A syntax error ends the run with 107
export default function () { const a = ; }
