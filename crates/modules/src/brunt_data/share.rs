//! Among whom a thing is shared, and the wait for those elsewhere.

use std::future::Future;

use brunt_fiber::{block_on, on_fiber};
use brunt_js::{Host, Phase};
use brunt_quickjs::{Ctx, JsResult};

use crate::shared::Shared;
use crate::throwing::{throw, throw_stopped};

/// The variable in which the processes of one test find how many they are.
const SEATS: &str = "BRUNT_SEATS";

/// The variable in which an agent finds which one it is.
const SEAT: &str = "BRUNT_SEAT";

/// Whether this process leads agents, and runs none of the test but `handleSummary()`.
pub(super) fn is_leader(shared: &Shared) -> bool {
    shared.config().leases.is_some() && !shared.world.env.contains_key(SEAT)
}

/// Why this process is not alone in its test, as a part of a sentence; `None` if it is, or if the options that tell are not
/// known yet.
pub(super) fn others(shared: &Shared) -> Option<String> {
    let config = shared.known_config()?;
    let seats = shared.world.env.get(SEATS).and_then(|text| text.trim().parse().ok());
    if let Some(seats) = seats.filter(|seats: &u32| *seats > 1) {
        return Some(format!("this process is one of {seats} ({SEATS})"));
    }
    let segment = &config.segment;
    (!segment.is_full()).then(|| format!("this process runs the segment {segment} of the test"))
}

/// Among whom queues and counters are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// All VUs of the test.
    Test,
    /// The VUs of this process.
    Instance,
}

impl Scope {
    /// The words for them.
    pub(super) const WORDS: &[(&str, Self)] = &[("test", Self::Test), ("instance", Self::Instance)];

    /// Refuses to share in a test of several processes.
    ///
    /// # Errors
    /// A sentence for the user.
    pub(super) fn check(self, shared: &Shared, kind: &str, name: &str) -> Result<(), String> {
        let is_led = shared.config().leases.is_some();
        match others(shared).filter(|_| !is_led) {
            Some(why) if self == Self::Test => Err(format!(
                "{kind} \"{name}\": {why}, and no leader leads all processes: they share a {kind} with `brunt run --agents`; \
                 {{ share: 'instance' }} gives each process one of its own"
            )),
            _ => Ok(()),
        }
    }
}

/// Whether init code runs: nothing is asked of others then.
pub(super) fn is_init(ctx: Ctx<'_>) -> bool {
    Host::of(ctx).phase() == Phase::Init
}

/// The answer of other processes: the VU's fiber waits for it.
///
/// # Errors
/// The error of the answer, behind `whose`; the VU was stopped while it waited.
pub(super) fn waited<'js, T>(
    ctx: Ctx<'js>,
    answer: impl Future<Output = Result<T, String>>,
    whose: impl Fn() -> String,
) -> JsResult<'js, T> {
    let fails = |why: &str| throw(ctx, &format!("{}: {why}", whose()));
    if !on_fiber() {
        return Err(fails("nothing can be waited for here"));
    }
    block_on(answer).map_err(|_| throw_stopped(ctx))?.map_err(|why| fails(&why))
}
