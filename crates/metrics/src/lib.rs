//! What was measured: metrics, tags, sinks, frames, thresholds, the ledger.
#![forbid(unsafe_code)]

pub mod metric;
mod stat;
pub mod summary;
mod tags;
mod trend;

pub use self::metric::{Contains, Kind, Metric, MetricId, builtin};
pub use self::stat::{TrendStat, UnknownStat};
pub use self::summary::Summary;
pub use self::tags::{Metadata, TagSet};
pub use self::trend::TrendSink;
