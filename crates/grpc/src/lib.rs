//! gRPC: what services there are, messages from and to JSON, calls over HTTP/2.
//!
//! ```text
//! .proto files ─┐
//! protoset     ─┼─► Schema ─► Method ─► input and output types
//! reflection   ─┘     │
//!                     ▼
//! JSON text ──encode──► bytes ──► Channel ──call──► Outcome: status, metadata, bytes ──decode──► JSON text
//!                                    │
//!                      a line of brunt-http: one HTTP/2 connection, read by a task of the core
//! ```
//!
//! Messages are translated between JSON and the wire directly, by tables that are made once for each schema and shared by
//! all VUs: nothing is kept of a message in between. The JSON is that of `protojson` in Go, as k6 has it: fields without
//! presence are always there, 64-bit integers are strings, enums are names.
//!
//! Absent: JavaScript, metrics, files. Connections come from `brunt-net`, so that names, blocked addresses, TLS and the
//! count of bytes follow the same rules; HTTP/2 comes from `brunt-http`.
#![forbid(unsafe_code)]

mod channel;
pub mod health;
mod json;
mod metadata;
pub mod reflection;
mod schema;
mod status;
mod types;
mod wire;

pub use channel::{Call, Channel, ConnectError, Limits, Outcome, Receiver, Sender, Streaming, Way};
pub use json::{DecodeError, EncodeError};
pub use metadata::Metadata;
pub use schema::{FileSource, Method, Schema, SchemaError};
pub use status::Status;
