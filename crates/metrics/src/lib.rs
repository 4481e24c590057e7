//! Measurements: metrics, tags, sinks, frames, thresholds, the ledger.
//!
//! The cast, in the order of a value's life:
//!
//! ```text
//! Registry          every metric of the test, built-in ones in front
//!    │
//! Recorder          one core's tables: a value is added to a series (metric + tags)
//!    │  once a tick
//! Frame             what that core saw since; frames merge in any order
//!    │
//! Ledger            the test so far: totals, submetrics, checks; judges the thresholds
//!    │  at the end
//! Summary           plain data for reports
//! ```
//!
//! Memory does not grow with the length of the test: trends are exact up to 4096 values, then
//! histograms within 0.1 % ([`TrendSink`], on [`Distribution`]); tables have bounds, and what has no room is counted
//! ([`Dropped`]).
//!
//! Deliberately absent: clocks (times come with values), threads, input and output.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact is what is promised"))]

mod frame;
mod ledger;
pub mod metric;
mod recorder;
mod registry;
mod series;
mod sink;
mod stat;
mod sum;
pub mod summary;
mod tags;
mod threshold;
mod trend;

pub use self::frame::{
    CheckDelta, Dropped, ExceptionDelta, ExceptionDeltas, Frame, NumbersDone, Retired, SeriesDelta,
};
pub use self::ledger::{ExceptionLog, Ledger, LedgerConfig, Verdict};
pub use self::metric::{Contains, Kind, Metric, MetricId, builtin};
pub use self::recorder::{CheckId, OTHERS, Recorder, SAMPLES_MAX, SERIES_MAX, SeriesId, TagsId};
pub use self::registry::{RegisterError, RegisterOutcome, Registry, Veil};
pub use self::series::{Sample, Series};
pub use self::sink::Sink;
pub use self::stat::{TrendStat, UnknownStat};
pub use self::sum::Sum;
pub use self::summary::{
    Breach, Breakdown, CheckSummary, Exception, Exceptions, FailureSummary, GroupSummary, LeftOut,
    MetricSummary, Outcome, RouteSummary, Summary, ThresholdResult, Values,
};
pub use self::tags::{Metadata, TAG_MAX, TagSet, WARMUP_TAG, texts_cut};
pub use self::threshold::{
    Aggregation, NoData, Operator, Selector, Threshold, ThresholdError, ThresholdSet, Timing,
    TimingError, Watch,
};
pub use self::trend::{Bin, Distribution, TrendSink};
