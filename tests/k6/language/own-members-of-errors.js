// Own members of errors, by which scripts print them.
import { fail } from 'k6';
const told = (error) => console.log(Object.getOwnPropertyNames(error).join(), '|', Object.keys(error).join(), '|', JSON.stringify(error), '|', Object.keys(JSON.parse(JSON.stringify(error, Object.getOwnPropertyNames(error)))).join(), '|', error.hasOwnProperty('stack'));
class Mine extends Error { constructor() { super('mine'); this.name = 'Mine'; this.code = 5; } }
function Old(message) { this.message = message; }
Old.prototype = Object.create(Error.prototype);
export default function () {
  told(new Error('plain')); told(new TypeError()); told(new Error('with a cause', { cause: 1 })); told(new Mine()); told(new Old('old')); told(new AggregateError([1], 'many'));
  for (const f of [() => null.x, () => missing, () => JSON.parse('{'), () => fail('failed'), () => { throw new Mine(); }]) { try { f(); } catch (error) { told(error); } }
  const error = new Error('changed');
  console.log(JSON.stringify(Object.getOwnPropertyDescriptor(error, 'stack')).slice(-56), Object.assign({}, error).stack, { ...error });
  error.stack = undefined; console.log(error.stack); error.stack = 5; console.log(error.stack, delete error.stack, error.stack, 'stack' in error);
  console.log(Object.getOwnPropertyNames(Error.prototype).sort().join());
  const kept = new Error('the trace is kept'); kept.stack = 'replaced'; throw kept;
}
