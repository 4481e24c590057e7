//! A series and its single samples.

use std::sync::Arc;

use crate::metric::MetricId;
use crate::tags::{Metadata, TagSet};

/// A metric under one set of tags.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Series {
    /// What is measured.
    pub metric: MetricId,
    /// Under which tags.
    pub tags: TagSet,
}

/// One measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What it is a value of.
    pub series: Arc<Series>,
    /// When it was measured: nanoseconds since the Unix epoch.
    pub at: u64,
    /// Milliseconds, bytes or a plain number, as the metric says.
    pub value: f64,
    /// What belongs to this sample but makes no series (`vu`, `iter`, …).
    pub metadata: Option<Metadata>,
}
