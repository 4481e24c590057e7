//! `ExportMetricsServiceRequest`, written.

use brunt_metrics::{Contains, Kind, MetricId, Sink, TagSet};
use rustc_hash::FxHashMap;

use super::Measured;
use super::histogram::{BOUNDS, Histogram};
use crate::protobuf::{bytes, double, fixed, message, text, uint};
use crate::tally::Row;

/// A request holds about so much, for collectors take 4 MiB by default.
const REQUEST: usize = 2 * 1024 * 1024;

/// Totals since the start, in `AggregationTemporality`.
const CUMULATIVE: u64 = 2;

/// The fields that all metrics share.
pub(super) struct Resource<'a> {
    pub(super) attributes: &'a [(String, String)],
    pub(super) prefix: &'a str,
    /// Nanoseconds since the Unix epoch, both.
    pub(super) start: u64,
    pub(super) now: u64,
}

/// A message, and how many series it tells.
pub(super) struct Request {
    pub(super) body: Vec<u8>,
    pub(super) series: u64,
}

impl Resource<'_> {
    /// All rows; none, no request.
    pub(super) fn requests(&self, rows: &[Row<Measured>]) -> Vec<Request> {
        let mut requests = Vec::new();
        let (mut metrics, mut series) = (Vec::new(), 0);
        for rows in by_metric(rows) {
            let mut points = Vec::new();
            let mut rest = rows.iter().peekable();
            while let Some(row) = rest.next() {
                self.push_points(&mut points, row);
                series += 1;
                let is_full = metrics.len() + points.len() >= REQUEST;
                if is_full || rest.peek().is_none() {
                    self.push_metric(&mut metrics, row, &points);
                    points.clear();
                }
                if is_full {
                    requests.push(self.request(&metrics, series));
                    (metrics, series) = (Vec::new(), 0);
                }
            }
        }
        if series > 0 {
            requests.push(self.request(&metrics, series));
        }
        requests
    }

    fn request(&self, metrics: &[u8], series: u64) -> Request {
        let mut body = Vec::with_capacity(metrics.len() + 256);
        message(&mut body, 1, |out| {
            message(out, 1, |out| {
                for (key, value) in self.attributes {
                    push_attribute(out, 1, key, value);
                }
            });
            message(out, 2, |out| {
                message(out, 1, |out| text(out, 1, "k6"));
                out.extend_from_slice(metrics);
            });
        });
        Request { body, series }
    }

    /// A `Metric` with these data points.
    fn push_metric(&self, out: &mut Vec<u8>, row: &Row<Measured>, points: &[u8]) {
        let unit = match row.metric.contains {
            Contains::Default => "",
            Contains::Time => "ms",
            Contains::Data => "By",
        };
        let is_rate = row.metric.kind == Kind::Rate;
        let suffix = if is_rate { ".total" } else { "" };
        message(out, 2, |out| {
            text(out, 1, &format!("{}{}{suffix}", self.prefix, row.metric.name));
            if !unit.is_empty() && !is_rate {
                text(out, 3, unit);
            }
            let field = match row.metric.kind {
                Kind::Gauge => 5,
                Kind::Counter | Kind::Rate => 7,
                Kind::Trend => 9,
            };
            message(out, field, |out| {
                out.extend_from_slice(points);
                if field != 5 {
                    uint(out, 2, CUMULATIVE);
                }
                if field == 7 {
                    // Sums only rise.
                    uint(out, 3, 1);
                }
            });
        });
    }

    /// The data points of a series: two for a rate that has seen both.
    fn push_points(&self, out: &mut Vec<u8>, row: &Row<Measured>) {
        let tags = &row.series.tags;
        match &row.total {
            Measured::Histogram(histogram) => {
                message(out, 1, |out| self.push_histogram(out, tags, histogram));
            }
            Measured::Sink(Sink::Counter { sum, .. }) => {
                self.push_number(out, tags, None, |out| double(out, 4, *sum));
            }
            Measured::Sink(Sink::Gauge { last, .. }) => {
                self.push_number(out, tags, None, |out| double(out, 4, *last));
            }
            Measured::Sink(Sink::Rate { hits, total }) => {
                for (condition, count) in [("nonzero", *hits), ("zero", total - hits)] {
                    if count > 0 {
                        self.push_number(out, tags, Some(condition), |out| fixed(out, 6, count));
                    }
                }
            }
            Measured::Sink(Sink::Trend(_)) => debug_assert!(false, "trends are histograms"),
        }
    }

    fn push_number(
        &self,
        out: &mut Vec<u8>,
        tags: &TagSet,
        condition: Option<&str>,
        value: impl FnOnce(&mut Vec<u8>),
    ) {
        message(out, 1, |out| {
            fixed(out, 2, self.start);
            fixed(out, 3, self.now);
            push_tags(out, 7, tags);
            if let Some(condition) = condition {
                push_attribute(out, 7, "condition", condition);
            }
            value(out);
        });
    }

    fn push_histogram(&self, out: &mut Vec<u8>, tags: &TagSet, histogram: &Histogram) {
        fixed(out, 2, self.start);
        fixed(out, 3, self.now);
        fixed(out, 4, histogram.count);
        double(out, 5, histogram.sum);
        let packed = |numbers: &mut dyn Iterator<Item = u64>| {
            numbers.flat_map(u64::to_le_bytes).collect::<Vec<_>>()
        };
        bytes(out, 6, &packed(&mut histogram.counts.iter().copied()));
        bytes(out, 7, &packed(&mut BOUNDS.iter().map(|bound| bound.to_bits())));
        push_tags(out, 9, tags);
        double(out, 11, histogram.min);
        double(out, 12, histogram.max);
    }
}

/// The rows of each metric, in the order in which metrics turned up.
fn by_metric(rows: &[Row<Measured>]) -> Vec<Vec<&Row<Measured>>> {
    let mut places: FxHashMap<MetricId, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<&Row<Measured>>> = Vec::new();
    for row in rows {
        let place = *places.entry(row.metric.id).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(row);
    }
    groups
}

/// Tags with a value.
fn push_tags(out: &mut Vec<u8>, field: u64, tags: &TagSet) {
    for (key, value) in tags.iter().filter(|(_, value)| !value.is_empty()) {
        push_attribute(out, field, key, value);
    }
}

/// A `KeyValue` whose value is a text.
pub(crate) fn push_attribute(out: &mut Vec<u8>, field: u64, key: &str, value: &str) {
    message(out, field, |out| {
        text(out, 1, key);
        message(out, 2, |out| text(out, 1, value));
    });
}
