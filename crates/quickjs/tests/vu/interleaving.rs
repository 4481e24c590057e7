//! A VU may be suspended in the middle of any JavaScript frame while others run on the same thread.

use crate::support::{SMALL, Vu, on_a_core, pool};

/// Waits inside a callback of every kind that the engine calls from C. `__ID__` is the VU's number.
const SCRIPT: &str = r#"
const N = __ID__;
let turn = 0;
const wait = () => sleep(((N * 7 + turn++) % 5) / 2);
const check = (what, ok) => { if (!ok) throw new Error('wrong: ' + what); };

check('map', [1, 2, 3].map(x => (wait(), x * 2)).join() === '2,4,6');
check('sort', [3, 1, 2, 5, 4].sort((a, b) => (wait(), a - b)).join() === '1,2,3,4,5');
check('reduce', [1, 2, 3].reduce((sum, x) => (wait(), sum + x)) === 6);
check('from', Array.from({ length: 2 }, (_, i) => (wait(), i)).join() === '0,1');

const object = {
  get property() { wait(); return 'got'; },
  set property(x) { wait(); this.was = x; },
  toString() { wait(); return 'S' + N; },
  valueOf() { wait(); return N; },
  toJSON() { wait(); return { n: N }; },
  [Symbol.toPrimitive]: undefined,
};
check('toString', `${object}` === 'S' + N);
check('valueOf', object + 1 === N + 1);
check('getter', object.property === 'got');
object.property = N;
check('setter', object.was === N);
check('toJSON', JSON.stringify([object]) === '[{"n":' + N + '}]');
const parsed = JSON.parse('{"a":[1,2,{"b":3}]}', (key, value) => { wait(); return value; });
check('reviver', parsed.a[2].b === 3);
check('replacer', JSON.stringify({ a: 1 }, (key, value) => { wait(); return value; }) === '{"a":1}');

const proxy = new Proxy({}, {
  get(target, key) { wait(); return key + N; },
  has() { wait(); return true; },
  ownKeys() { wait(); return ['k']; },
  getOwnPropertyDescriptor() { wait(); return { value: 1, enumerable: true, configurable: true }; },
});
check('proxy get', proxy.name === 'name' + N);
check('proxy has', 'x' in proxy);
check('proxy keys', Object.keys(proxy).join() === 'k');

function* generator() { for (let i = 0; i < 3; i++) { wait(); yield i; } }
check('generator', [...generator()].join() === '0,1,2');
const iterable = { [Symbol.iterator]() { wait(); let i = 0; return { next() { wait(); return { done: i++ > 1, value: i }; } }; } };
check('iterator', [...iterable].join() === '1,2');
check('replace', 'abc'.replace(/[a-c]/g, m => { wait(); return m.toUpperCase(); }) === 'ABC');
check('tag', ((strings, value) => (wait(), strings[0] + value))`a${N}` === 'a' + N);

class Base { constructor() { wait(); this.value = N; } static made = wait(); }
class Derived extends Base { field = wait(); constructor() { super(); wait(); } get twice() { wait(); return this.value * 2; } }
check('class', new Derived().twice === N * 2);
check('construct', Reflect.construct(Derived, []).value === N);
check('apply', Math.max.apply(null, [1, 2].map(x => (wait(), x))) === 2);
check('map group', Map.groupBy([1, 2], x => (wait(), x % 2)).get(1)[0] === 1);

let caught = 0;
for (let i = 0; i < 3; i++) {
  try { fail(wait()); } catch (e) {
    check('error class', e instanceof TypeError);
    check('stack of VU ' + N + ': ' + e.stack, /^TypeError: request failed\n\tat fail \(native\)\n\tat vu\.js:\d+:\d+\(\d+\)\n$/.test(e.stack));
    caught++;
  } finally { wait(); }
}

(function recurse(depth) { if (depth > 0) return recurse(depth - 1); wait(); })(20);

async function later(x) {
  wait(); await null; wait();
  try { await (async () => { fail(wait()); })(); } catch (e) { return x + ':' + e.message; }
}
async function* stream() { for (let i = 0; i < 2; i++) { wait(); yield i; await null; } }
later(N).then(text => { wait(); log(text); });
Promise.all([later(1), later(2)]).then(texts => { wait(); log(texts.join()); });
(async () => { let sum = ''; for await (const i of stream()) { wait(); sum += i; } log('stream ' + sum); })();
new Promise(resolve => { wait(); resolve(N); }).finally(() => { wait(); log('finally'); });
'done ' + N + ' ' + caught
"#;

#[test]
fn a_thousand_vus_suspended_in_every_kind_of_frame_all_come_out_right() {
    const COUNT: usize = 1000;
    let pool = pool(SMALL);
    let results = on_a_core(async {
        let mut tasks = Vec::new();
        for index in 0..COUNT {
            let mut vu = Vu::new(&pool);
            vu.start(&SCRIPT.replace("__ID__", &index.to_string()));
            tasks.push(tokio::task::spawn_local(async move {
                let ended = vu.finish().await;
                let mut log = vu.log();
                log.sort();
                (ended, log)
            }));
        }
        let mut results = Vec::new();
        for task in tasks {
            results.push(task.await.unwrap());
        }
        results
    });
    for (index, (ended, log)) in results.into_iter().enumerate() {
        assert_eq!(ended, Ok(format!("done {index} 3")));
        let mut expected = [
            "1:request failed,2:request failed".to_owned(),
            format!("{index}:request failed"),
            "finally".to_owned(),
            "stream 01".to_owned(),
        ];
        expected.sort();
        assert_eq!(log, expected);
    }
    assert_eq!(pool.in_use(), 0);
}
