//! A rate over time as a file gives it: corners with straight lines between them.

use std::time::Duration;

use brunt_duration::parse_wait;

use crate::rate::{InvalidRate, Rate};
use crate::{Executor, Stage};

/// The greatest number of corners that a file has.
const LINES_MAX: usize = 1_000_000;

/// The greatest number of corners that a scenario takes: one a second for more than a day.
const CORNERS_MAX: usize = 100_000;

/// A rate over time, made of straight lines: `brunt attack -pacer=file:load.txt`, and the `rateFile` of a scenario.
///
/// ```text
/// # a comment
/// 0    10/s
/// 30s  100/s      up from 10 to 100 a second in 30 s
/// 30s  6000/m     the same moment again: a jump, here to where it was
/// 10m  6000/m
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Curve {
    corners: Vec<Corner>,
}

/// A corner of a [`Curve`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corner {
    /// From the start on. Never before the corner above it.
    pub moment: Duration,
    /// 0 hits are none.
    pub rate: Rate,
}

/// A line of a file that is no corner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct InvalidLine {
    /// Counted from 1.
    pub line: usize,
    /// Its fault.
    pub fault: LineFault,
}

/// The fault of a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// It isn't a moment and a rate.
    #[error("{0:?} is not MOMENT RATE, such as 30s 100/s")]
    Form(String),
    /// Its rate can't be read.
    #[error(transparent)]
    Rate(#[from] InvalidRate),
    /// It is before the corner above it.
    #[error("the moment {0} is before the one above it; moments must grow")]
    Order(String),
    /// It is one too many.
    #[error("a file has {LINES_MAX} lines MOMENT RATE at most")]
    TooMany,
}

/// A curve that is no load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCurve {
    /// No line says something.
    #[error("has no line MOMENT RATE, such as 30s 100/s")]
    Empty,
    /// All corners are at the start.
    #[error("ends at 0; the moment of the last line must be more")]
    NoTime,
    /// Too many corners.
    #[error("has {0} lines MOMENT RATE, and {CORNERS_MAX} are the most")]
    TooMany(usize),
    /// Rates such as 1/7ns and 1/11h.
    #[error("has rates whose units of time have no common one; write them as hits per s, m or h")]
    NoCommonUnit,
}

impl Curve {
    /// Reads a file with a line `MOMENT RATE` for each corner, in order; two with the same moment are a jump. Empty lines
    /// and what follows a `#` say nothing. A rate is `HITS/TIME`, or hits a second.
    ///
    /// # Errors
    /// [`InvalidLine`], the first one.
    pub fn parse(content: &str) -> Result<Self, InvalidLine> {
        let mut corners: Vec<Corner> = Vec::new();
        for (at, whole) in content.trim_start_matches('\u{feff}').lines().enumerate() {
            let text = whole.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            let wrong = |fault| InvalidLine { line: at + 1, fault };
            let form = || wrong(LineFault::Form(shown(whole.trim())));
            let (moment, rate) = text.split_once(char::is_whitespace).ok_or_else(form)?;
            let at = parse_wait(moment).map_err(|_| form())?;
            let rate = rate.trim();
            // Nothing begins as often as it can here: that is no rate over time.
            if rate.split_whitespace().count() != 1 || rate.starts_with("infinity") {
                return Err(form());
            }
            let rate = match Rate::parse(rate) {
                // 0 is none here, not as many as possible.
                Err(InvalidRate::NoTime) => return Err(form()),
                rate => rate.map_err(|fault| wrong(fault.into()))?,
            };
            if corners.last().is_some_and(|last| at < last.moment) {
                return Err(wrong(LineFault::Order(shown(moment))));
            }
            if corners.len() >= LINES_MAX {
                return Err(wrong(LineFault::TooMany));
            }
            corners.push(Corner { moment: at, rate });
        }
        Ok(Self { corners })
    }

    /// The corners, in order.
    pub fn corners(&self) -> &[Corner] {
        &self.corners
    }

    /// The scenario that follows it: it begins with the first rate and ends at the last moment. Rates keep their exact
    /// value, as they get a unit of time that fits all of them.
    ///
    /// # Errors
    /// [`InvalidCurve`].
    pub fn executor(&self, pre_allocated_vus: u64, max_vus: u64) -> Result<Executor, InvalidCurve> {
        let (Some(first), Some(last)) = (self.corners.first(), self.corners.last()) else {
            return Err(InvalidCurve::Empty);
        };
        if last.moment.is_zero() {
            return Err(InvalidCurve::NoTime);
        }
        if self.corners.len() > CORNERS_MAX {
            return Err(InvalidCurve::TooMany(self.corners.len()));
        }
        let unit = self.unit().ok_or(InvalidCurve::NoCommonUnit)?;
        let target = |rate: Rate| {
            if rate.hits == 0 {
                return Ok(0);
            }
            // The unit is a whole multiple of each reduced time.
            let hits = u128::from(rate.hits) * u128::from(unit) / rate.per.as_nanos();
            u64::try_from(hits).map_err(|_| InvalidCurve::NoCommonUnit)
        };
        let start_rate = target(first.rate)?;
        let mut before = Duration::ZERO;
        let mut stages = Vec::with_capacity(self.corners.len());
        for corner in &self.corners {
            let duration = corner.moment.saturating_sub(before);
            // The first corner at 0 is where it starts.
            if !(stages.is_empty() && duration.is_zero() && corner.rate == first.rate) {
                stages.push(Stage { duration, target: target(corner.rate)? });
            }
            before = corner.moment;
        }
        let time_unit = Duration::from_nanos(unit);
        Ok(Executor::RampingArrivalRate {
            start_rate,
            time_unit,
            stages,
            pre_allocated_vus,
            max_vus,
        })
    }

    /// The least number of whole seconds, in nanoseconds, in which each rate has a whole number of hits.
    fn unit(&self) -> Option<u64> {
        let second = 1_000_000_000_u128;
        let rates = self.corners.iter().map(|corner| corner.rate).filter(|rate| rate.hits > 0);
        let unit = rates.map(reduced).try_fold(second, |unit, per| {
            let least = (unit / greatest_divisor(unit, per)).checked_mul(per)?;
            u64::try_from(least).is_ok().then_some(least)
        })?;
        u64::try_from(unit).ok()
    }
}

/// The time of the same rate with as few hits as it can have, in nanoseconds.
fn reduced(rate: Rate) -> u128 {
    let per = rate.per.as_nanos();
    per / greatest_divisor(per, u128::from(rate.hits))
}

fn greatest_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// The beginning of a text that may be long.
fn shown(text: &str) -> String {
    const MOST: usize = 80;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first rate, the unit of time, and stages as seconds and rates.
    type Shown = (u64, Duration, Vec<(u64, u64)>);

    fn executor(content: &str) -> Result<Shown, InvalidCurve> {
        match Curve::parse(content).unwrap().executor(1, 2)? {
            Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } => {
                let stage = |stage: Stage| (stage.duration.as_secs(), stage.target);
                Ok((start_rate, time_unit, stages.into_iter().map(stage).collect()))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_is_a_curve_of_straight_lines() {
        let read = executor("# load\r\n0 10/s\r\n10s 30/s # up\r\n\r\n10s 5\r\n20s 5\r\n");
        assert_eq!(read, Ok((10, Duration::from_secs(1), vec![(10, 30), (0, 5), (10, 5)])));
        let late = executor("\u{feff}5s 7\n6s 0\n");
        assert_eq!(late, Ok((7, Duration::from_secs(1), vec![(5, 7), (1, 0)])));
        let jump = executor("0 7\n0 9\n6s 9");
        assert_eq!(jump, Ok((7, Duration::from_secs(1), vec![(0, 9), (6, 9)])));
    }

    #[test]
    fn rates_of_all_units_are_exact_in_one() {
        let read = executor("0 10/s\n10s 5/m\n20s 1/7s");
        assert_eq!(read, Ok((840, Duration::from_secs(84), vec![(10, 7), (10, 12)])));
        assert_eq!(executor("0 60/m\n10s 3600/h").unwrap().1, Duration::from_secs(1));
        let far = "0 1/999999937ns\n1s 1/999999893ns\n2s 1/999999883ns";
        assert_eq!(executor(far), Err(InvalidCurve::NoCommonUnit));
    }

    #[test]
    fn no_load_is_refused() {
        assert_eq!(executor("# nothing\n"), Err(InvalidCurve::Empty));
        assert_eq!(executor("0 1\n0 5"), Err(InvalidCurve::NoTime));
        let long = "1s 1\n".repeat(CORNERS_MAX + 1);
        assert_eq!(executor(&long), Err(InvalidCurve::TooMany(CORNERS_MAX + 1)));
    }

    #[test]
    fn a_wrong_line_is_told_by_its_number() {
        for (text, told) in [
            ("0 1\nx 2", "line 2: \"x 2\" is not MOMENT RATE, such as 30s 100/s"),
            ("0 infinity", "line 1: \"0 infinity\" is not MOMENT RATE, such as 30s 100/s"),
            ("0 1 2", "line 1: \"0 1 2\" is not MOMENT RATE, such as 30s 100/s"),
            ("\n0", "line 2: \"0\" is not MOMENT RATE, such as 30s 100/s"),
            ("5s 1\n\n4s 2", "line 3: the moment 4s is before the one above it; moments must grow"),
            ("0 1.5/s", "line 1: \"1.5\" is not a number of hits; write 50, 50/s or 300/5m"),
            ("0 5/0s", "line 1: \"0 5/0s\" is not MOMENT RATE, such as 30s 100/s"),
            ("0 -1", "line 1: \"-1\" is not a number of hits; write 50, 50/s or 300/5m"),
        ] {
            assert_eq!(Curve::parse(text).unwrap_err().to_string(), told);
        }
    }
}
