//! The plan of a run: all that agents must know before they load the script.

use brunt_schedule::Segment;
use serde::{Deserialize, Serialize};

use crate::time::MILLI;

/// The one format of plans and frames that this version speaks.
pub const FORMAT: u32 = 1;

/// The most seats of a run.
pub const SEATS_MAX: u32 = 10_000;

/// The most seats of a run with those of take-overs.
pub(crate) const PLACES_MAX: u32 = 2 * SEATS_MAX;

/// An agent without a beat for so long is suspect; no sooner is it lost.
pub(crate) const SUSPECT_MS: u64 = 3000;

/// The largest archive, in bytes.
pub const ARCHIVE_MAX: u64 = 1 << 30;

/// The longest limit, in milliseconds: about thirty years. With it no sum of times overflows.
const LIMIT_MAX_MS: u64 = 1 << 40;

/// The plan of a run, written once by the leader under [`Key::Plan`](crate::Key::Plan).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// 1. Another one is refused by name.
    pub format: u32,
    /// The version of Brunt that wrote it; agents of another one are refused by the leader.
    pub version: String,
    /// A number that no other run has, under the same run id or another: whatever bears another number is ignored.
    pub nonce: u64,
    /// How many agents.
    pub seats: u32,
    /// The execution segment sequence, `0,1/4,2/4,3/4,1`: one segment for each seat.
    pub sequence: String,
    /// The script and its files.
    pub archive: Archive,
    /// A digest of the consolidated options, as the leader's init code gave them; agents that come to another one are refused.
    pub digest: String,
    /// From one frame of an agent to the next, in milliseconds.
    #[serde(default = "thousand")]
    pub frame_ms: u64,
    /// From one beat of an agent to the next, in milliseconds.
    #[serde(default = "thousand")]
    pub beat_ms: u64,
    /// Whether the script has a `setup()` that is to be run.
    pub has_setup: bool,
    /// Whether the script has a `teardown()` that is to be run.
    pub has_teardown: bool,
    /// How long each wait may take.
    pub limits: Limits,
    /// The way to go on when an agent is lost.
    pub policy: Policy,
    /// As many lost agents make no failure of the run.
    #[serde(default)]
    pub allow_lost: u32,
    /// Other things that the commands tell each other; the machines don't look at it.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub settings: serde_json::Map<String, serde_json::Value>,
}

fn thousand() -> u64 {
    1000
}

/// The script and its files, packed, in the object store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archive {
    /// In hexadecimal digits.
    pub sha256: String,
    /// In bytes.
    pub size: u64,
}

/// How long each wait may take, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// For all agents to come.
    pub agents_wait_ms: u64,
    /// For all agents to load the script and to be ready.
    pub load_ms: u64,
    /// For `setup()`: its timeout; ten seconds are added.
    pub setup_ms: u64,
    /// For the scenarios: the longest they can take; thirty seconds are added.
    pub run_ms: u64,
    /// For all agents to stop.
    pub stopping_ms: u64,
    /// For `teardown()`: its timeout; ten seconds are added.
    pub teardown_ms: u64,
    /// For the last frames to come.
    pub close_ms: u64,
    /// An agent without a beat for so long is lost.
    pub agent_timeout_ms: u64,
    /// An agent that has heard nothing of the leader for so long ends by itself.
    pub leader_timeout_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            agents_wait_ms: 300_000,
            load_ms: 300_000,
            setup_ms: 60_000,
            run_ms: 600_000,
            stopping_ms: 30_000,
            teardown_ms: 60_000,
            close_ms: 30_000,
            agent_timeout_ms: 15_000,
            leader_timeout_ms: 300_000,
        }
    }
}

impl Limits {
    fn all(&self) -> [u64; 9] {
        let Self { agents_wait_ms, load_ms, setup_ms, run_ms, stopping_ms, .. } = *self;
        let Self { teardown_ms, close_ms, agent_timeout_ms, leader_timeout_ms, .. } = *self;
        [
            agents_wait_ms,
            load_ms,
            setup_ms,
            run_ms,
            stopping_ms,
            teardown_ms,
            close_ms,
            agent_timeout_ms,
            leader_timeout_ms,
        ]
    }
}

/// The way to go on when an agent is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The others run on; the run is incomplete.
    #[default]
    GoOn,
    /// All stop.
    Stop,
    /// Another agent makes the lost one's load, as a second run in its process; the run is incomplete all the same.
    TakeOver,
}

/// Why a plan cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It is no plan.
    #[error("the plan of the run cannot be read: {0}")]
    Unreadable(String),
    /// Another version wrote it, in a format that this one does not speak.
    #[error(
        "the plan of the run has format {0}, this version of brunt knows format {FORMAT}: run the same version on all machines"
    )]
    Format(u32),
    /// Too few or too many seats.
    #[error("a run has 1 to {SEATS_MAX} agents, not {0}")]
    Seats(u32),
    /// The sequence has not one segment for each seat.
    #[error("the execution segment sequence {sequence:?} is not one for {seats} agents: {reason}")]
    Sequence {
        /// As the plan has it.
        sequence: String,
        /// Of the plan.
        seats: u32,
        /// In words.
        reason: String,
    },
    /// The archive is too large.
    #[error(
        "the archive of the script has {0} bytes, 1 GiB is the limit: keep large data elsewhere"
    )]
    Archive(u64),
    /// A limit that no run can have.
    #[error(
        "a limit of {0} ms in the plan of the run is too long: {LIMIT_MAX_MS} ms is the longest"
    )]
    Limit(u64),
}

impl Plan {
    /// Reads a plan and checks it.
    ///
    /// # Errors
    /// [`PlanError`], if this version cannot follow it.
    pub fn read(json: &[u8]) -> Result<Self, PlanError> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let unreadable = |error: serde_json::Error| PlanError::Unreadable(error.to_string());
        let head: Head = serde_json::from_slice(json).map_err(unreadable)?;
        if head.format != FORMAT {
            return Err(PlanError::Format(head.format));
        }
        let plan: Self = serde_json::from_slice(json).map_err(unreadable)?;
        plan.check()?;
        Ok(plan)
    }

    /// Whether this version can follow it.
    ///
    /// # Errors
    /// [`PlanError`] if not.
    pub fn check(&self) -> Result<(), PlanError> {
        if self.format != FORMAT {
            return Err(PlanError::Format(self.format));
        }
        if self.seats == 0 || self.seats > SEATS_MAX {
            return Err(PlanError::Seats(self.seats));
        }
        if self.archive.size > ARCHIVE_MAX {
            return Err(PlanError::Archive(self.archive.size));
        }
        let own = [self.frame_ms, self.beat_ms];
        if let Some(limit) = own.into_iter().chain(self.limits.all()).max()
            && limit > LIMIT_MAX_MS
        {
            return Err(PlanError::Limit(limit));
        }
        self.segment(1).map(drop)
    }

    /// Under take-over: an agent that has no answer of the broker for so long begins no more iterations, in nanoseconds. It is less
    /// than the time after which it is lost, so that no load is ever made twice.
    pub(crate) fn fence(&self) -> Option<u64> {
        let lost = self.limits.agent_timeout_ms.max(SUSPECT_MS).saturating_mul(MILLI);
        (self.policy == Policy::TakeOver).then_some(lost / 3 * 2)
    }

    /// The segment of a seat, 1 to `seats`.
    ///
    /// # Errors
    /// [`PlanError::Sequence`].
    pub fn segment(&self, seat: u32) -> Result<Segment, PlanError> {
        let error = |reason: String| PlanError::Sequence {
            sequence: self.sequence.clone(),
            seats: self.seats,
            reason,
        };
        let bounds: Vec<&str> = self.sequence.split(',').collect();
        if bounds.len() != self.seats as usize + 1 {
            return Err(error(format!("it has {} parts", bounds.len().saturating_sub(1))));
        }
        let seat = (seat as usize).clamp(1, self.seats as usize);
        let own = format!("{}:{}", bounds[seat - 1], bounds[seat]);
        Segment::parse(Some(&own), Some(&self.sequence)).map_err(|reason| error(reason.to_string()))
    }

    /// The sequence of machines of these shares: `[2, 1, 1]` is `0,2/4,3/4,1`.
    pub fn sequence_of(shares: &[u32]) -> String {
        let all: u64 = shares.iter().map(|share| u64::from(*share)).sum();
        let mut below = 0_u64;
        let mut text = "0".to_owned();
        for share in shares {
            below += u64::from(*share);
            text.push(',');
            let bound = if below == all { "1".to_owned() } else { format!("{below}/{all}") };
            text.push_str(&bound);
        }
        text
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plan(seats: u32) -> Plan {
        Plan {
            format: FORMAT,
            version: "0".into(),
            nonce: 7,
            seats,
            sequence: Plan::sequence_of(&vec![1; seats as usize]),
            archive: Archive { sha256: String::new(), size: 1 },
            digest: String::new(),
            frame_ms: 1000,
            beat_ms: 1000,
            has_setup: true,
            has_teardown: true,
            limits: Limits::default(),
            policy: Policy::GoOn,
            allow_lost: 0,
            settings: serde_json::Map::new(),
        }
    }

    #[test]
    fn a_plan_is_read_as_it_was_written_and_unknown_fields_are_no_trap() {
        let plan = plan(3);
        let mut json = serde_json::to_value(&plan).unwrap();
        json["of_tomorrow"] = serde_json::json!([1, 2]);
        assert_eq!(Plan::read(json.to_string().as_bytes()), Ok(plan));
    }

    #[test]
    fn what_cannot_be_followed_is_refused_by_name() {
        let told = |change: fn(&mut serde_json::Value)| {
            let mut json = serde_json::to_value(plan(2)).unwrap();
            change(&mut json);
            Plan::read(json.to_string().as_bytes()).unwrap_err().to_string()
        };
        assert!(told(|json| json["format"] = 2.into()).contains("has format 2"));
        assert!(told(|json| json["beat_ms"] = u64::MAX.into()).contains("is too long"));
        let limits = |json: &mut serde_json::Value| json["limits"]["run_ms"] = (1_u64 << 41).into();
        assert!(told(limits).contains("is too long"));
        assert!(told(|json| json["seats"] = 3.into()).contains("it has 2 parts"));
        assert!(told(|json| json["seats"] = 0.into()).contains("not 0"));
        assert!(told(|json| json["sequence"] = "0,2,1".into()).contains("0,2,1"));
        assert!(told(|json| json["archive"]["size"] = (2_u64 << 30).into()).contains("1 GiB"));
        assert!(Plan::read(b"[]").is_err() && Plan::read(b"").is_err());
    }

    #[test]
    fn unequal_machines_make_unequal_segments() {
        assert_eq!(Plan::sequence_of(&[2, 1, 1]), "0,2/4,3/4,1");
        let plan = Plan { sequence: Plan::sequence_of(&[2, 1, 1]), ..plan(3) };
        let shares = [1, 2, 3].map(|seat| plan.segment(seat).unwrap().scale(400));
        assert_eq!(shares, [200, 100, 100]);
    }
}
