//! The totals of all series as `ExportMetricsServiceRequest`s.

use brunt_metrics::{Contains, Kind, MetricId, Sink, TagSet};
use prost::Message;
use rustc_hash::FxHashMap;

use super::Measured;
use super::histogram::{BOUNDS, Histogram};
use crate::otlp::{
    self, Data, Gauge, HistogramPoint, KeyValue, Metric, MetricsRequest, Number, NumberPoint,
    ResourceMetrics, Scope, ScopeMetrics, Sum, Temporality,
};
use crate::tally::Row;

/// The bytes that a request holds, about, for collectors take 4 MiB by default.
const REQUEST: usize = 2 * 1024 * 1024;

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
        let (mut metrics, mut series, mut size) = (Vec::new(), 0, 0);
        for rows in by_metric(rows) {
            let mut metric: Option<Metric> = None;
            for row in rows {
                size += self.add(metric.get_or_insert_with(|| self.metric(row)), row);
                series += 1;
                if size >= REQUEST {
                    metrics.extend(metric.take());
                    requests.push(self.request(std::mem::take(&mut metrics), series));
                    (series, size) = (0, 0);
                }
            }
            metrics.extend(metric);
        }
        if series > 0 {
            requests.push(self.request(metrics, series));
        }
        requests
    }

    fn request(&self, metrics: Vec<Metric>, series: u64) -> Request {
        let attributes =
            self.attributes.iter().map(|(key, value)| KeyValue::text(key, value)).collect();
        let scope = ScopeMetrics { scope: Some(Scope { name: "k6".to_owned() }), metrics };
        let resource =
            ResourceMetrics { resource: Some(otlp::Resource { attributes }), scopes: vec![scope] };
        Request { body: MetricsRequest { resources: vec![resource] }.encode_to_vec(), series }
    }

    /// The metric of a series, without data points.
    fn metric(&self, row: &Row<Measured>) -> Metric {
        let temporality = Temporality::Cumulative.into();
        let (suffix, data) = match row.metric.kind {
            Kind::Gauge => ("", Data::Gauge(Gauge::default())),
            Kind::Counter | Kind::Rate => {
                let suffix = if row.metric.kind == Kind::Rate { ".total" } else { "" };
                // Sums only rise.
                (suffix, Data::Sum(Sum { temporality, is_monotonic: true, points: Vec::new() }))
            }
            Kind::Trend => {
                ("", Data::Histogram(otlp::Histogram { temporality, points: Vec::new() }))
            }
        };
        let unit = match row.metric.contains {
            _ if row.metric.kind == Kind::Rate => "",
            Contains::Default => "",
            Contains::Time => "ms",
            Contains::Data => "By",
        };
        let name = format!("{}{}{suffix}", self.prefix, row.metric.name);
        Metric { name, unit: unit.to_owned(), data: Some(data) }
    }

    /// Adds the data points of a series: two for a rate that has seen both. How many bytes they take.
    fn add(&self, metric: &mut Metric, row: &Row<Measured>) -> usize {
        let tags = &row.series.tags;
        let mut size = 0;
        match (&mut metric.data, &row.total) {
            (Some(Data::Histogram(data)), Measured::Histogram(histogram)) => {
                let point = self.histogram_point(tags, histogram);
                size = point.encoded_len();
                data.points.push(point);
            }
            (
                Some(Data::Sum(Sum { points, .. }) | Data::Gauge(Gauge { points })),
                Measured::Sink(sink),
            ) => {
                for (condition, value) in numbers(sink) {
                    let point = self.number_point(tags, condition, value);
                    size += point.encoded_len();
                    points.push(point);
                }
            }
            _ => debug_assert!(false, "trends are histograms, and only they are"),
        }
        size
    }

    fn number_point(&self, tags: &TagSet, condition: Option<&str>, value: Number) -> NumberPoint {
        let mut attributes = attributes(tags);
        attributes.extend(condition.map(|condition| KeyValue::text("condition", condition)));
        NumberPoint { start: self.start, time: self.now, value: Some(value), attributes }
    }

    fn histogram_point(&self, tags: &TagSet, histogram: &Histogram) -> HistogramPoint {
        HistogramPoint {
            start: self.start,
            time: self.now,
            count: histogram.count,
            sum: Some(histogram.sum),
            bucket_counts: histogram.counts.to_vec(),
            bounds: BOUNDS.to_vec(),
            attributes: attributes(tags),
            min: Some(histogram.min),
            max: Some(histogram.max),
        }
    }
}

/// The numbers of a total, each perhaps with what it counts.
fn numbers(sink: &Sink) -> Vec<(Option<&'static str>, Number)> {
    match sink {
        Sink::Counter { sum: value, .. } | Sink::Gauge { last: value, .. } => {
            vec![(None, Number::Double(*value))]
        }
        Sink::Rate { hits, total } => [("nonzero", *hits), ("zero", total - hits)]
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(condition, count)| (Some(condition), Number::Whole(count.cast_signed())))
            .collect(),
        Sink::Trend(_) => Vec::new(),
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
fn attributes(tags: &TagSet) -> Vec<KeyValue> {
    let told = tags.iter().filter(|(_, value)| !value.is_empty());
    told.map(|(key, value)| KeyValue::text(key, value)).collect()
}
