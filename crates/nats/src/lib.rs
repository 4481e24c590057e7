//! The broker that a leader and its agents meet at: NATS with JetStream, seen as five things.
//!
//! ```text
//! keys    small values that are watched: plan, phase, seats          KV bucket  brunt_runs
//! frames  messages that must arrive, each once, in the end           stream     BRUNT_FRAMES
//! values  small values that processes change in turn: shared data    KV bucket  brunt_data
//! files   of any size: the archive, data of setup(), checkpoints     object store brunt_files
//! talk    messages that may be lost: beats, what was seen, clocks    core subjects
//! ```
//!
//! The cast: [`Access`] is where the broker is and how one logs in. [`Broker`] is a connection that comes back by itself; its
//! [`Run`] is the part of the broker that belongs to one run, under the run's id.
//!
//! Absent: what the messages say, who may do what when (crate `cluster`); flags, variables, threads (`cli`).
#![forbid(unsafe_code)]

mod access;
mod broker;
mod error;
mod files;
mod frames;
mod keys;
mod name;
mod talk;
mod values;

pub use self::access::Access;
pub use self::broker::{Broker, Link, Notice};
pub use self::error::BrokerError;
pub use self::frames::{FrameMessage, FrameStream, Stored};
pub use self::keys::{Change, Keys, News, Put};
pub use self::name::{NameError, check_name};
pub use self::talk::{Asked, Said, Talk};
pub use self::values::Value;

use std::sync::Arc;

/// One run's part of the broker.
#[derive(Clone)]
pub struct Run {
    broker: Broker,
    id: Arc<str>,
}

impl Broker {
    /// The part of this run.
    ///
    /// # Errors
    /// The id is no token of a subject.
    pub fn run(&self, id: &str) -> Result<Run, NameError> {
        check_name(id)?;
        Ok(Run { broker: self.clone(), id: Arc::from(id) })
    }
}

impl Run {
    /// The run's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The connection.
    pub fn broker(&self) -> &Broker {
        &self.broker
    }
}
