//! Statements, told apart: the same statement with other literals is the same.
//!
//! ```text
//! folded  the value of the tag `statement`
//! named   a statement with named parameters, as its database wants it
//! tuple   the one tuple of `INSERT … VALUES (?, …)`, which may be repeated
//! ```
//!
//! None of them judges a statement; the database does. They read strings as the databases do by default: `NO_BACKSLASH_ESCAPES` of MySQL
//! and `standard_conforming_strings = off` of PostgreSQL are not known here.

mod fold;
mod named;
pub mod scan;
mod tuple;

pub use self::fold::{FOLDED_MAX, folded};
pub use self::named::{Named, named};
pub use self::tuple::{Tuple, tuple};
