//! QuickJS-NG behind safe doors.
//!
//! A [`Vm`] is one JavaScript runtime with one context: its own heap, its own garbage collector, its own jobs. One
//! virtual user has one. [`Ctx`] is the handle that code works with, [`Value`] a counted reference into the heap,
//! [`Root`] a reference that may be kept between calls. A native function takes a [`Call`] and returns a
//! [`JsResult`]; [`Thrown`] means that an exception waits in the context.
//!
//! Rules that the engine asks for and that this crate keeps:
//! - The stack bounds are told anew whenever a VM is entered from another stack ([`Vm::on_this_stack`]); an entry
//!   from a stack that was not announced panics instead of corrupting the engine's frame list.
//! - A panic in a native function never crosses a C frame: it is kept, JavaScript is unwound with an uncatchable error,
//!   and [`Ctx::take_panic`] hands the panic to whoever called in.
//! - Values cannot outlive their VM (lifetimes), nor be used in another one (checked).
//!
//! Absent: fibers, event loops, modules of k6. This crate and `fiber` are the two homes of `unsafe`.
#![warn(clippy::undocumented_unsafe_blocks)]

pub mod buffer;
pub mod class;
pub mod ctx;
pub mod error;
pub mod function;
pub mod heap;
pub mod json;
pub mod module;
pub mod name;
pub mod object;
pub mod pattern;
pub mod promise;
pub mod root;
pub mod string;
mod sys;
pub mod touched;
pub mod value;
pub mod vm;

pub use buffer::{Bytes, CommonBytes, HeldBytes, LateBytes};
pub use class::{Class, Own};
pub use ctx::{Ctx, Hooks, Place, ScopeHook};
pub use error::{Exception, JsResult, Thrown};
pub use function::{Call, Members, Running};
pub use heap::{CommonWeight, OverLimit, Scale, Weight};
pub use module::{Compiled, Exports, Loaded, ModuleHost};
pub use name::{Name, PropertyKey};
pub use pattern::Pattern;
pub use promise::{Deferred, PromiseState};
pub use root::Root;
pub use string::JsStr;
pub use value::Value;
pub use vm::{MemoryUse, SHALLOW, Vm};
