//! The rules of the fiber, kept with real scripts: each file is one of them.
#![allow(clippy::unwrap_used, reason = "tests; the lint's own exception ends at helpers")]
#![allow(clippy::items_after_statements, reason = "items that one test needs are in that test")]

mod bytecode;
mod dropped;
mod endless;
mod globals;
mod hostile;
mod interleaving;
mod natives;
mod objects;
mod panics;
mod recursion;
mod slicing;
mod support;
