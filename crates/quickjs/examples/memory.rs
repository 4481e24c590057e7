//! How many kB of resident memory a VM takes, and how long it takes to make one: `cargo run --release --example memory`.
//!
//! Each row represents 2000 VMs, made in a process of its own, so that rows do not share what an allocator kept.
//! The environment variable `MALLOC_ARENA_MAX`, `GLIBC_TUNABLES` and the like apply as usual.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers")]

use std::rc::Rc;
use std::time::Instant;

use brunt_quickjs::{Hooks, Vm};

const COUNT: u32 = 2000;

/// Name, script.
const ROWS: [(&str, &str); 5] = [
    ("nothing", ""),
    ("a function", "globalThis.f = function () { return 1 }"),
    (
        "uses JSON, Map, RegExp, Date, Promise",
        "globalThis.kept = [JSON.parse('[1]'), new Map([[1, 2]]), /a/.exec('a'), new Date(), Promise.resolve(1)]",
    ),
    (
        "uses typed arrays and BigInt",
        "globalThis.kept = [new Uint8Array(8), new DataView(new ArrayBuffer(8)), 10n ** 3n]",
    ),
    (
        "uses Proxy, WeakMap, generators, classes",
        "globalThis.kept = [new Proxy({}, {}), new WeakMap(), (function* () { yield 1 })().next(), class A { #x = 1 }]",
    ),
];

fn main() {
    let Some(row) = std::env::args().nth(1) else {
        println!("{:>8} {:>8} {:>8} {:>8}  2000 VMs with", "kB", "heap kB", "used kB", "us");
        for row in 0..ROWS.len() {
            let myself = std::env::current_exe().unwrap();
            std::process::Command::new(myself).arg(row.to_string()).status().unwrap();
        }
        return;
    };
    let (name, script) = ROWS[row.parse::<usize>().unwrap()];
    let make = || {
        let vm = Vm::new(Rc::new(()), Hooks::default(), 256 * 1024);
        vm.ctx().eval("script.js", script).unwrap();
        vm
    };
    drop(make());
    let (before, began) = (resident_kb(), Instant::now());
    let vms: Vec<Vm> = (0..COUNT).map(|_| make()).collect();
    let (took, after) = (began.elapsed(), resident_kb());
    let heap = vms[0].memory();
    println!(
        "{:8.1} {:8.1} {:8.1} {:8.1}  {name}",
        (after - before) / f64::from(COUNT),
        heap.allocated as f64 / 1000.0,
        heap.used as f64 / 1000.0,
        took.as_secs_f64() * 1e6 / f64::from(COUNT),
    );
}

/// kB of 1000 bytes, as everywhere.
fn resident_kb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = status.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4.096
}
