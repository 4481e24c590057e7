// Messages of the language's own functions about arguments that they refuse.
function told(name, f) {
  try {
    console.log(name, 'is', String(f()));
  } catch (error) {
    console.log(name, String(error));
  }
}

export default function () {
  told('mixed', () => 1n + 1);
  told('mixed', () => 2 * 1n);
  told('half', () => BigInt(1.5));
  told('nan', () => BigInt(NaN));
  told('word', () => BigInt('word'));
  told('nothing', () => BigInt(undefined));
  told('null', () => BigInt(null));
  told('element', () => new BigInt64Array([1]));
  told('exponent', () => 2n ** -1n);
  told('shift', () => 1n >>> 0n);
  told('bits', () => BigInt.asIntN(-1, 1n));
  told('new', () => new BigInt(1));
  told('new', () => new Symbol());
  told('call', () => Promise());
  told('call', () => Map());
  told('call', () => Proxy({}, {}));
  told('call', () => ArrayBuffer(1));
  told('proxy', () => new Proxy({}, null));
  told('proxy', () => new Proxy(1, {}));
  told('revoked', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy.a;
  });
  told('set', () => {
    new Proxy({}, { set: () => false }).a = 1;
  });
  told('define', () => Object.defineProperty(new Proxy({}, { defineProperty: () => false }), 'a', { value: 1 }));
  told('length', () => new Uint8Array(-1));
  told('bytes', () => new Uint16Array(new ArrayBuffer(3)));
  told('offset', () => new Uint16Array(new ArrayBuffer(4), 1));
  told('offset', () => new Uint8Array(new ArrayBuffer(1), 5));
  told('buffer', () => new ArrayBuffer(-1));
  told('view', () => new DataView(new ArrayBuffer(1), 3));
  told('view', () => new DataView(new ArrayBuffer(1)).getInt32(0));
  told('view', () => new DataView(new ArrayBuffer(1)).setInt16(0, 1));
  told('sort', () => [1].sort(null));
  told('sort', () => [1].toSorted(1));
  told('map', () => new Map([1]));
  told('weak', () => new WeakMap().set(1, 1));
  told('string', () => ''.at.call(null));
  told('with', () => [].with(0, 9));
  told('define', () => Object.defineProperty(1, 'a', {}));
  told('construct', () => Reflect.construct(Map, 1));
  told('symbol', () => Symbol.keyFor(1));
  told('all', () => 'x'.matchAll(/a/));
  told('all', () => 'x'.replaceAll(/a/, ''));
  told('flags', () => new RegExp('a', 'zz'));
  told('flags', () => new RegExp('a', 'gg'));
  told('pattern', () => new RegExp('['));
  told('pattern', () => new RegExp('('));
  told('pattern', () => new RegExp(')'));
}
