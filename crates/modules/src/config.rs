//! The options of a test for the modules, as plain data.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use brunt_leases::Leases;
use brunt_metrics::{Registry, TagSet};
use brunt_routes::Book;
use brunt_schedule::Segment;

use crate::watch::Watcher;

/// Known before the script's first init run.
#[derive(Debug, Clone)]
pub struct World {
    /// Where metrics are registered.
    pub registry: Arc<Registry>,
    /// `__ENV`: the environment (if it is included) and `-e`.
    pub env: BTreeMap<String, String>,
    /// `--compatibility-mode`: whether the global object has the alias `global`.
    pub extended: bool,
    /// `__ENV` can't be written to (the feature `freeze-env`).
    pub freeze_env: bool,
    /// Where all randomness of scripts begins.
    pub seed: u64,
    /// Somebody gave that seed to have the same requests again: cryptography draws from it, too. Otherwise the system's
    /// randomness is cryptography's.
    pub repeats: bool,
}

/// Known once the options are consolidated.
#[derive(Debug, Clone)]
pub struct Config {
    /// How clients connect.
    pub network: brunt_http::Settings,
    /// Source addresses; VU n uses the one at (n − 1) modulo their number.
    pub local_ips: Vec<IpAddr>,
    /// The run's tags.
    pub tags: TagSet,
    /// Which system tags are on.
    pub system_tags: SystemTags,
    /// Requests at the same time in `http.batch`; 0 is no limit.
    pub batch: usize,
    /// Of them to one host; 0 is no limit.
    pub batch_per_host: usize,
    /// Redirects that are followed.
    pub max_redirects: u32,
    /// Whether that number was set, so that reaching it is no surprise.
    pub max_redirects_set: bool,
    /// `User-Agent`; empty for none.
    pub user_agent: String,
    /// Bodies are dropped unless a request asks for its own.
    pub discard_response_bodies: bool,
    /// Failures throw.
    pub throw: bool,
    /// Requests per second of the whole process; 0 is no limit. An agent's is its share of that of the test, so perhaps less than one.
    pub rps: f64,
    /// VUs keep their cookies from one iteration to the next.
    pub no_cookies_reset: bool,
    /// Idle connections are closed after each iteration.
    pub no_vu_connection_reuse: bool,
    /// `exec.test.options`, as JSON.
    pub options_json: String,
    /// The value that replaces the script's exported `options`, as JSON.
    pub exported_json: String,
    /// The watcher of requests and checks.
    pub watcher: Option<Arc<dyn Watcher>>,
    /// The watcher of exchanges that failed, asked where there is no other: the rest costs it nothing.
    pub failures: Option<Arc<dyn Watcher>>,
    /// The routes of the run, if requests are told apart by them.
    pub routes: Option<Arc<Book>>,
    /// The share of the test that this process runs.
    pub segment: Segment,
    /// The things of `brunt/data` that several processes of a test share; `None` where they have no leader.
    pub leases: Option<Arc<Leases>>,
}

impl Default for Config {
    /// k6's defaults.
    fn default() -> Self {
        Self {
            network: brunt_http::Settings::default(),
            local_ips: Vec::new(),
            tags: TagSet::default(),
            system_tags: SystemTags::default(),
            batch: 20,
            batch_per_host: 6,
            max_redirects: 10,
            max_redirects_set: false,
            user_agent: concat!("brunt/", env!("CARGO_PKG_VERSION")).to_owned(),
            discard_response_bodies: false,
            throw: false,
            rps: 0.0,
            no_cookies_reset: false,
            no_vu_connection_reuse: false,
            options_json: "{}".to_owned(),
            exported_json: "{}".to_owned(),
            watcher: None,
            failures: None,
            routes: None,
            segment: Segment::full(),
            leases: None,
        }
    }
}

/// Which system tags samples carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "one switch per tag, as the option has them")]
#[allow(missing_docs, reason = "each field is the tag of its name")]
pub struct SystemTags {
    pub proto: bool,
    pub subproto: bool,
    pub status: bool,
    pub method: bool,
    pub url: bool,
    pub name: bool,
    pub group: bool,
    pub check: bool,
    pub error: bool,
    pub error_code: bool,
    pub tls_version: bool,
    pub scenario: bool,
    pub service: bool,
    pub expected_response: bool,
    pub iter: bool,
    pub vu: bool,
    pub ocsp_status: bool,
    pub ip: bool,
    pub route: bool,
}

impl SystemTags {
    /// The tags of these names; others are ignored, as in k6.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let has = |name: &str| names.contains(&name);
        Self {
            proto: has("proto"),
            subproto: has("subproto"),
            status: has("status"),
            method: has("method"),
            url: has("url"),
            name: has("name"),
            group: has("group"),
            check: has("check"),
            error: has("error"),
            error_code: has("error_code"),
            tls_version: has("tls_version"),
            scenario: has("scenario"),
            service: has("service"),
            expected_response: has("expected_response"),
            iter: has("iter"),
            vu: has("vu"),
            ocsp_status: has("ocsp_status"),
            ip: has("ip"),
            route: has("route"),
        }
    }
}

impl Default for SystemTags {
    /// k6's: all but `iter`, `vu`, `ocsp_status`, `ip` and our own `route`.
    fn default() -> Self {
        Self::of([
            "proto",
            "subproto",
            "status",
            "method",
            "url",
            "name",
            "group",
            "check",
            "error",
            "error_code",
            "tls_version",
            "scenario",
            "service",
            "expected_response",
        ])
    }
}
