//! The seam to JavaScript: all that `run` and `inspect` need of it, and nothing else.
//!
//! ```text
//! Host::load ──▶ Script (init code ran once, __VU 0) ──▶ options, functions
//!                  │ into_runner(test)
//!                  ▼
//!                Runner (the engine drives it) ──▶ handle_summary(data)
//! ```

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use brunt_engine::Runner;
use brunt_leases::Leases;
use brunt_metrics::{Registry, TagSet};
use brunt_modules::watch::Watcher;
use brunt_routes::Book;
use brunt_schedule::Segment;
use serde_json::Value;

use crate::{
    failure::Outcome,
    settings::{FileType, ScriptSettings},
};

/// The inputs for loading a script.
#[derive(Debug, Clone)]
pub(crate) struct Source<'a> {
    /// As the user named it; `-` is standard input.
    pub(crate) name: &'a str,
    /// `--type`.
    pub(crate) kind: FileType,
    /// `__ENV`.
    pub(crate) env: &'a BTreeMap<String, String>,
    /// Whether the global `global` exists (`--compatibility-mode extended`); `None` leaves it to the archive.
    pub(crate) extended: Option<bool>,
    /// `__ENV` can't be written to.
    pub(crate) freeze_env: bool,
    /// Modules may come from `https://` addresses.
    pub(crate) remote: bool,
    /// Libraries of jslib are those that are built in.
    pub(crate) libraries: bool,
    /// Where init code registers its metrics.
    pub(crate) registry: Arc<Registry>,
    /// Where all randomness of the script begins.
    pub(crate) seed: u64,
    /// Somebody gave that seed: what a script sends repeats to the last byte.
    pub(crate) repeats: bool,
}

impl<'a> Source<'a> {
    /// The script of that name, as the settings say, with a random seed; `__ENV` can be written to.
    pub(crate) fn of(
        name: &'a str,
        settings: &'a ScriptSettings,
        registry: &Arc<Registry>,
    ) -> Self {
        Self {
            name,
            kind: settings.kind,
            env: &settings.env,
            extended: settings.extended(),
            freeze_env: false,
            remote: settings.remote,
            libraries: settings.libraries,
            registry: Arc::clone(registry),
            seed: fastrand::u64(..),
            repeats: false,
        }
    }
}

/// A loader of scripts.
pub(crate) trait Host {
    /// The loaded script.
    type Script: Script;

    /// Reads the script and what it imports, and runs the init code once.
    ///
    /// # Errors
    /// Not found (255); a syntax error, an import that is not there, an exception (107, with the place in
    /// the author's file); `exec.test.abort()` (108).
    fn load(&self, source: &Source<'_>) -> Outcome<Self::Script>;
}

/// A script whose init code ran.
pub(crate) trait Script: Sized {
    /// The runner that the engine drives.
    type Runner: TestRunner;

    /// The export `options`; null if there is none.
    fn options(&self) -> &Value;

    /// The names of exported functions, `default` among them.
    fn functions(&self) -> &[String];

    /// The names of other exports.
    fn others(&self) -> &[String];

    /// The text of the main file, for the new shape of the summary.
    fn text(&self) -> &str;

    /// The files that it is made of, the main one first: URLs and texts.
    fn sources(&self) -> Vec<(String, Arc<str>)> {
        Vec::new()
    }

    /// The URL of that text; none if its options come from elsewhere.
    fn url(&self) -> Option<&str> {
        None
    }

    /// The text of a file that its options name; a relative path counts from the folder of the main script.
    ///
    /// # Errors
    /// Why there is none.
    fn read_file(&self, name: &str) -> Result<String, String> {
        Err(format!("{name} cannot be read"))
    }

    /// Makes it ready to run.
    ///
    /// # Errors
    /// Something that only the consolidated options show, such as an unreadable certificate (104).
    fn into_runner(self, test: &TestOptions) -> Outcome<Arc<Self::Runner>>;
}

/// The facts about the test as a whole that the script world must know.
#[derive(Debug, Clone)]
pub(crate) struct TestOptions {
    /// All layers together; what unset options mean is told by its methods.
    pub(crate) options: brunt_options::Options,
    /// The value of `exec.test.options`.
    pub(crate) exec_options: Value,
    /// The value that replaces each VU's exported `options`.
    pub(crate) written_back: Value,
    /// The share of the test's `rps` that is this process's: an agent's own, else 1.
    pub(crate) share: f64,
    /// The process environment: proxies, `SSLKEYLOGFILE`.
    pub(crate) env: BTreeMap<String, String>,
    /// The tags of everything.
    pub(crate) run_tags: TagSet,
    /// The watcher of requests and checks.
    pub(crate) watcher: Option<Arc<dyn Watcher>>,
    /// The watcher of requests that failed, where there is no other.
    pub(crate) failures: Option<Arc<dyn Watcher>>,
    /// The routes of the run, if requests are told apart by them.
    pub(crate) routes: Option<Arc<Book>>,
    /// The share of the test that this process runs.
    pub(crate) segment: Segment,
    /// The things that several processes of a test share; `None` where they have no leader.
    pub(crate) leases: Option<Arc<Leases>>,
}

/// A runner with an end.
pub(crate) trait TestRunner: Runner {
    /// Calls `handleSummary(data)` in a fresh VM, if the script exports it. `data` is JSON text. Called once,
    /// after the engine is done, on a thread that runs no async runtime. Takes no longer than `limit`. `changed`, if it is
    /// asked for, becomes what the function made of its data, as JSON, or why there is none.
    fn handle_summary(
        &self,
        data: String,
        limit: Duration,
        changed: Option<&mut Option<Result<String, String>>>,
    ) -> Answer;
}

/// The answer of `handleSummary()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// There is no such function, or it returned nothing: the usual text is shown.
    Usual,
    /// Texts to write, by file name.
    Write(Files),
    /// It threw or took too long: that is logged, and the usual text is shown.
    Failed(String),
    /// Its promise was rejected: that is logged, and nothing is shown.
    Rejected(String),
    /// It returned what can't be written: that is logged, and nothing is shown.
    Unusable(String),
}

/// Destination (`stdout`, `stderr` or a path) and content, in the order in which they are written.
pub(crate) type Files = Vec<(String, Vec<u8>)>;
