use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

use super::account::LARGE;
use super::*;
use crate::ctx::Hooks;

fn vm() -> Vm {
    Vm::new(Rc::new(()), Hooks::default(), 512 * 1024)
}

fn used(vm: &Vm) -> usize {
    usize::try_from(vm.memory().allocated).unwrap()
}

/// A piece of all that takes memory, in one script.
const ALL_KINDS: &str = "
    const kept = []
    for (let round = 0; round < 16; round++) {
        let text = 'é€'.repeat(round * 50) + round
        for (let i = 0; i < 6; i++) text += text
        kept.push(text, [...text.slice(0, 500)], text.split('€'), text.replaceAll('€', 'EUR'), encodeURI(text.slice(0, 999)))
        kept.push(new Map(kept.map((v, i) => [i, v])), new Set(kept), new WeakMap([[kept, 1]]))
        kept.push(Object.fromEntries(Array.from({ length: 300 }, (_, i) => ['k' + round + i, i])))
        kept.push(new Float64Array(2000 * round), new ArrayBuffer(5000 * round).slice(7), new Uint8Array(900).sort().map(x => x + 1))
        kept.push(JSON.parse(JSON.stringify(kept[8])), JSON.stringify({ text }, null, 2), /(.)(?<n>.)/gu.exec(text), text.match(/./gu).length)
        kept.push((2n ** BigInt(round * 300)).toString(16), eval('(function* () { const f = async (a, b = [1, 2]) => `${a}`; yield f; })'), Symbol(text))
        kept.push(new Error(text.slice(0, 80)), new Proxy({}, {}), class extends Array { #x = [round]; static y = text })
        kept.push(Promise.resolve(text).then(v => v + v), kept.map((v) => () => v), [3, 1, 2].sort((a, b) => a - b).toSorted())
        kept.push(text.normalize('NFD').toUpperCase(), Object.assign({}, kept[8]), structured(kept[8]), new Date(round).toISOString())
        const cycle = { text }; cycle.cycle = cycle
    }
    function structured(o) { return Object.entries(o).flatMap(([k, v]) => [k, v]).concat([[o]]).flat(2).join() }
    kept.length";

#[test]
fn large_heaps_are_collected_and_freed_in_slices() {
    let polls = Rc::new(Cell::new(0u32));
    let interrupt = |host: &dyn Any| {
        let polls = host.downcast_ref::<Cell<u32>>().unwrap();
        polls.set(polls.get() + 1);
        false
    };
    let hooks = Hooks { interrupt: Some(interrupt), ..Hooks::default() };
    let vm = Vm::new(Rc::clone(&polls) as Rc<dyn Any>, hooks, 512 * 1024);
    vm.limit_memory(0);
    let ctx = vm.ctx();
    let asked = |script: &str| {
        polls.set(0);
        assert!(ctx.eval("t.js", script).is_ok());
        polls.get()
    };
    asked("var kept = []; for (let i = 0; i < 150000; i++) kept.push({ a: { b: i } });");
    // Each of 300 000 objects is looked at more than once, and every 256th asks; the loop itself asks a few times.
    vm.collect_beyond(ctx.memory_used());
    let cycles = "for (let i = 0; i < 1000; i++) { const o = {}; o.o = o; }";
    let count = asked(cycles);
    assert!(count > 1000, "{count}");
    // All but a few thousand go at the next poll.
    vm.collect_beyond(usize::MAX);
    let count =
        asked("var weak = new WeakRef(kept[149999].a); kept = null; for (let i = 0; i < 9; i++);");
    assert!(count > 500, "{count}");
    assert!(ctx.memory_used() < 4 << 20, "{}", ctx.memory_used());
    assert!(ctx.eval("t.js", "weak.deref()").unwrap().is_undefined());
    // A small heap waits for nothing.
    vm.collect_beyond(ctx.memory_used());
    assert!(asked(cycles) < 100);
    // Garbage left at the end of a script waits for the caller that has run the script.
    let leaves =
        "(() => { const all = []; for (let i = 0; i < 50000; i++) all.push({ all: [i] }); })()";
    asked(leaves);
    let before = ctx.memory_used();
    ctx.catch_up();
    assert!(before > (4 << 20) && ctx.memory_used() < 4 << 20, "{before}");
    // So it is with who wanted too much.
    vm.limit_memory(24 << 20);
    assert!(
        ctx.eval("t.js", "(() => { const all = []; for (;;) all.push({ all: [1] }); })()").is_err()
    );
    ctx.take_exception();
    polls.set(0);
    assert_eq!(ctx.take_over_limit(), Some(OverLimit::Vm(24 << 20)));
    assert!(polls.get() > 100 && ctx.memory_used() < 4 << 20, "{polls:?} {}", ctx.memory_used());
    // A VM that goes takes it along.
    vm.limit_memory(0);
    asked(leaves);
}

#[test]
fn at_every_limit_the_script_ends_and_the_vm_goes_on() {
    let needed = {
        let vm = vm();
        vm.ctx().eval("all.js", ALL_KINDS).unwrap();
        used(&vm)
    };
    let mut ended = [0, 0];
    let limits = (1..60).map(|n| 9973 * n).chain((1..24).map(|n| needed / 6 * n));
    // Under AddressSanitizer each takes seconds: there every fourth.
    let every = if std::env::var_os("ASAN_OPTIONS").is_some() { 4 } else { 1 };
    for extra in limits.step_by(every) {
        let vm = vm();
        let ctx = vm.ctx();
        vm.limit_memory(used(&vm) + extra);
        let is_over = ctx.eval("all.js", &format!("{{ {ALL_KINDS} }}")).is_err();
        if is_over {
            drop(ctx.take_exception());
        }
        ctx.drop_jobs();
        assert_eq!(ctx.take_over_limit().is_some(), is_over, "{extra}");
        assert!(used(&vm) < extra + extra / 4 + 8 * 1024 * 1024, "{extra}: {}", used(&vm));
        vm.limit_memory(0);
        vm.collect();
        let after = ctx.eval("after.js", "[1, 2].map(x => x + 1).join()").unwrap();
        assert_eq!(after.as_str().unwrap().to_string(), "2,3", "{extra}");
        ended[usize::from(is_over)] += 1;
    }
    assert!(ended[0] > 2 && ended[1] > 60 / every, "{ended:?}");
}

/// The engine would let its heap grow by half before the next collection: beyond the limit.
#[test]
fn garbage_is_collected_before_the_limit_is_reached() {
    let vm = vm();
    let ctx = vm.ctx();
    let kept = "globalThis.kept = Array.from({ length: 40000 }, (_, i) => ({ i, text: 't' + i }))";
    ctx.eval("kept.js", kept).unwrap();
    vm.collect();
    vm.limit_memory(used(&vm) / 10 * 13);
    let garbage = "for (let i = 0; i < 100000; i++) { const a = [i, 'x' + i, {}]; a.push(a) }";
    assert!(ctx.eval("garbage.js", garbage).is_ok());
    assert!(ctx.take_over_limit().is_none());
}

#[test]
fn a_power_that_is_too_large_leaves_nothing_behind() {
    let vm = vm();
    let fails = || {
        let power = "try { 3n ** 1048576n } catch (error) { error.name }";
        let told = vm.ctx().eval("power.js", power).unwrap();
        assert_eq!(told.as_str().unwrap().to_string(), "RangeError");
    };
    fails();
    let before = used(&vm);
    fails();
    // The product until then takes 100 kB.
    assert!(used(&vm) < before + 50_000, "{} after {before}", used(&vm));
}

#[test]
fn the_memory_of_buffers_counts_wherever_it_lies() {
    let vm = vm();
    let ctx = vm.ctx();
    let before = used(&vm);
    let buffer = ctx.array_buffer(vec![1; 5_000_000]).unwrap();
    assert!((5_000_000..5_100_000).contains(&(used(&vm) - before)));
    let held = buffer.shared_bytes().unwrap();
    drop(buffer);
    drop(held);
    assert!(used(&vm) < before + 100_000);
    vm.limit_memory(before + 20_000_000);
    ctx.global().define("make", ctx.array_buffer(vec![0; 1_000_000]).unwrap()).unwrap();
    let grow = "const all = []; for (;;) { try { all.push(make.slice(0)) } catch { } }";
    assert!(ctx.eval("t", grow).is_err());
    assert!(ctx.take_exception().unwrap().uncatchable);
    assert!(matches!(ctx.take_over_limit(), Some(OverLimit::Vm(_))));
}

#[test]
fn what_is_promised_is_given_back() {
    let account = Account::default();
    account.max.set(100 << 20);
    account.promise(STEP);
    let promise = account.more(50 << 20, 8).unwrap();
    assert!((50 << 20..60 << 20).contains(&promise));
    assert_eq!(account.settled(50 << 20), None);
    assert_eq!(account.settled(1 << 20), Some((1 << 20) + STEP));
    assert_eq!(account.more(100 << 20, LARGE), None);
    assert_eq!(account.over.get(), Some(OverLimit::Vm(100 << 20)));
    // Small ones are given a little more.
    assert!(account.more(100 << 20, 100).is_some());
    assert_eq!(account.more(130 << 20, 100), None);
    assert!(account.settled(100 << 20).unwrap() <= 100 << 20);
}

#[test]
fn limits_are_told_in_numbers_that_people_read() {
    let told = |over: OverLimit| over.to_string();
    assert_eq!(told(OverLimit::Vm(512 << 20)), "memory limit of the VU (512 MiB) exceeded");
    assert_eq!(
        told(OverLimit::Process(20 << 30)),
        "memory limit of all VUs together (20 GiB) exceeded"
    );
}
