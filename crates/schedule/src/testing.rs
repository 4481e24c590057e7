//! Tools that the tests of this crate share.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::{Executor, Scenario};

pub(crate) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// A scenario as a script gets it that says nothing but its executor.
pub(crate) fn scenario(executor: Executor) -> Scenario {
    Scenario {
        name: "s".into(),
        executor,
        start_time: Duration::ZERO,
        graceful_stop: secs(30),
        exec: "default".into(),
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
        warmup: Duration::ZERO,
        rhythm: crate::Rhythm::default(),
    }
}
