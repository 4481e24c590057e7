//! The outcome of an attack, beside its records.

use std::fmt;
use std::time::Duration;

/// The outcome of an attack, beside its records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Hits that were due in the time that it lasted; `None`, if it had no schedule.
    pub due: Option<u64>,
    /// Hits that were begun.
    pub begun: u64,
    /// Hits that ended. Those that are missing were given up by [`Control::abort`](crate::Control::abort).
    pub ended: u64,
    /// Hits that were no success.
    pub failed: u64,
    /// For so long hits were due.
    pub elapsed: Duration,
    /// The last was begun so long after the start: of those that came late, this may be later than `elapsed`.
    pub last_begun: Duration,
    /// The latest that a hit was begun after it was due.
    pub worst_lag: Duration,
    /// The mean of that.
    pub mean_lag: Duration,
    /// The number of workers.
    pub workers: usize,
    /// Why hits were late, or were never begun.
    pub reasons: Vec<Reason>,
}

/// The cause that kept hits from being begun when they were due.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// All workers were at work, and no more are allowed.
    Workers {
        /// The limit.
        max: usize,
        /// For so long, on the core that waited longest.
        waited: Duration,
    },
    /// The system refused sockets.
    Sockets {
        /// So often.
        times: u64,
    },
    /// A core had no time left.
    Cpu {
        /// The part of its time that the busiest core was at work, 0 to 1.
        busy: f64,
    },
    /// Targets came too slowly.
    Targets {
        /// For so long hits waited for one, on the core that waited longest.
        waited: Duration,
    },
    /// The reader of the records was too slow.
    Records {
        /// For so long no hit was begun because of it.
        waited: Duration,
    },
}

impl Outcome {
    /// Hits that were due but never begun.
    pub fn never_begun(&self) -> u64 {
        self.due.map_or(0, |due| due.saturating_sub(self.begun))
    }

    /// Hits that were due, a second.
    pub fn offered(&self) -> Option<f64> {
        self.due.map(|due| per_second(due, self.elapsed))
    }

    /// Hits that were begun, a second.
    pub fn achieved(&self) -> f64 {
        per_second(self.begun, self.elapsed.max(self.last_begun))
    }

    /// The load was not what it should have been: hits were never begun, or one was more than a tenth of a second late,
    /// or all were late by more than a hundredth.
    pub fn has_missed(&self) -> bool {
        self.never_begun() > 0
            || self.worst_lag > Duration::from_millis(100)
            || self.mean_lag > Duration::from_millis(10)
    }
}

fn per_second(hits: u64, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 { hits as f64 / seconds } else { hits as f64 }
}

impl fmt::Display for Outcome {
    /// One sentence about the load.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offered() {
            Some(offered) => {
                write!(f, "offered {offered:.2} hits/s, achieved {:.2}; ", self.achieved())?;
                let due = self.due.unwrap_or_default();
                match self.never_begun() {
                    0 => write!(f, "all {due} hits were begun")?,
                    missed => write!(f, "{missed} of {due} hits were never begun")?,
                }
                write!(f, ", the worst began {:.3?} late", self.worst_lag)?;
            }
            None => write!(f, "achieved {:.2} hits/s", self.achieved())?,
        }
        for (at, reason) in self.reasons.iter().enumerate() {
            write!(f, "{} {reason}", if at == 0 { ", because" } else { ";" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers { max, waited } => {
                write!(f, "all {max} workers were at work for {waited:.3?} (-max-workers)")
            }
            Self::Sockets { times } => {
                write!(f, "the system refused a socket {times} times (ulimit -n, ports)")
            }
            Self::Cpu { busy } => write!(f, "a core was busy {:.0} % of the time", busy * 100.0),
            Self::Targets { waited } => {
                write!(f, "targets came too slowly: hits waited {waited:.3?} for them")
            }
            Self::Records { waited } => {
                write!(
                    f,
                    "the reader of the results was too slow: sending stopped for {waited:.3?}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_missed_is_told_with_its_reasons() {
        let mut outcome = Outcome {
            due: Some(60),
            begun: 19,
            elapsed: Duration::from_secs(3),
            worst_lag: Duration::from_millis(1_500),
            ..Outcome::default()
        };
        outcome.reasons.push(Reason::Workers { max: 2, waited: Duration::from_millis(2_500) });
        outcome.reasons.push(Reason::Cpu { busy: 0.97 });
        assert!(outcome.has_missed());
        assert_eq!(
            outcome.to_string(),
            "offered 20.00 hits/s, achieved 6.33; 41 of 60 hits were never begun, the worst began 1.500s late, because \
             all 2 workers were at work for 2.500s (-max-workers); a core was busy 97 % of the time"
        );
    }

    #[test]
    fn hits_that_were_only_late_were_begun_all() {
        let outcome = Outcome {
            due: Some(30),
            begun: 30,
            elapsed: Duration::from_secs(3),
            worst_lag: Duration::from_millis(158),
            ..Outcome::default()
        };
        assert!(outcome.has_missed());
        assert_eq!(
            outcome.to_string(),
            "offered 10.00 hits/s, achieved 10.00; all 30 hits were begun, the worst began 158.000ms late"
        );
    }

    #[test]
    fn hits_that_were_begun_after_the_time_count_for_a_lower_rate() {
        let outcome = Outcome {
            due: Some(30),
            begun: 30,
            elapsed: Duration::from_secs(3),
            last_begun: Duration::from_secs(6),
            ..Outcome::default()
        };
        assert_eq!(outcome.offered(), Some(10.0));
        assert!((outcome.achieved() - 5.0).abs() < 1e-9);
    }

    #[test]
    fn an_attack_without_a_schedule_misses_nothing() {
        let outcome = Outcome { begun: 10, elapsed: Duration::from_secs(2), ..Outcome::default() };
        assert!(!outcome.has_missed());
        assert_eq!(outcome.to_string(), "achieved 5.00 hits/s");
    }
}
