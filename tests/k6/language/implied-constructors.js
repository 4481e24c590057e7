// An implied constructor is in no trace, and functions that capture traces elsewhere are missing.
class Plain extends Error {}
class Named extends Plain { constructor(message) { super(message); this.name = 'Named'; } }
class Captured extends Error { constructor(message) { super(message); if (Error.captureStackTrace) Error.captureStackTrace(this, Captured); } }
class Base { constructor() { this.stack = new Error('in a base').stack; } }
class Deeper extends Base {}
class Deepest extends Deeper {}
const shown = (stack) => stack.split('\n').map((line) => line.trim().replace(/\(\d+\)(\)?)$/, '$1')).join(' | ');
function make(Type) { return new Type('made'); }
export const options = { iterations: 3 };
export default function () {
  if (__ITER === 0) console.log(typeof Error.captureStackTrace, typeof Error.stackTraceLimit, shown(make(Plain).stack), shown(make(Deepest).stack));
  throw make([Plain, Named, Captured][__ITER]);
}
