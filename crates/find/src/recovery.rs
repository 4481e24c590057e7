//! Between two steps: is the system itself again?

/// Looks in a row that must be calm.
const CALM_LOOKS: u32 = 2;

/// A latency this many times that of the lowest step is near it, and so is one a few milliseconds above.
const NEAR: f64 = 2.0;

/// See [`NEAR`].
const NEAR_MS: f64 = 5.0;

/// Part of the answers that must be good.
const GOOD: f64 = 0.9;

/// The answers to a light load in a short time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Good answers.
    pub good: f64,
    /// Failed ones.
    pub failed: f64,
    /// Their median latency, in milliseconds.
    pub median_ms: Option<f64>,
}

/// The state of a system after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovering {
    /// Not yet: look again.
    Wait,
    /// As quick as in the lowest step.
    Recovered,
    /// It answers, but has not become as quick again in the time that it had.
    Slow,
    /// It does not answer, or fails: it has fallen over and stays down.
    Down,
}

/// Watches a system recover.
#[derive(Clone, Debug)]
pub struct Recovery {
    usual_ms: Option<f64>,
    usual_good: f64,
    seconds_max: f64,
    calm: u32,
}

impl Recovery {
    /// `lowest` is what the lowest step looked like; after `seconds_max` the waiting ends.
    pub fn new(lowest: Look, seconds_max: f64) -> Recovery {
        let all = lowest.good + lowest.failed;
        let usual_good = if all > 0.0 { lowest.good / all } else { 1.0 };
        Recovery { usual_ms: lowest.median_ms, usual_good, seconds_max, calm: 0 }
    }

    /// Takes in a look, `elapsed` seconds after the step.
    pub fn look(&mut self, elapsed: f64, look: Look) -> Recovering {
        let all = look.good + look.failed;
        let is_good = all > 0.0 && look.good / all >= self.usual_good * GOOD;
        let is_quick = match (look.median_ms, self.usual_ms) {
            (Some(now), Some(usual)) => now <= (usual * NEAR).max(usual + NEAR_MS),
            _ => true,
        };
        self.calm = if is_good && is_quick { self.calm + 1 } else { 0 };
        if self.calm >= CALM_LOOKS {
            Recovering::Recovered
        } else if elapsed < self.seconds_max {
            Recovering::Wait
        } else if is_good {
            Recovering::Slow
        } else {
            Recovering::Down
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(good: f64, failed: f64, median: f64) -> Look {
        Look { good, failed, median_ms: Some(median) }
    }

    #[test]
    fn two_calm_looks_in_a_row_are_a_recovery() {
        let mut recovery = Recovery::new(look(100.0, 0.0, 10.0), 30.0);
        assert_eq!(recovery.look(1.0, look(5.0, 0.0, 12.0)), Recovering::Wait);
        assert_eq!(recovery.look(2.0, look(5.0, 0.0, 80.0)), Recovering::Wait);
        assert_eq!(recovery.look(3.0, look(5.0, 0.0, 12.0)), Recovering::Wait);
        assert_eq!(recovery.look(4.0, look(5.0, 0.0, 12.0)), Recovering::Recovered);
    }

    #[test]
    fn at_the_end_of_its_time_a_system_is_slow_or_down() {
        let mut recovery = Recovery::new(look(100.0, 0.0, 10.0), 30.0);
        assert_eq!(recovery.look(30.0, look(5.0, 0.0, 80.0)), Recovering::Slow);
        assert_eq!(recovery.look(31.0, look(0.0, 5.0, 1.0)), Recovering::Down);
        assert_eq!(recovery.look(32.0, Look::default()), Recovering::Down);
    }

    #[test]
    fn a_system_that_always_failed_a_part_may_go_on_failing_it() {
        let mut recovery = Recovery::new(look(50.0, 50.0, 10.0), 30.0);
        assert_eq!(recovery.look(1.0, look(5.0, 5.0, 10.0)), Recovering::Wait);
        assert_eq!(recovery.look(2.0, look(5.0, 5.0, 10.0)), Recovering::Recovered);
    }
}
