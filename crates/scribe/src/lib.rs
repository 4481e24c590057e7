//! Writes a recorded session down as a k6 script.
//!
//! ```text
//! Recording + correlate::Plan ──▶ write ──▶ Script: script.js, data, bodies, secrets, and which line sends which exchange
//! ```
#![forbid(unsafe_code)]

mod body;
mod code;
mod files;
mod form;
mod functions;
mod headers;
mod listening;
mod multipart;
mod origins;
mod page;
mod request;
mod resources;
mod script;
mod sent;
mod session;
mod text;
mod unseen;
mod value;
mod variables;
mod writer;

use std::path::PathBuf;

use brunt_correlate::Plan;
use brunt_traffic::Recording;

/// The choices of the user.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether pictures, styles, scripts and fonts of pages are fetched.
    pub resources: Resources,
    /// Gaps between requests that are shorter are no pause.
    pub shortest_pause: std::time::Duration,
    /// Whether the recording believed servers that the script would not: its option `insecureSkipTLSVerify` is set.
    pub skip_tls_verify: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            resources: Resources::Batch,
            shortest_pause: std::time::Duration::from_millis(100),
            skip_tls_verify: false,
        }
    }
}

/// The ways with resources of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resources {
    /// Fetched beside the page, as browsers do.
    Batch,
    /// Not in the script.
    LeftOut,
}

/// A script and its files.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Files with their paths below the folder of the script; `script.js` is the first.
    pub files: Vec<(PathBuf, Content)>,
    /// The requests that one iteration makes, in its order.
    pub calls: Vec<Call>,
    /// For the user, a line each: what is not in the script, what needs a look.
    pub notes: Vec<String>,
}

/// The content of a file.
#[derive(Debug, Clone)]
pub enum Content {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A copy of this file.
    Copy(PathBuf),
    /// These bytes, for the owner's eyes alone (mode 0600).
    Secret(Vec<u8>),
}

/// A request of the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The exchange that it repeats; of a chain of redirects the first.
    pub exchange: usize,
    /// Its line in `script.js`, from 1.
    pub line: u32,
}

/// Writes the script.
pub fn write(recording: &Recording, plan: &Plan, options: &Options) -> Script {
    let plan = unseen::with_forms(recording, plan);
    writer::Writer::new(recording, &plan, options).finish()
}
