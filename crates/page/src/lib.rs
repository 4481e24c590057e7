//! The page of a run: one HTML file that needs nothing else and computes all that it shows from the histograms of the run file.
//!
//! ```text
//! web/ ── build.rs: npm ── the template, in four pieces ─┐
//! run file ── runfile::page ── document ── gzip, base64 ─┼─▶ saved: a file
//!                  └─ parts, each second ── Feed ────────┴─▶ server: the live page and its events, to those whom Access lets in
//! ```
//!
//! `web/DATA.md` tells the format of the data and of the stream, `docs/guide/report.md` the page.
//!
//! Deliberately absent: flags, terminals, metrics; and the page's own code, which is in `web/`.
#![forbid(unsafe_code)]

mod access;
mod live;
mod saved;
mod server;
mod template;

pub use self::access::{Access, machine};
pub use self::live::Feed;
pub use self::saved::{PageError, Stretch, document, save, saved, title};
pub use self::server::{
    Answering, Body, Near, Site, alive, events, open_browser, page, refused, report, serve, shown,
    text,
};
