// The first line of a stack is made when it is read for the first time, and stays.
class Named extends Error {
  constructor(message) {
    super(message);
    this.name = 'Named';
  }
}
class Read extends Error {
  constructor(message) {
    super(message);
    console.log(this.stack.split('\n')[0]);
    this.name = 'Read';
  }
}
class Told extends Error {
  get name() {
    return 'Told';
  }
}
const head = (error) => console.log(error.stack.split('\n')[0]);
export default function () {
  const named = new Named('a');
  head(named);
  named.message = 'b';
  head(named);
  head(new Read('c'));
  head(new Told('d'));
  const early = new Named('e');
  early.message = 'f\n\tat nowhere';
  head(early);
  console.log(Object.getOwnPropertyNames(early).join(), Object.keys(early).join(), JSON.stringify(early));
  const plain = new Error('g');
  plain.name = 'Plain';
  console.log(Object.getOwnPropertyDescriptor(plain, 'stack').value.split('\n')[0]);
  const mine = new Error('h');
  mine.stack = 'mine';
  console.log(mine.stack, delete mine.stack, mine.stack);
  const odd = new Error('i');
  odd.name = 5;
  head(odd);
  const copy = Object.assign({}, new Named('j'));
  console.log(copy.stack, copy.name);
  const heir = Object.create(new Named('k'));
  heir.name = 'Heir';
  head(heir);
  try {
    null.x;
  } catch (error) {
    error.name = 'Later';
    error.message = `with ${error.message}`;
    head(error);
    console.log(error instanceof TypeError, String(error));
  }
  for (let i = 0; i < 1000; i++) {
    const one = new Named(`n${i}`);
    if (i % 2) one.stack;
    if (one.stack.indexOf(`Named: n${i}\n`) !== 0) throw one;
  }
  throw new Named('end');
}
