//! When work is due: executors, stages, arrival rates, execution segments
#![forbid(unsafe_code)]
