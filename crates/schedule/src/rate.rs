//! How many hits in how much time: `50/1s`.

use std::fmt;
use std::time::Duration;

use brunt_duration::{DurationError, parse_wait, wait};

/// A number of hits per time. No hits: as fast as the workers can.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Hits; 0 is no limit.
    pub hits: u64,
    /// In so much time; not zero.
    pub per: Duration,
}

/// A text that is no rate, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRate {
    /// The part before the slash.
    #[error("{0:?} is not a number of hits; write 50, 50/s or 300/5m")]
    Hits(String),
    /// The part after the slash.
    #[error(transparent)]
    Per(#[from] DurationError),
    /// `5/0s`.
    #[error("hits in no time at all; for as many as possible write 0")]
    NoTime,
    /// More than one in a nanosecond.
    #[error("more than 1000000000 hits a second")]
    TooHigh,
}

impl Default for Rate {
    /// 50 a second.
    fn default() -> Self {
        Self::per_second(50)
    }
}

impl Rate {
    /// This many hits a second.
    pub const fn per_second(hits: u64) -> Self {
        Self { hits, per: Duration::from_secs(1) }
    }

    /// Reads `HITS[/TIME]`; the time may be a bare unit, and is a second if there is none. `0` and `infinity` are no
    /// limit.
    ///
    /// # Errors
    /// [`InvalidRate`].
    pub fn parse(text: &str) -> Result<Self, InvalidRate> {
        let (hits, per) = match text.split_once('/') {
            Some((hits, per)) => (hits, Some(per)),
            None => (text, None),
        };
        let hits = match hits {
            "infinity" => 0,
            hits => hits.parse().map_err(|_| InvalidRate::Hits(hits.to_owned()))?,
        };
        if hits == 0 {
            return Ok(Self::per_second(0));
        }
        let per = match per {
            None => Duration::from_secs(1),
            Some(unit @ ("ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h")) => {
                parse_wait(&format!("1{unit}"))?
            }
            Some(per) => parse_wait(per)?,
        };
        if per.is_zero() {
            return Err(InvalidRate::NoTime);
        }
        if u128::from(hits) > per.as_nanos() {
            return Err(InvalidRate::TooHigh);
        }
        Ok(Self { hits, per })
    }

    /// Hits a second; infinite if there is no limit.
    pub fn hits_per_second(self) -> f64 {
        if self.hits == 0 { f64::INFINITY } else { self.hits as f64 / self.per.as_secs_f64() }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.hits, wait::format(self.per))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_hits_by_time() {
        for (text, hits, ms) in [
            ("50", 50, 1_000),
            ("50/1s", 50, 1_000),
            ("5/s", 5, 1_000),
            ("3/m", 3, 60_000),
            ("7/100ms", 7, 100),
            ("0", 0, 1_000),
            ("0/x", 0, 1_000),
            ("infinity", 0, 1_000),
        ] {
            let per = Duration::from_millis(ms);
            assert_eq!(Rate::parse(text), Ok(Rate { hits, per }), "{text}");
        }
    }

    #[test]
    fn a_rate_is_written_as_go_writes_its_time() {
        for (text, shown) in
            [("300/5m", "300/5m0s"), ("7/100ms", "7/100ms"), ("2/h", "2/1h0m0s"), ("50", "50/1s")]
        {
            let rate = Rate::parse(text).unwrap();
            assert_eq!(rate.to_string(), shown);
            assert_eq!(Rate::parse(shown), Ok(rate));
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "-5", "x/s", "5/", "5/0s", "5/q", "2000000000/s", "1.5/s"] {
            assert!(Rate::parse(text).is_err(), "{text}");
        }
        assert_eq!(Rate::default().to_string(), "50/1s");
    }
}
