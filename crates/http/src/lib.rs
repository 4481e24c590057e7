//! HTTP on the wire: every exchange timed, every byte counted
#![forbid(unsafe_code)]
