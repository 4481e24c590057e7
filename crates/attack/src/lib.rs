//! Targets in, hits out, each when it is due: vegeta's way, as a library.
//!
//! ```text
//! TargetReader ─► Targets ─┐          one thread per core
//!                          ▼      ┌──────────────────────────────────────────────┐
//! Plan (Pacer, limits) ─► Attack ─┤ pacer ─► worker ─► brunt_http ─► Record ─► Sink
//!                          ▲      └──────────────────────────────────────────────┘
//! Control (stop, abort) ───┘              Outcome: what was due, what was begun, why not more
//! ```
//!
//! Hit `n` of the schedule is due at a moment that a formula gives ([`Pacer::due`]); core `n` modulo their number
//! begins it, whatever became of the earlier hits, with a worker that has nothing to do or with a new one. Each record
//! has both moments: when the hit was due and when it was begun. Without a schedule ([`Pacer::Unlimited`]) each worker
//! begins its next hit when its last one has ended.
//!
//! A `Load` is the work of one hit: an HTTP exchange, or a statement on a database ([`sql`],
//! [`Attack::of_queries`]). Pacing, workers and records are the same for both, and know neither.
//!
//! Nothing grows with the length of an attack: records go to a [`Sink`] one by one, and when that has no room, no hits
//! are begun. Targets that are read beforehand are all in memory; those that are read meanwhile ([`TargetStream`]) are
//! a few hundred. Absent: files to write, flags, reports.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use std::time::Duration;
//!
//! use brunt_attack::{Attack, Control, Defaults, Format, Pacer, Plan, Rate, TargetReader};
//! use brunt_records::Record;
//!
//! let server = brunt_demo::Demo::start(brunt_demo::DemoConfig::fast())?;
//! let text = format!("GET http://{}/ping", server.addr());
//! let targets = TargetReader::new(text.as_bytes(), Format::Http, Defaults::default()).all()?;
//!
//! let plan = Plan {
//!     pacer: Pacer::of_rate(Rate::parse("100/s")?),
//!     duration: Some(Duration::from_millis(300)),
//!     ..Plan::default()
//! };
//! let codes = Arc::new(Mutex::new(Vec::new()));
//! let outcome = Attack::new(plan, targets.into())?.run(&Control::new(), |_core| {
//!     let codes = Arc::clone(&codes);
//!     Box::new(move |record: &Record| codes.lock().unwrap().push(record.code))
//! })?;
//! assert_eq!(outcome.begun, 30);
//! assert!(codes.lock().unwrap().iter().all(|&code| code == 200));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod attack;
mod control;
mod core;
mod exporter;
mod http;
mod load;
mod outcome;
pub mod pacer;
mod plan;
mod sink;
pub mod sql;
mod stream;
pub mod target;
mod targets;

pub use attack::{Attack, AttackError};
pub use brunt_duration::DurationError;
pub use brunt_schedule::{InvalidRate, Rate};
pub use control::Control;
pub use exporter::Exporter;
pub use outcome::{Outcome, Reason};
pub use pacer::Pacer;
pub use plan::Plan;
pub use sink::{Several, Sink};
pub use stream::Stream;
pub use target::{Defaults, Format, Target, TargetError, TargetReader};
pub use targets::{TargetStream, Targets};
