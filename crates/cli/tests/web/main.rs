//! `k6/http` as scripts see it: the built binary against a server that writes down what it is asked, byte for byte.
//! Expected values were seen in k6 1.8.1, or come from its documentation; intended differences are marked in place.
#![forbid(unsafe_code)]

mod batches;
mod connections;
mod cookies;
mod failures;
mod json;
mod redirects;
mod requests;
mod responses;
mod samples;
mod server;
#[allow(dead_code, reason = "shared with the other test binary, which uses more of it")]
#[path = "../whole/support.rs"]
mod support;
