// Where stacks say that an error is: the columns of k6, and bytes in lines that are not ASCII.
let count = 0;

function place(f) {
  count++;
  try {
    f();
  } catch (e) {
    console.log(count, e.name, e.stack.split('\n')[1].replace(/file:.*\//, '').replace(/\(\d+\)/g, '').trim());
  }
}

function nothing() {}

export default function () {
  let u, n = null;
  const o = {}, a = [], s = 'x';
  place(() => undeclared(1));
  place(() => undeclared);
  place(() => undeclared.x());
  place(() => nothing(undeclared()));
  place(() => u.b());
  place(() => u.b.c());
  place(() => o.b());
  place(() => o.b.c());
  place(() => o.b.c.d());
  place(() => u.b(nothing()));
  place(() => u[0]);
  place(() => u[0]());
  place(() => a[0].b);
  place(() => a[0].b());
  place(() => o.x[s.length]);
  place(() => o.x[s.length]());
  place(() => o[s][0]());
  place(() => n.x = 1);
  place(() => o.a.b = 1);
  place(() => o.a[0] = 1);
  place(() => o.a.b += 1);
  place(() => o.a.b++);
  place(() => ++o.a.b);
  place(() => { const { q } = u; });
  place(() => { const { q } = nothing(); });
  place(() => { const { q } = o.x; });
  place(() => { const { q } = JSON.parse('null'); });
  place(() => { const [q] = u; });
  place(() => { let q; ({ q } = u); });
  place(() => { const { q,
    r } = u; });
  place(() => nothing().b());
  place(() => nothing().b);
  place(() => JSON.parse('{}').data.map((x) => x));
  place(() => JSON.parse('{}').data[0].id);
  place(() => JSON.parse('{}').data.length);
  place(() => new o.x());
  place(() => new o.x.y());
  place(() => o.x.y`t`);
  place(() => `${u.x()}`);
  place(() => [1, u.x(), 2]);
  place(() => ({ a: 1, b: u.x() }));
  place(() => nothing(...u.x()));
  place(() => { return u.x(); });
  place(() => { throw undeclared(); });
  place(() => { var x = u
    .a
    .b(); });
  place(() => { const k = '日本語'; u.x.z(); });
  place(() => { const é = 'éé😀'; é.nope(); });
  place(() => { /* 한국어 */ throw new Error('e'); });
  const api = { [Symbol('call')](f) { return f(); }, ['na' + 'me'](f) { return f(); } };
  try {
    api[Object.getOwnPropertySymbols(api)[0]](() => u.x());
  } catch (e) {
    console.log(e.stack.split('\n').length, /Symbol|call/.test(e.stack.split('\n')[2]));
  }
}
