//! A series and its single samples.

use crate::metric::MetricId;
use crate::tags::{Metadata, TagSet};

/// A metric under one set of tags.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Series {
    /// The metric.
    pub metric: MetricId,
    /// Under which tags.
    pub tags: TagSet,
}

/// One measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The series of the value: its place in the [`series`](crate::Frame::series) of the frame. A number, as sharing
    /// the series itself would count its owners up and down for each value, on two cores.
    pub series: u32,
    /// When it was measured: nanoseconds since the Unix epoch.
    pub at: u64,
    /// Milliseconds, bytes or a plain number, as the metric says.
    pub value: f64,
    /// The fields of this sample that make no series (`vu`, `iter`, …).
    pub metadata: Option<Metadata>,
}
