//! Runs a plan on cores and gathers what they saw
#![forbid(unsafe_code)]
