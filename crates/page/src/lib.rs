//! The page of a run: one HTML file that needs nothing else and computes all that it shows from the histograms of the run file.
//!
//! ```text
//! web/ ── build.rs: npm ── the template, in four pieces ─┐
//! run file ── runfile::page ── document ── gzip, base64 ─┴─▶ saved: a file
//! ```
//!
//! `web/DATA.md` tells the format of the data, `docs/guide/report.md` the page.
//!
//! Deliberately absent: flags, terminals, metrics; and the page's own code, which is in `web/`.
#![forbid(unsafe_code)]

mod saved;
mod template;

pub use self::saved::{PageError, Stretch, document, saved, title};
