//! What was measured: metrics, tags, sinks, frames, thresholds, the ledger
#![forbid(unsafe_code)]
