//! The keys of a run in the key-value store.

use std::fmt;

/// A key of a run. The adapter puts the run's id and a dot before it: `RUN.seat.3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A [`Plan`](crate::Plan), by the leader.
    Plan,
    /// A [`Phase`](crate::Phase), by the leader.
    Phase,
    /// A [`LeaderSign`](crate::LeaderSign), by the leader.
    Leader,
    /// A [`Seat`](crate::Seat), by the agent that took it first.
    Seat(u32),
    /// An [`AgentState`](crate::AgentState), by the agent of that seat.
    Agent(u32),
    /// [`SetupData`](crate::SetupData), by the agent that ran `setup()`.
    Setup,
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan => out.write_str("plan"),
            Self::Phase => out.write_str("phase"),
            Self::Leader => out.write_str("leader"),
            Self::Seat(seat) => write!(out, "seat.{seat}"),
            Self::Agent(seat) => write!(out, "agent.{seat}"),
            Self::Setup => out.write_str("setup"),
        }
    }
}

impl Key {
    /// Reads a key as [`Display`](fmt::Display) writes it; none for strangers.
    pub fn parse(text: &str) -> Option<Self> {
        let seat = |text: &str| {
            let seat: u32 = text.parse().ok()?;
            (1..=crate::plan::PLACES_MAX).contains(&seat).then_some(seat)
        };
        Some(match text {
            "plan" => Self::Plan,
            "phase" => Self::Phase,
            "leader" => Self::Leader,
            "setup" => Self::Setup,
            _ => match text.split_once('.')? {
                ("seat", rest) => Self::Seat(seat(rest)?),
                ("agent", rest) => Self::Agent(seat(rest)?),
                _ => return None,
            },
        })
    }
}

/// A write, and on what it depends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The key.
    pub key: Key,
    /// JSON; none deletes the key.
    pub value: Option<Vec<u8>>,
    /// The state of the key in which it is to be done.
    pub expect: Expect,
}

/// The state of a key on which a write depends; in any other one it is a conflict and changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The key does not exist (or was deleted): `create`.
    Absent,
    /// Its revision: `update`.
    Revision(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written_and_strangers_are_none() {
        for key in
            [Key::Plan, Key::Phase, Key::Leader, Key::Setup, Key::Seat(3), Key::Agent(10_000)]
        {
            assert_eq!(Key::parse(&key.to_string()), Some(key));
        }
        for text in ["", "seat", "seat.", "seat.0", "seat.20001", "seat.-1", "agent.x", "plan.1"] {
            assert_eq!(Key::parse(text), None, "{text}");
        }
    }
}
