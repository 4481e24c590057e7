//! k6 options: layers, precedence, validation, scenarios
#![forbid(unsafe_code)]
