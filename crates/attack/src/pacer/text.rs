//! Pacers as they are written on a command line.

use std::f64::consts::PI;
use std::time::Duration;

use super::{Pacer, Ramp, Sine, SineError};
use brunt_duration::{DurationError, parse_wait};
use brunt_schedule::{Curve, InvalidLine, InvalidRate, Rate};

/// A text that is no pacer, and the reason.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidPacer {
    /// An unknown kind.
    #[error("unknown pacer {0:?}; there are constant, linear, sine, steps and file")]
    Kind(String),
    /// `linear:x=1`.
    #[error("the {kind} pacer has no {key:?}; it has {known}")]
    Key {
        /// The kind of pacer.
        kind: &'static str,
        /// The key that was given.
        key: String,
        /// The keys that there are.
        known: &'static str,
    },
    /// A parameter that must be there.
    #[error("the {kind} pacer needs {key}")]
    Missing {
        /// The kind of pacer.
        kind: &'static str,
        /// The missing key.
        key: &'static str,
    },
    /// A rate, in a place where no rate at all makes no sense.
    #[error(transparent)]
    Rate(#[from] InvalidRate),
    /// A duration.
    #[error(transparent)]
    Duration(#[from] DurationError),
    /// A number.
    #[error("{0:?} is not a number")]
    Number(String),
    /// A sine.
    #[error(transparent)]
    Sine(#[from] SineError),
    /// A step.
    #[error("{0:?} is not a step; write RATExTIME, such as 100x30s or 5/m x 1h")]
    Step(String),
    /// A line of a file.
    #[error(transparent)]
    Line(#[from] InvalidLine),
}

impl Pacer {
    /// Reads `constant`, `linear:start=RATE,slope=HITS_PER_S2`, `sine:period=TIME,mean=RATE,amp=RATE,offset=RADIANS`
    /// or `steps:RATExTIME,RATExTIME…`. A missing start or mean is `rate`. A `file:` is read by who may read
    /// files, and given to [`Pacer::of_file`].
    ///
    /// Offsets have names too: `mean-up`, `peak`, `mean-down`, `trough`.
    ///
    /// # Errors
    /// [`InvalidPacer`].
    pub fn parse(text: &str, rate: Rate) -> Result<Self, InvalidPacer> {
        let (kind, parameters) = text.split_once(':').unwrap_or((text, ""));
        let parameters = parameters.split(',').map(str::trim).filter(|it| !it.is_empty());
        match kind {
            "constant" => Ok(Self::of_rate(rate)),
            "linear" => linear(parameters, rate),
            "sine" => sine(parameters, rate),
            "steps" => steps(parameters),
            other => Err(InvalidPacer::Kind(other.to_owned())),
        }
    }

    /// The pacer of a file with a line `MOMENT RATE` for each corner of a curve of straight lines, in order; two with
    /// the same moment are a jump. It begins with the first rate and ends at the last moment. Empty lines and what
    /// follows a `#` say nothing.
    ///
    /// # Errors
    /// [`InvalidPacer::Line`].
    pub fn of_file(content: &str) -> Result<Self, InvalidPacer> {
        let mut ramp = Ramp::new();
        let mut last: Option<(Duration, f64)> = None;
        for corner in Curve::parse(content)?.corners() {
            let rate = finite(corner.rate);
            let (before, from) = last.unwrap_or((Duration::ZERO, rate));
            ramp = ramp.line(corner.moment.saturating_sub(before), from, rate);
            last = Some((corner.moment, rate));
        }
        Ok(Self::Ramp(ramp))
    }
}

/// Hits a second; 0 is none.
fn finite(rate: Rate) -> f64 {
    if rate.hits == 0 { 0.0 } else { rate.hits_per_second() }
}

fn finite_of(text: &str) -> Result<f64, InvalidRate> {
    Rate::parse(text).map(finite)
}

fn number(text: &str) -> Result<f64, InvalidPacer> {
    let parsed = text.parse().ok().filter(|number: &f64| number.is_finite());
    parsed.ok_or_else(|| InvalidPacer::Number(text.to_owned()))
}

fn linear<'a>(
    parameters: impl Iterator<Item = &'a str>,
    rate: Rate,
) -> Result<Pacer, InvalidPacer> {
    let (kind, known) = ("linear", "start and slope");
    let mut start = finite(rate);
    let mut slope = None;
    for parameter in parameters {
        match parameter.split_once('=') {
            Some(("start", value)) => start = finite_of(value)?,
            Some(("slope", value)) => slope = Some(number(value)?),
            _ => return Err(InvalidPacer::Key { kind, key: parameter.to_owned(), known }),
        }
    }
    let slope = slope.ok_or(InvalidPacer::Missing { kind, key: "slope=HITS_PER_S2" })?;
    Ok(Pacer::Ramp(Ramp::linear(start, slope)))
}

fn sine<'a>(parameters: impl Iterator<Item = &'a str>, rate: Rate) -> Result<Pacer, InvalidPacer> {
    let (kind, known) = ("sine", "period, mean, amp and offset");
    let (mut period, mut amplitude, mut offset) = (None, None, 0.0);
    let mut mean = finite(rate);
    for parameter in parameters {
        match parameter.split_once('=') {
            Some(("period", value)) => period = Some(parse_wait(value)?),
            Some(("mean", value)) => mean = finite_of(value)?,
            Some(("amp", value)) => amplitude = Some(finite_of(value)?),
            Some(("offset", "mean-up")) => offset = 0.0,
            Some(("offset", "peak")) => offset = PI / 2.0,
            Some(("offset", "mean-down")) => offset = PI,
            Some(("offset", "trough")) => offset = 3.0 * PI / 2.0,
            Some(("offset", value)) => offset = number(value)?,
            _ => return Err(InvalidPacer::Key { kind, key: parameter.to_owned(), known }),
        }
    }
    let period = period.ok_or(InvalidPacer::Missing { kind, key: "period=TIME" })?;
    let amplitude = amplitude.ok_or(InvalidPacer::Missing { kind, key: "amp=RATE" })?;
    Ok(Pacer::Sine(Sine::new(period, mean, amplitude, offset)?))
}

fn steps<'a>(parameters: impl Iterator<Item = &'a str>) -> Result<Pacer, InvalidPacer> {
    let mut ramp = Ramp::new();
    let mut is_empty = true;
    for step in parameters {
        let (rate, length) =
            step.split_once('x').ok_or_else(|| InvalidPacer::Step(step.to_owned()))?;
        let rate = finite_of(rate.trim())?;
        ramp = ramp.line(parse_wait(length.trim())?, rate, rate);
        is_empty = false;
    }
    if is_empty {
        return Err(InvalidPacer::Missing { kind: "steps", key: "RATExTIME" });
    }
    Ok(Pacer::Ramp(ramp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Pacer {
        Pacer::parse(text, Rate::per_second(20)).unwrap()
    }

    fn hits(text: &str, secs: u64) -> u64 {
        parse(text).hits_before(Duration::from_secs(secs))
    }

    #[test]
    fn each_kind_has_its_parameters_and_takes_the_rest_from_the_rate() {
        assert_eq!(hits("constant", 10), 200);
        assert_eq!(hits("linear:slope=2", 10), 300);
        assert_eq!(hits("linear:start=5,slope=2", 10), 150);
        assert_eq!(hits("sine:period=10s,amp=5,offset=peak", 10), 200);
        assert_eq!(hits("sine:period=10s,mean=600/m,amp=5,offset=1.5", 10), 100);
        assert_eq!(hits("steps:10x1s, 20 x 2s", 100), 50);
    }

    #[test]
    fn a_file_is_a_curve_of_straight_lines() {
        let pacer = Pacer::of_file("# load\n0 10/s\n10s 30/s # up\n\n10s 5\n20s 5\n").unwrap();
        assert_eq!(pacer.hits_before(Duration::from_secs(10)), 200);
        assert_eq!(pacer.hits_before(Duration::from_secs(1_000)), 250);
        for (text, line) in [("0 1\nx 2", 2), ("5s 1\n\n4s 2", 3), ("0", 1)] {
            let error = Pacer::of_file(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}: ")), "{error}");
        }
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        for (text, said) in [
            ("waltz", "unknown pacer \"waltz\"; there are constant, linear, sine, steps and file"),
            ("linear", "the linear pacer needs slope=HITS_PER_S2"),
            ("linear:up=1", "the linear pacer has no \"up=1\"; it has start and slope"),
            ("linear:slope=x", "\"x\" is not a number"),
            ("sine:period=1s", "the sine pacer needs amp=RATE"),
            (
                "sine:period=1s,amp=20",
                "the amplitude must be less than the mean rate, and not negative",
            ),
            ("steps:", "the steps pacer needs RATExTIME"),
            ("steps:5", "\"5\" is not a step; write RATExTIME, such as 100x30s or 5/m x 1h"),
        ] {
            let error = Pacer::parse(text, Rate::per_second(20)).unwrap_err();
            assert_eq!(error.to_string(), said);
        }
    }
}
