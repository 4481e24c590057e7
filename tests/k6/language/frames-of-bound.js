// Traces of bound functions, of fields and revivers; methods that are not there, called with a list.
function told(name, f) {
  try {
    console.log(name, f());
  } catch (error) {
    // Without the places in k6's bytecode.
    console.log(name, error.stack.replace(/\(\d+\)/g, ''));
  }
}

function thrower() {
  throw new Error('thrown');
}

class Counter {
  count = thrower();
}

class Secret {
  #key = (() => { throw new TypeError('private'); })();
}

class Named {
  get name() {
    return 'fixed';
  }
}

export default function () {
  told('bound', () => thrower.bind(null)());
  told('mapped', () => [1].map(thrower.bind(null, 1)));
  told('field', () => new Counter());
  told('private field', () => new Secret());
  told('reviver', () => JSON.parse('{"a":1}', function revive() { throw new Error('revived'); }));
  told('spread', () => { const o = {}; return o.missing(...[]); });
  told('spread', () => 'text'.missing(...[1, 2]));
  told('spread', () => { const f = undefined; return f(...[1]); });
  told('getter', () => { new Named().name = 'other'; });
  told('prototype', () => Object.setPrototypeOf({}, 1));
  told('reflect', () => Reflect.has(1, 'a'));
  const texts = ['01', '1 -5', '{} 1.50x', '1 1000000', '[] "a"', '1 true', '1 null', '1 2.', '"ä" 7', '2023-01-01', '127.0.0.1'];
  for (const text of texts) {
    told(text, () => JSON.parse(text).length);
  }
}
