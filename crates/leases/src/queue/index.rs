//! The order of a queue's values, without the values.
//!
//! ```text
//!  fronts: put back, a stack         backs: put, in a row
//!  [ f7 ][ f3 f2 ]                   [ b12 b13 … b40 ]
//!    ▲ taken next                      ▲ taken when no front is left
//! ```
//!
//! A number is given to one value only, so that no value is ever mistaken for another.

use serde::{Deserialize, Serialize};

use crate::cell::State;

/// Runs of numbers that were put back; a queue with more of them takes back no more. 64 KiB as JSON.
const RUNS_MAX: usize = 4096;

/// The index of a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Index {
    /// The first number of `backs`.
    first: u64,
    /// The number behind the last of them.
    end: u64,
    /// Runs of numbers of values that were put back: first number and count. The last run is the top.
    fronts: Vec<(u64, u64)>,
    /// The next number of them.
    given: u64,
    /// Of all values.
    bytes: u64,
}

/// The most that a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Values.
    pub values: u64,
    /// Bytes of all values together.
    pub bytes: u64,
}

/// Where a value is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Behind all others.
    Back,
    /// Before all others.
    Front,
}

/// The number of a value, and its side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) end: End,
    pub(super) number: u64,
}

/// An operation, and the bytes of values that were taken since the last one.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) step: Step,
    pub(super) freed: u64,
}

#[derive(Debug)]
pub(super) enum Step {
    /// A place for a value of this many bytes.
    Add(End, u64),
    Take,
    Look,
}

/// Its result: the value's place, if there is one; and how many values wait now.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) item: Option<Item>,
    pub(super) length: u64,
}

impl State for Index {
    type Rules = Bounds;
    type Ask = Asked;
    type Told = Told;

    fn first(_: &Bounds) -> Self {
        Self::default()
    }

    fn apply(&mut self, bounds: &Bounds, asked: &Asked) -> Result<Told, String> {
        self.bytes = self.bytes.saturating_sub(asked.freed);
        let item = match asked.step {
            Step::Add(end, bytes) => self.add(bounds, end, bytes),
            Step::Take => self.take(),
            Step::Look => None,
        };
        Ok(Told { item, length: self.length() })
    }
}

impl Index {
    fn length(&self) -> u64 {
        let fronts: u64 = self.fronts.iter().map(|(_, count)| count).sum();
        self.end - self.first + fronts
    }

    fn add(&mut self, bounds: &Bounds, end: End, bytes: u64) -> Option<Item> {
        if self.length() >= bounds.values || self.bytes + bytes > bounds.bytes {
            return None;
        }
        let number = match end {
            End::Back => {
                self.end += 1;
                self.end - 1
            }
            End::Front => {
                let runs = self.fronts.len();
                match self.fronts.last_mut() {
                    Some((first, count)) if *first + *count == self.given => *count += 1,
                    _ if runs >= RUNS_MAX => return None,
                    _ => self.fronts.push((self.given, 1)),
                }
                self.given += 1;
                self.given - 1
            }
        };
        self.bytes += bytes;
        Some(Item { end, number })
    }

    fn take(&mut self) -> Option<Item> {
        if let Some((first, count)) = self.fronts.last_mut() {
            *count -= 1;
            let number = *first + *count;
            if *count == 0 {
                self.fronts.pop();
            }
            return Some(Item { end: End::Front, number });
        }
        let number = self.first;
        (number < self.end).then(|| {
            self.first += 1;
            Item { end: End::Back, number }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};

    use super::*;

    const BOUNDS: Bounds = Bounds { values: 30, bytes: 300 };

    fn told(index: &mut Index, step: Step, freed: u64) -> Told {
        index.apply(&BOUNDS, &Asked { step, freed }).unwrap()
    }

    #[test]
    fn it_is_a_queue_with_two_ends() {
        let mut random = fastrand::Rng::with_seed(7);
        let (mut index, mut model) = (Index::default(), VecDeque::new());
        let mut seen = BTreeSet::new();
        for _ in 0..10_000 {
            let is_full = model.len() >= 30;
            match random.u8(0..5) {
                0 | 1 => {
                    let item = told(&mut index, Step::Add(End::Back, 1), 0).item;
                    assert_eq!(item.is_none(), is_full);
                    model.extend(item);
                }
                2 => {
                    let item = told(&mut index, Step::Add(End::Front, 1), 0).item;
                    assert_eq!(item.is_none(), is_full);
                    if let Some(item) = item {
                        model.push_front(item);
                    }
                }
                _ => {
                    let item = told(&mut index, Step::Take, 1).item;
                    assert_eq!(item, model.pop_front());
                    let is_front = item.map(|item| (item.end == End::Front, item.number));
                    assert!(is_front.is_none_or(|item| seen.insert(item)), "given out twice");
                }
            }
            assert_eq!(told(&mut index, Step::Look, 0).length, model.len() as u64);
        }
        assert!(seen.len() > 3000);
    }

    #[test]
    fn bytes_are_bounded_and_given_back_later() {
        let mut index = Index::default();
        assert!(told(&mut index, Step::Add(End::Back, 200), 0).item.is_some());
        assert!(told(&mut index, Step::Add(End::Back, 101), 0).item.is_none());
        assert!(told(&mut index, Step::Take, 0).item.is_some());
        assert!(told(&mut index, Step::Add(End::Front, 101), 0).item.is_none());
        assert!(told(&mut index, Step::Add(End::Front, 101), 200).item.is_some());
    }

    #[test]
    fn many_values_make_no_large_index() {
        let bounds = Bounds { values: 1_000_000, bytes: u64::MAX };
        let mut index = Index::default();
        for end in [End::Back, End::Front].into_iter().cycle().take(1_000_000) {
            index.apply(&bounds, &Asked { step: Step::Add(end, 1), freed: 0 }).unwrap();
        }
        let text = serde_json::to_vec(&index).unwrap();
        assert!(text.len() < 100, "{}", text.len());
    }
}
