use proptest::prelude::*;

use super::*;
use crate::Stage;

const SECOND: Duration = Duration::from_secs(1);

fn scenario(executor: Executor) -> Scenario {
    Scenario {
        name: "s".into(),
        executor,
        start_time: Duration::ZERO,
        graceful_stop: Duration::from_secs(30),
        exec: "default".into(),
        env: std::collections::BTreeMap::new(),
        tags: std::collections::BTreeMap::new(),
    }
}
