//! k6 options: layers, precedence, validation, scenarios.
//!
//! Options come from four places, the later the stronger: the config file, the script's `options`
//! export, the environment (`K6_VUS`, or `BRUNT_VUS`), the command line. Each is read into an
//! [`Options`], in which every field may be unset:
//!
//! - [`Options::from_json`] reads what a script exports, or a config file ([`ConfigFile::parse`]),
//! - [`Options::from_environment`] reads variables,
//! - [`Options::from_flags`] reads the texts of flags; fields can also be set by hand.
//!
//! [`consolidate`] lays them over each other, turns the shortcuts (`vus`, `duration`, `iterations`,
//! `stages`) into a scenario, checks everything, and hands out a [`Consolidated`]: the scenarios as
//! `schedule` wants them, thresholds as `metrics` wants them, warnings to log, and the JSON forms that
//! `inspect`, archives and `exec.test.options` show. The meaning of an unset option is in the accessor
//! methods of [`Options`].
//!
//! A value that cannot be read is an [`OptionsError`] with the path of the key
//! (`scenarios.browse.stages[1].target`), what was expected there and what was given. Nothing here
//! reads a file or the environment by itself; the file of a `rateFile` is read by a function that the caller gives ([`Known`]).
#![forbid(unsafe_code)]

mod config_file;
mod consolidate;
mod defaults;
mod derive;
mod dns;
mod environment;
mod error;
mod flags;
mod hosts;
mod json;
mod local_ips;
mod options;
mod print;
mod rhythm;
mod scenario;
mod size;
mod stage;
mod system_tags;
mod threshold;
mod time_unit;
mod tls;
mod value;

pub use config_file::ConfigFile;
pub use consolidate::{Consolidated, Known, Layers, Rules, consolidate, consolidate_for};
pub use dns::{Dns, DnsPolicy, DnsSelect, DnsTtl};
pub use error::{Fault, Layer, OptionsError};
pub use hosts::{HostAddress, HostPattern, Network};
pub use local_ips::LocalIps;
pub use options::{Options, Parsed, UnknownKeys};
pub use rhythm::{ArrivalsKind, ReadFile, SineConfig};
pub use scenario::{ExecutorKind, ScenarioConfig};
pub use size::Size;
pub use stage::StageConfig;
pub use system_tags::{SystemTag, SystemTags};
pub use threshold::ThresholdConfig;
pub use time_unit::{SummaryTimeUnit, TimeUnit};
pub use tls::{TlsAuth, TlsCipherSuite, TlsVersion, TlsVersions};
