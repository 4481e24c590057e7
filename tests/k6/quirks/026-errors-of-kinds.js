// 26: exceptions of the language bear their class's name
class Mine extends Error { constructor(m) { super(m); this.name = 'Mine'; } }
export const options = { iterations: 5 };
export default function () {
  switch (__ITER) {
    case 0: throw new TypeError('type');
    case 1: throw new RangeError('range');
    case 2: throw new Mine('own');
    case 3: throw new Error('cause', { cause: new Error('inner') });
    default: throw new Error('');
  }
}
