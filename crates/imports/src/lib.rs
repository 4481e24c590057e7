//! curl commands, Postman collections, OpenAPI documents and access logs as sessions or targets.
//!
//! ```text
//! curl::read, postman::read      ──▶ Session: Recording + correlate::Plan + notes ──▶ scribe
//! access_log::session            ──▶ Session
//! access_log::targets            ──▶ targets of `brunt attack` and the file of a pacer
//! openapi::client                ──▶ client.ts, script.ts, data.json
//! ```
//!
//! A source of requests alone has no responses: an exchange has one only if the source tells what is expected. Variables of a source
//! become the plan's inputs, secrets, made values and extractions; a [`Template`](template) carries them from the source to the
//! place of the request where they are sent. Absent: flags, the environment, clocks, the network. Files are read where a source names them.
#![forbid(unsafe_code)]

pub mod access_log;
pub mod curl;
mod draft;
pub mod error;
mod multipart;
mod name;
pub mod openapi;
pub mod postman;
pub mod session;
mod template;

pub use error::Error;
pub use session::{Session, Surroundings};
