//! Limits and settings of a machine that would spoil a load test, each with its remedy.
//!
//! ```text
//! /proc, /sys ──▶ Machine ──┐
//!                           ├──▶ examine ──▶ Check: name, level, what was found, what it spoils, what to do
//!   what was tried ▶ Tried ─┘
//! ```
//!
//! A [`Check`] is made before any test runs, so it speaks of limits and settings; what really bent a run's numbers, `brunt-verdict` says
//! afterwards. Limits are those of `docs/guide/doctor.md`.
//!
//! Deliberately absent: threads, clocks, sockets (whoever calls tries them and tells the result), files other than those of the kernel.
#![forbid(unsafe_code)]

mod check;
mod clock;
mod cpu;
mod folders;
mod kernel;
mod limits;
mod machine;
mod network;
mod tried;

pub use self::check::{Check, Level};
pub use self::machine::Machine;
pub use self::tried::{Folder, Ticks, Timers, Tried};

/// All checks, in the order in which people read them. A check whose facts the system does not tell is absent.
pub fn examine(machine: &Machine, tried: &Tried) -> Vec<Check> {
    let mut checks = Vec::new();
    checks.extend(kernel::checks(machine, tried));
    checks.extend(cpu::checks(machine, tried));
    checks.extend(clock::checks(machine, tried));
    checks.extend(limits::checks(machine, tried));
    checks.extend(network::checks(machine, tried));
    checks.extend(folders::checks(tried));
    checks
}

/// The worst of all; fine if there are none.
pub fn worst(checks: &[Check]) -> Level {
    checks.iter().map(|check| check.level).max().unwrap_or(Level::Fine)
}

#[cfg(test)]
mod tests;
