//! Among whom a thing is shared.

use crate::shared::Shared;

/// The variable in which the processes of one test find how many they are.
const SEATS: &str = "BRUNT_SEATS";

/// Why this process is not alone in its test, as a part of a sentence; `None` if it is, or if the options that tell are not
/// known yet.
pub(super) fn others(shared: &Shared) -> Option<String> {
    let seats = shared.world.env.get(SEATS).and_then(|text| text.trim().parse().ok());
    if let Some(seats) = seats.filter(|seats: &u32| *seats > 1) {
        return Some(format!("this process is one of {seats} ({SEATS})"));
    }
    let segment = &shared.known_config()?.segment;
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
        match others(shared) {
            Some(why) if self == Self::Test => Err(format!(
                "{kind} \"{name}\": {why}, and processes can't share a {kind} yet: give it {{ share: 'instance' }} for one of its \
                 own in each process"
            )),
            _ => Ok(()),
        }
    }
}
