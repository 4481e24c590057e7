//! HAR files: the HTTP Archive format 1.2, as browsers, proxies and recorders export it.

mod write;

pub use write::write;
