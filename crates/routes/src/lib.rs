//! The route of a request: `/users/{id}` for `/users/17` and all its sisters.
//!
//! - [`fold`]: a URL whose changing parts have become placeholders;
//! - [`Patterns`]: routes by hand, a line each;
//! - [`Book`]: the routes of a run, at most [`ROUTES_MAX`] of them, and [`Reader`], one core's view of it, which takes no lock
//!   for a route that it has met before.
//!
//! Deliberately absent: requests, metrics, files. Everything here is a function of texts.
#![forbid(unsafe_code)]

mod book;
mod fold;
mod part;
mod patterns;

pub use self::book::{Book, OTHER, ROUTES_MAX, Reader};
pub use self::fold::{LENGTH_MAX, fold};
pub use self::patterns::{PatternError, Patterns};
