// The default export of k6/execution has accessors: looking at them in init code calls none
import exec from 'k6/execution';

const seen = [];
const note = (...words) => seen.push(words.join(' '));

const tried = (name, read) => {
  try {
    note(name, JSON.stringify(read()));
  } catch (error) {
    note(name, error.name, error.message);
  }
};

function look() {
  tried('keys', () => [Object.keys(exec), Object.getOwnPropertyNames(exec)]);
  for (const key of ['instance', 'scenario', 'test', 'vu']) {
    tried(key, () => {
      const found = Object.getOwnPropertyDescriptor(exec, key);
      return [Object.keys(found), found.enumerable, found.configurable, typeof found.get, typeof found.set];
    });
    tried(key, () => [key in exec, Object.hasOwn(exec, key), typeof exec[key]]);
  }
  tried('ordinary', () => [Object.getPrototypeOf(exec) === Object.prototype, String(exec), Object.isExtensible(exec)]);
  tried('entries', () => Object.entries(exec).length);
  tried('spread', () => Object.keys({ ...exec }));
  tried('more', () => {
    exec.more = 1;
    return [exec.more, delete exec.more, 'more' in exec];
  });
  for (const change of [() => { exec.vu = 1; }, () => delete exec.vu]) {
    try {
      change();
      note('changed');
    } catch (error) {
      note(error.name);
    }
  }
}

look();
export default function () {
  note('in the VU');
  look();
  for (const line of seen) console.log(line);
}
