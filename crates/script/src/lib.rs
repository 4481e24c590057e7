//! Turns a script and everything that it imports into sources ready for QuickJS-NG.
//!
//! A [`Loader`] reads the main script ([`Entry`]) through [`Files`], follows its imports, and
//! gives back a [`Graph`] of [`Module`]s. Each module has the code to compile and
//! [`Positions`], which lead from a place in that code to the place in the author's file.
//!
//! ```text
//!  bytes -> text -> JavaScript? ---------------------------> code, facts
//!                       | no                                    ^
//!                       +-> TypeScript -> types blanked --------+  (parsed again, so that what
//!                                     \-> lowered, with a map --+   blanking broke is found)
//! ```
//!
//! - Types are blanked in place, so that nothing moves; enums and namespaces are lowered.
//! - A file is an ES module if it has an import, an export or a top-level await, else CommonJS.
//! - Faults are found here, by oxc, with their line: the engine should meet only sound code.
//!
//! Absent: the engine, and all knowledge of k6's modules. `k6` and `k6/…` pass through by name.
#![forbid(unsafe_code)]

mod commonjs;
mod error;
mod exports;
mod files;
mod graph;
mod json;
mod lines;
mod loader;
mod module;
mod option_place;
mod picture;
mod positions;
mod resolve;
mod source_map;
mod syntax;

pub use error::{ErrorKind, ResolveError, ScriptError};
pub use files::{Disk, Files, InMemory, MAX_FILE};
pub use graph::{Format, Graph, Import, ImportKind, Module, Names};
pub use loader::{Entry, Loader, MAX_MODULES, url_of};
pub use option_place::OptionPlace;
pub use picture::characters;
pub use positions::{Place, Positions};
pub use resolve::{Resolved, is_builtin, path_of, resolve};
pub use syntax::TAKES_METHODS;
