//! How a run is steered from outside: paused, resumed, scaled. Stopping is the phase's own affair.

use serde::{Deserialize, Serialize};

/// How the run is steered, a part of the [`Phase`](crate::Phase): agents look at it as at all else that the leader writes, so that one
/// that was cut off sees the present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Steering {
    /// Grows with each change.
    pub serial: u64,
    /// Before the start, the run is held once all agents are ready; while it runs, no VU of a scenario that is controlled from
    /// outside begins an iteration.
    pub paused: bool,
    /// VUs that iterate in the scenario that is controlled from outside, of all agents together; none: as the script says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vus: Option<u64>,
    /// VUs that it has, of all agents together; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vus_max: Option<u64>,
}

/// A change that somebody asks for; none leaves it as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// As in [`Steering`].
    pub paused: Option<bool>,
    /// As in [`Steering`].
    pub vus: Option<u64>,
    /// As in [`Steering`].
    pub vus_max: Option<u64>,
}

impl Steering {
    /// How a run begins: held before its start, or not.
    pub fn beginning(is_paused: bool) -> Self {
        let mut steering = Self::default();
        steering.take(Wish { paused: Some(is_paused), ..Wish::default() });
        steering
    }

    /// Whether the run was never steered.
    pub(crate) fn is_unsteered(&self) -> bool {
        *self == Self::default()
    }

    /// Takes a wish; whether that changed something.
    pub(crate) fn take(&mut self, wish: Wish) -> bool {
        let wished = Self {
            serial: self.serial,
            paused: wish.paused.unwrap_or(self.paused),
            vus: wish.vus.or(self.vus),
            vus_max: wish.vus_max.or(self.vus_max),
        };
        let is_change = wished != *self;
        *self = Self { serial: self.serial + u64::from(is_change), ..wished };
        is_change
    }

    /// The steering to go on with where two leaders of a run, one after the other, wrote each their own: the later one, under a
    /// serial that no agent has seen with another content.
    pub(crate) fn after(self, other: Self) -> Self {
        match self.serial.cmp(&other.serial) {
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Equal if self != other => Self { serial: self.serial + 1, ..self },
            _ => self,
        }
    }
}

impl Wish {
    /// Adds a later wish.
    pub fn add(&mut self, later: Self) {
        self.paused = later.paused.or(self.paused);
        self.vus = later.vus.or(self.vus);
        self.vus_max = later.vus_max.or(self.vus_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_have_a_new_serial() {
        let mut steering = Steering::default();
        assert!(!steering.take(Wish { paused: Some(false), ..Wish::default() }));
        assert!(steering.take(Wish { paused: Some(true), vus: Some(5), vus_max: None }));
        assert!(!steering.take(Wish { vus: Some(5), ..Wish::default() }));
        assert!(steering.take(Wish { paused: Some(false), ..Wish::default() }));
        assert_eq!(steering, Steering { serial: 2, paused: false, vus: Some(5), vus_max: None });
    }

    #[test]
    fn no_serial_has_two_contents() {
        let one = Steering { serial: 3, paused: true, ..Steering::default() };
        let other = Steering { serial: 3, vus: Some(2), ..Steering::default() };
        let later = Steering { serial: 4, ..Steering::default() };
        assert_eq!(one.after(other), Steering { serial: 4, ..one });
        assert_eq!((one.after(one), one.after(later), later.after(one)), (one, later, later));
    }

    #[test]
    fn a_later_wish_wins_where_it_says_something() {
        let mut wish = Wish { paused: Some(true), vus: Some(1), vus_max: None };
        wish.add(Wish { paused: Some(false), vus: None, vus_max: Some(9) });
        assert_eq!(wish, Wish { paused: Some(false), vus: Some(1), vus_max: Some(9) });
    }
}
