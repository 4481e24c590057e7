//! Recorded sessions: what a client sent, what servers answered, and when.
//!
//! A [`Recording`] is what every source is turned into (the recorder's proxy, HAR files, curl commands, collections) and what
//! everything after it reads: `correlate` finds where values come from, `scribe` writes the script.
//!
//! ```text
//! proxy, HAR, curl, Postman ──▶ Recording ──▶ correlate::Plan ──▶ scribe: script.js and its files
//! ```
//!
//! Bodies are kept without their content codings (gzip, br, …) and transfer codings: as the application saw them. Large bodies lie in
//! files. Absent: sockets, clocks, JavaScript.
#![forbid(unsafe_code)]

pub mod body;
pub mod charset;
pub mod coding;
pub mod cookies;
pub mod filter;
pub mod form;
pub mod har;
pub mod headers;
pub mod multipart;
pub mod recording;
mod resource;

pub use body::Body;
pub use filter::Filter;
pub use headers::Headers;
pub use recording::{Event, Exchange, Message, Recording, Request, Resource, Response, Side, Step};
