// The namespace of k6/execution reads the accessors when somebody looks at it, and so throws in init code
import * as namespace from 'k6/execution';
import { vu, test, scenario as named } from 'k6/execution';

const seen = [];
const note = (...words) => seen.push(words.join(' '));

const tried = (name, read) => {
  try {
    note(name, JSON.stringify(read()));
  } catch (error) {
    note(name, error.name, error.message);
  }
};

// k6 reads them in any order: which of them throws first is chance.
const all = (name, read) => tried(name, () => {
  try {
    return read();
  } catch (error) {
    return error.name;
  }
});

function look() {
  tried('names', () => Object.getOwnPropertyNames(namespace));
  all('keys', () => Object.keys(namespace));
  all('entries', () => Object.entries(namespace).length);
  all('spread', () => Object.keys({ ...namespace }));
  for (const key of ['instance', 'scenario', 'test', 'vu']) {
    tried(key, () => [key in namespace, typeof namespace[key]]);
    tried(key, () => typeof Object.getOwnPropertyDescriptor(namespace, key).value);
  }
  tried('named vu', () => typeof vu);
  tried('named test', () => typeof test);
  tried('named scenario', () => typeof named);
  tried('members', () => [vu.idInTest, namespace.vu.iterationInInstance, named.name]);
}

look();
export default function () {
  note('in the VU');
  look();
  for (const line of seen) console.log(line);
}
