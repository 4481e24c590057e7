// An exception in init code ends the run with 107
function deep() { throw new TypeError('in init'); }
deep();
export default function () {}
