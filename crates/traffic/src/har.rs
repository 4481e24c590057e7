//! HAR files: the HTTP Archive format 1.2, as browsers, proxies and recorders export it.

mod bodies;
mod entry;
mod failure;
mod model;
mod pages;
mod read;
mod sanitized;
mod times;
mod write;

pub use failure::HarError;
pub use read::{read, read_beside};
pub use write::write;
