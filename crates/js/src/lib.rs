//! Hosts QuickJS for virtual users; knows no k6 API.
//!
//! A [`Program`] is a script with all it imports, compiled once. An [`Instance`] is one VM that has run the program's init
//! code: a virtual user has one, and so have `setup()`, `teardown()` and the summary. [`ScriptRunner`] is what
//! the engine drives: it makes [`ScriptVu`]s, each with a fiber to run on. The imports and calls of scripts are an
//! [`Api`], written elsewhere, which finds the VU it works for through [`Host`].
//!
//! ```text
//! engine ── iterate ──▶ ScriptVu ── fiber ──▶ Instance: call the exec function, then drain the event loop
//!                                                  │ import, native calls
//!                                                  ▼
//!                                                 Api (crate `modules`)
//! ```
#![forbid(unsafe_code)]

pub mod api;
pub mod core_state;
pub mod event_loop;
pub mod exception;
pub mod host;
pub mod instance;
mod loader;
mod named_exports;
pub mod opened;
pub mod program;
pub mod runner;
pub mod slot;
pub mod vu;

pub use api::{Api, Remains};
pub use brunt_quickjs::CommonBytes;
pub use brunt_quickjs::heap::limit as limit_heaps;
pub use brunt_script::path_of;
pub use event_loop::{EventLoop, Line};
pub use exception::{Failure, UNHANDLED, describe};
pub use host::{Host, Phase};
pub use instance::Instance;
pub use opened::{FileMap, LargeFile, OpenError, OpenedFiles};
pub use program::{Program, ProgramError};
pub use runner::ScriptRunner;
pub use slot::{CoreSlot, SlotKey, VuSlot};
pub use vu::ScriptVu;
