//! Sinks that gather values, one form per kind of metric.

use std::sync::Arc;
use std::time::Duration;

use crate::metric::Kind;
use crate::sum::Sum;
use crate::summary::Values;
use crate::trend::TrendSink;

/// The values of a series (or of many), put together.
#[derive(Clone, Debug)]
pub enum Sink {
    /// Of a counter.
    Counter {
        /// All values added up.
        sum: f64,
        /// The rest, for which that float has no room.
        rest: f64,
        /// When the first value came, in nanoseconds since the Unix epoch; none if none came.
        first_at: Option<u64>,
    },
    /// Of a gauge. Its numbers mean nothing while `at` is none.
    Gauge {
        /// The last value.
        last: f64,
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
        /// When the last value came, in nanoseconds since the Unix epoch; none if none came.
        at: Option<u64>,
    },
    /// Of a rate.
    Rate {
        /// Values that were not zero.
        hits: u64,
        /// All values.
        total: u64,
    },
    /// Of a trend.
    Trend(TrendSink),
}

impl Sink {
    /// One without values.
    pub fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::Counter { sum: 0.0, rest: 0.0, first_at: None },
            Kind::Gauge => {
                Self::Gauge { last: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY, at: None }
            }
            Kind::Rate => Self::Rate { hits: 0, total: 0 },
            Kind::Trend => Self::Trend(TrendSink::default()),
        }
    }

    /// The kind of metric that it serves.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Counter { .. } => Kind::Counter,
            Self::Gauge { .. } => Kind::Gauge,
            Self::Rate { .. } => Kind::Rate,
            Self::Trend(_) => Kind::Trend,
        }
    }

    /// Whether it got no value.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Counter { first_at, .. } => first_at.is_none(),
            Self::Gauge { at, .. } => at.is_none(),
            Self::Rate { total, .. } => *total == 0,
            Self::Trend(trend) => trend.is_empty(),
        }
    }

    /// Adds all values of another sink of the same kind; the order of merging does not matter. (Of
    /// two gauges with values of the same nanosecond, the greater value counts as the later.)
    pub fn merge(&mut self, other: &Self) {
        match (self, other) {
            (
                Self::Counter { sum, rest, first_at },
                Self::Counter { sum: more, rest: more_rest, first_at: other_first },
            ) => {
                let mut all = Sum { high: *sum, low: *rest };
                all.add(Sum { high: *more, low: *more_rest });
                (*sum, *rest) = (all.high, all.low);
                *first_at = match (*first_at, *other_first) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            }
            (
                Self::Gauge { last, min, max, at },
                Self::Gauge { last: other_last, min: other_min, max: other_max, at: other_at },
            ) => {
                let later = other_at > at
                    || (other_at == at && other_last.total_cmp(last).is_gt() && at.is_some());
                if later {
                    (*last, *at) = (*other_last, *other_at);
                }
                *min = min.min(*other_min);
                *max = max.max(*other_max);
            }
            (Self::Rate { hits, total }, Self::Rate { hits: more_hits, total: more }) => {
                *hits += more_hits;
                *total += more;
            }
            (Self::Trend(trend), Self::Trend(other)) => trend.merge(other),
            (this, other) => {
                // A metric never changes its kind.
                debug_assert!(false, "{:?} cannot take in {:?}", this.kind(), other.kind());
            }
        }
    }

    /// Its numbers, with counters per second of `elapsed`.
    pub fn values(&self, elapsed: Duration) -> Values {
        match self {
            Self::Counter { sum, .. } => Values::Counter {
                count: *sum,
                rate: (!elapsed.is_zero()).then(|| sum / elapsed.as_secs_f64()),
            },
            Self::Gauge { at: None, .. } => Values::Gauge { value: 0.0, min: 0.0, max: 0.0 },
            Self::Gauge { last, min, max, .. } => {
                Values::Gauge { value: *last, min: *min, max: *max }
            }
            Self::Rate { hits, total } => Values::Rate {
                rate: (*total > 0).then(|| *hits as f64 / *total as f64),
                passes: *hits,
                fails: total - hits,
            },
            Self::Trend(trend) => {
                let mut trend = trend.clone();
                trend.sort();
                Values::Trend(Arc::new(trend))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_gauge_is_the_latest_whatever_the_order() {
        let gauge = |last, at| Sink::Gauge { last, min: last, max: last, at: Some(at) };
        for parts in [[gauge(5.0, 1), gauge(2.0, 9)], [gauge(2.0, 9), gauge(5.0, 1)]] {
            let mut all = Sink::empty(Kind::Gauge);
            for part in &parts {
                all.merge(part);
            }
            let values = all.values(Duration::ZERO);
            assert_eq!(
                (values.get("value"), values.get("min"), values.get("max")),
                (Some(2.0), Some(2.0), Some(5.0))
            );
        }
    }

    #[test]
    fn without_values_a_rate_has_no_rate_and_the_others_are_zero() {
        let second = Duration::from_secs(1);
        assert_eq!(Sink::empty(Kind::Rate).values(second).get("rate"), None);
        assert_eq!(Sink::empty(Kind::Counter).values(second).get("rate"), Some(0.0));
        assert_eq!(Sink::empty(Kind::Counter).values(Duration::ZERO).get("rate"), None);
        assert_eq!(Sink::empty(Kind::Gauge).values(second).get("value"), Some(0.0));
        assert_eq!(Sink::empty(Kind::Trend).values(second).get("p(95)"), Some(0.0));
    }

    #[test]
    fn a_counter_is_divided_by_the_time_of_the_run() {
        let counter = Sink::Counter { sum: 30.0, rest: 0.0, first_at: Some(5) };
        let values = counter.values(Duration::from_secs(4));
        assert_eq!((values.get("count"), values.get("rate")), (Some(30.0), Some(7.5)));
    }
}
