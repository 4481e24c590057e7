//! The form application: pages by a server that keeps state for each of them, in the manner of JSF. Every form has a hidden
//! token that changes with every page, and that a load test must carry along.
//!
//! ```text
//!   http ── respond ──┬── session   who is logged in, orders, the newest tokens
//!     │   (the rules) ├── token     made, and known again
//!     │               └── page      HTML, or XML for scripts in the browser
//!     └── resource    theme.css, jsf.js, logo.png, with ETag and max-age
//! ```
//!
//! A load test of it shows: a replay of recorded tokens fails at the first POST, one token read at the login is good for
//! one POST only, and a test that looks at statuses alone may miss all of it (`--soft-errors`).

mod config;
pub(crate) mod http;
mod order;
mod page;
mod resource;
mod respond;
mod session;
mod steps;
mod token;
mod view;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde_json::{Map, Value, json};

pub use self::config::FormConfig;
use self::page::Look;
use self::session::{SESSIONS_MAX, Sessions};
use self::steps::{Step, Tally};
use self::token::Mint;
use crate::dice::Dice;
use crate::stats::Gauge;

macro_rules! refusals {
    ($($variant:ident $name:literal $reason:literal,)*) => {
        /// Why a token is refused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Refused {
            $(#[doc = $reason] $variant,)*
        }

        impl Refused {
            const NAMES: [&str; 6] = [$($name,)*];

            const fn reason(self) -> &'static str {
                match self {
                    $(Self::$variant => $reason,)*
                }
            }
        }
    };
}

refusals! {
    Missing "missing" "there is no token",
    Malformed "malformed" "the token is not one of ours, or was changed on its way",
    Foreign "foreign" "the token belongs to another session",
    Expired "expired" "the token has expired",
    OtherView "other_view" "the token belongs to another view",
    Used "used" "the token was used before",
}

/// The counts of the application.
#[derive(Debug, Default)]
struct Counts {
    steps: Tally,
    /// Sessions that logged out after each of the other steps.
    journeys: AtomicU64,
    wrong_passwords: AtomicU64,
    /// Requests that were sent to the login.
    no_session: AtomicU64,
    stale_versions: AtomicU64,
    given: AtomicU64,
    accepted: AtomicU64,
    refused: [AtomicU64; Refused::NAMES.len()],
    files: AtomicU64,
    file_bytes: AtomicU64,
    resources: AtomicU64,
    not_modified: AtomicU64,
}

impl Counts {
    fn reset(&self) {
        self.steps.reset();
        let single = [
            &self.journeys,
            &self.wrong_passwords,
            &self.no_session,
            &self.stale_versions,
            &self.given,
            &self.accepted,
            &self.files,
            &self.file_bytes,
            &self.resources,
            &self.not_modified,
        ];
        single.into_iter().chain(&self.refused).for_each(|count| count.store(0, Relaxed));
    }
}

/// The form application's whole state.
#[derive(Debug)]
pub(crate) struct Forms {
    config: FormConfig,
    look: Look,
    dice: Arc<Dice>,
    mint: Mint,
    sessions: Sessions,
    /// The views that sessions keep.
    kept: Arc<Gauge>,
    counts: Counts,
}

impl Forms {
    /// The application. It rolls dice of its own: whatever else is random stays as it is.
    pub(crate) fn new(config: &FormConfig, seed: Option<u64>) -> Self {
        let dice = Arc::new(Dice::new(seed.map(|seed| !seed)));
        Self {
            look: Look {
                family: if config.jakarta { "jakarta" } else { "javax" },
                has_entities: config.html_entities,
            },
            mint: Mint::new(dice.clone()),
            sessions: Sessions::new(config.session_timeout, SESSIONS_MAX),
            kept: Arc::default(),
            counts: Counts::default(),
            config: config.clone(),
            dice,
        }
    }

    /// Ends all sessions and sets the counters to zero.
    pub(crate) fn reset(&self) {
        self.sessions.clear();
        self.kept.forget();
        self.counts.reset();
    }

    /// Its truth: journeys, steps, sessions, tokens, uploads.
    pub(crate) fn report(&self) -> Value {
        let counts = &self.counts;
        let refused = Refused::NAMES.iter().zip(&counts.refused);
        let refused: Map<String, Value> =
            refused.map(|(name, count)| ((*name).to_owned(), count.load(Relaxed).into())).collect();
        let count = |count: &AtomicU64| count.load(Relaxed);
        json!({
            "journeys": { "begun": counts.steps.count(Step::Login), "done": count(&counts.journeys) },
            "steps": counts.steps.report(),
            "wrong_passwords": count(&counts.wrong_passwords),
            "no_session": count(&counts.no_session),
            "stale_versions": count(&counts.stale_versions),
            "sessions": self.sessions.report(),
            "views": self.kept.report(),
            "tokens": {
                "given": count(&counts.given),
                "accepted": count(&counts.accepted),
                "refused": refused,
            },
            "uploads": { "files": count(&counts.files), "bytes": count(&counts.file_bytes) },
            "resources": {
                "sent": count(&counts.resources),
                "not_modified": count(&counts.not_modified),
            },
        })
    }
}
