//! A summary, told to a reader.
//!
//! `brunt_metrics::Summary` holds what a test measured, as numbers. This crate turns it into what k6
//! users read and what their scripts parse:
//!
//! - [`text`]: the end-of-test summary of the terminal, in k6's three layouts;
//! - [`json`]: the argument of `handleSummary`, the file of `--summary-export`, and k6's newer
//!   machine-readable shape;
//! - [`junit`], [`markdown`], [`csv`]: the same for CI systems, pull requests and spreadsheets;
//! - [`escape`]: names that others chose, as text in HTML, Markdown and XML;
//! - [`humanize`]: numbers, sizes and times as k6 prints them, for whoever else prints some.
//!
//! Deliberately absent: files, terminals and clocks. Everything here is a function from values to
//! text; the caller decides where it goes.
#![forbid(unsafe_code)]

mod breach;
pub mod csv;
pub mod escape;
pub mod humanize;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod order;
pub mod tables;
pub mod text;
mod warmup;
