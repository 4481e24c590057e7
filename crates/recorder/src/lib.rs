//! A proxy that records what goes through it, TLS included.
#![forbid(unsafe_code)]
