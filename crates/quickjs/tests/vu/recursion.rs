//! Runaway recursion ends in a `RangeError`, however often, on stacks of every size.

use crate::support::{NORMAL, SMALL, Vu, on_a_core, pool, run};

const THRICE: &str = r"
let depth = 0;
const ways = [
  function plain() { depth++; plain(); },
  function callback() { depth++; [1].map(() => callback()); },
  function getter() { const o = { get x() { depth++; return this.x; } }; return o.x; },
  function text() { const o = { toString() { depth++; return '' + o; } }; return '' + o; },
  function proxy() { const p = new Proxy({}, { get(t, k, r) { depth++; return r[k]; } }); return p.x; },
  function parsed() { depth++; JSON.parse('[1]', () => parsed()); },
  function replaced() { depth++; 'a'.replace(/a/, () => replaced()); },
  function evaluated() { depth++; (0, eval)('evaluated()'); },
];
globalThis.evaluated = ways[7];
for (const way of ways) {
  for (let i = 0; i < 3; i++) {
    depth = 0;
    try { way(); log('no error in ' + way.name); } catch (e) {
      if (!(e instanceof RangeError)) log(way.name + ': ' + e);
      if (depth < 8) log(way.name + ' got only ' + depth + ' deep');
    }
    sleep(1);
  }
}
'alive'
";

#[test]
fn recursion_is_a_range_error_three_times_in_a_row_with_suspensions_between() {
    for stack in [SMALL, NORMAL] {
        assert_eq!(run(stack, THRICE), (Ok("alive".to_owned()), vec![]), "{stack} bytes");
    }
}

#[test]
fn a_normal_stack_is_a_thousand_calls_deep() {
    let script = "let depth = 0; function f() { depth++; f(); } try { f(); } catch {} depth > 1000";
    assert_eq!(run(NORMAL, script).0, Ok("true".to_owned()));
}

#[test]
fn what_goes_deep_is_told_until_the_stack_is_announced_again() {
    let mut vu = Vu::new(&pool(8 * NORMAL));
    for (calls, is_deep) in [(50, false), (1_000, true), (50, false)] {
        let script = format!("(function f(n) {{ return n ? 1 + f(n - 1) : 0 }})({calls})");
        assert_eq!(on_a_core(vu.run(&script)), Ok(calls.to_string()));
        assert_eq!(vu.vm.was_deep(), is_deep, "{calls} calls");
    }
}

#[test]
fn a_vu_can_be_suspended_at_the_bottom_of_its_stack() {
    let script = "
        let deepest = 0, slept = 0;
        function f(depth) { deepest = depth; try { f(depth + 1); } catch {} if (depth > deepest - 40) { try { sleep(1); slept++; } catch {} } }
        f(0);
        slept > 3 && deepest > 50";
    assert_eq!(run(SMALL, script).0, Ok("true".to_owned()));
}
