//! The random choices of one client.

use std::cell::{Cell, RefCell};

use fastrand::Rng;
use rustc_hash::FxHashMap;

use crate::settings::DnsSelect;

/// The most names whose turns a client remembers; then it begins anew with all of them.
const NAMES_MAX: usize = 256;

/// Whatever a client picks at random. The same seed makes the same choices, whatever other clients do.
#[derive(Debug)]
pub(crate) struct Chance {
    random: RefCell<Rng>,
    /// The turn that each name begins with.
    first_turn: Cell<usize>,
    /// The next turn of each name that has more than one: empty unless addresses are taken in turn.
    turns: RefCell<FxHashMap<Box<str>, usize>>,
}

impl Default for Chance {
    /// Of the system's randomness.
    fn default() -> Self {
        Self {
            random: RefCell::new(Rng::new()),
            first_turn: Cell::new(0),
            turns: RefCell::default(),
        }
    }
}

impl Chance {
    pub(crate) fn seed(&self, seed: u64, first_turn: usize) {
        *self.random.borrow_mut() = Rng::with_seed(seed);
        self.first_turn.set(first_turn);
        self.turns.borrow_mut().clear();
    }

    pub(crate) fn draw(&self) -> u64 {
        self.random.borrow_mut().u64(..)
    }

    /// Which address of a name is the next; the caller takes the rest of a division by their number.
    pub(crate) fn pick(&self, how: DnsSelect, host: &str) -> usize {
        match how {
            DnsSelect::First => 0,
            DnsSelect::Random => self.random.borrow_mut().usize(..),
            DnsSelect::RoundRobin => self.turn(host),
        }
    }

    fn turn(&self, host: &str) -> usize {
        let mut turns = self.turns.borrow_mut();
        if let Some(turn) = turns.get_mut(host) {
            let now = *turn;
            *turn = turn.wrapping_add(1);
            return now;
        }
        if turns.len() >= NAMES_MAX {
            turns.clear();
        }
        let first = self.first_turn.get();
        turns.insert(host.into(), first.wrapping_add(1));
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_makes_the_same_choices() {
        let picks = |seed, how| {
            let chance = Chance::default();
            chance.seed(seed, 1);
            (0..20).map(|_| chance.pick(how, "a.test") % 3).collect::<Vec<_>>()
        };
        assert_eq!(picks(7, DnsSelect::Random), picks(7, DnsSelect::Random));
        assert_ne!(picks(7, DnsSelect::Random), picks(8, DnsSelect::Random));
        assert_eq!(picks(7, DnsSelect::RoundRobin)[..4], [1, 2, 0, 1]);
        assert_eq!(picks(7, DnsSelect::First), [0; 20]);
    }

    #[test]
    fn each_name_has_its_own_turns_and_their_number_is_bounded() {
        let chance = Chance::default();
        let turn = |host: &str| chance.pick(DnsSelect::RoundRobin, host);
        assert_eq!([turn("a"), turn("b"), turn("a"), turn("b"), turn("a")], [0, 0, 1, 1, 2]);
        for n in 0..1000 {
            turn(&n.to_string());
        }
        assert!(chance.turns.borrow().len() <= NAMES_MAX);
    }
}
