//! Messages to frames.

use std::sync::Arc;

use brunt_metrics::{
    CheckDelta, Contains, Distribution, Dropped, ExceptionDelta, ExceptionDeltas, Frame, Kind,
    MetricId, NumbersDone, Registry, Series, SeriesDelta, Sink, Sum, TagSet, TrendSink,
};
use prost::Message as _;
use rustc_hash::FxHashMap;

use super::{Head, MESSAGE_MAX, PACKED_MAX, TEXTS_MAX, proto};
use crate::plan::{FORMAT, PLACES_MAX};

/// The highest key of a bucket, and one.
const KEYS: u32 = 1 << 22;
/// Counts of one message are below this: a million of them still fit into 64 bits.
const COUNT_MAX: u64 = 1 << 44;
/// A test has fewer scenarios.
const SCENARIOS_MAX: u64 = 10_000;
/// The most values of a trend that is exact.
const EXACT_MAX: usize = 4096;

/// Why bytes are no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Too many bytes.
    #[error("a message of {0} bytes: {PACKED_MAX} is the limit")]
    Large(usize),
    /// Not packed by zstd, or more than a message when unpacked.
    #[error("the message cannot be unpacked: {0}")]
    Packed(String),
    /// Not protobuf.
    #[error("the message cannot be read: {0}")]
    Protobuf(String),
    /// Another version wrote it.
    #[error("the message has format {0}, this version of brunt knows format {FORMAT}")]
    Format(u32),
    /// A number is out of range, a list has another length than its neighbour, a text is not in the table.
    #[error("the message contradicts itself: {0}")]
    Unsound(&'static str),
}

/// A message that was read. Its metrics are names still.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its head.
    pub head: Head,
    body: proto::Message,
}

/// Turns messages into frames of one registry.
#[derive(Debug)]
pub struct Decoder {
    registry: Arc<Registry>,
    metrics: FxHashMap<(String, Kind, Contains), Option<MetricId>>,
    /// Values of metrics that the registry has with another kind, or has no room for.
    unknown: u64,
}

/// Metrics that are remembered; beyond that the registry is asked each time.
const METRICS_MAX: usize = 100_000;

impl Message {
    /// Reads a message and checks that it is sound.
    ///
    /// # Errors
    /// [`WireError`]; hostile bytes cost a small multiple of 512 KiB.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        if bytes.len() > PACKED_MAX {
            return Err(WireError::Large(bytes.len()));
        }
        let plain = zstd::bulk::decompress(bytes, MESSAGE_MAX)
            .map_err(|error| WireError::Packed(error.to_string()))?;
        let body = proto::Message::decode(&*plain)
            .map_err(|error| WireError::Protobuf(error.to_string()))?;
        if body.format != FORMAT {
            return Err(WireError::Format(body.format));
        }
        check(&body)?;
        let head = Head {
            nonce: body.nonce,
            seat: body.seat,
            incarnation: body.incarnation,
            seq: body.seq,
            from_ns: body.from_ns,
            to_ns: body.to_ns,
            is_last: body.is_last,
        };
        Ok(Self { head, body })
    }
}

/// Whether all parts of a message fit together.
fn check(body: &proto::Message) -> Result<(), WireError> {
    let ensure = |holds: bool, what| if holds { Ok(()) } else { Err(WireError::Unsound(what)) };
    ensure(body.texts.len() <= TEXTS_MAX, "too many texts")?;
    ensure(body.seat <= PLACES_MAX, "no such seat")?;
    ensure(body.from_ns <= body.to_ns, "it ends before it begins")?;
    let is_text = |place: u32| (place as usize) < body.texts.len();
    for series in &body.series {
        ensure(is_text(series.metric), "a metric without a name")?;
        ensure(series.kind <= 3 && series.contains <= 2, "an unknown kind of metric")?;
        ensure(series.tags.len() % 2 == 0, "a tag without a value")?;
        ensure(
            series.tags.iter().chain(&series.route).all(|tag| is_text(*tag)),
            "a tag without a text",
        )?;
        ensure(series.hits <= series.total, "more hits than values")?;
        ensure(series.keys.len() == series.counts.len(), "buckets without counts")?;
        ensure(series.values.is_empty() || series.keys.is_empty(), "values and buckets")?;
        ensure(series.values.len() <= EXACT_MAX, "too many values")?;
        ensure(series.kind != 3 || series.min <= series.max, "a least value above the greatest")?;
        ensure(!series.values.iter().any(|value| value.is_nan()), "a value that is no number")?;
        let mut key = 0_u32;
        for (index, step) in series.keys.iter().enumerate() {
            ensure(index == 0 || *step > 0, "buckets out of order")?;
            key = key
                .checked_add(*step)
                .filter(|key| *key < KEYS)
                .ok_or(WireError::Unsound("no such bucket"))?;
        }
        ensure(!series.counts.contains(&0), "an empty bucket")?;
        let all = series.counts.iter().try_fold(0_u64, |all, count| all.checked_add(*count));
        ensure(all.is_some_and(|all| all < COUNT_MAX), "more values than anybody can count")?;
        ensure(series.total < COUNT_MAX, "more values than anybody can count")?;
    }
    for check in &body.checks {
        ensure(is_text(check.group) && is_text(check.name), "a check without a name")?;
        ensure(
            check.passes < COUNT_MAX && check.fails < COUNT_MAX,
            "more checks than anybody can count",
        )?;
    }
    ensure(body.groups.iter().all(|group| is_text(group.path)), "a group without a path")?;
    let texts =
        |exception: &proto::Exception| is_text(exception.text) && exception.count < COUNT_MAX;
    ensure(body.exceptions.iter().all(texts), "an exception without a text")?;
    ensure(body.done.len().is_multiple_of(3), "a number without its scenario")?;
    let is_done = |of: &[u64]| of[0] < SCENARIOS_MAX && of[1] <= of[2] && of[2] < COUNT_MAX;
    ensure(body.done.chunks_exact(3).all(is_done), "more iterations than there can be")?;
    ensure(body.exceptions_others < COUNT_MAX, "more exceptions than anybody can count")?;
    if let Some(dropped) = &body.dropped {
        let counts = [
            dropped.samples,
            dropped.checks,
            dropped.groups,
            dropped.not_numbers,
            dropped.resets,
            dropped.crowded,
            dropped.stale,
        ];
        ensure(
            counts.iter().all(|count| *count < COUNT_MAX),
            "more losses than anybody can count",
        )?;
    }
    Ok(())
}

impl Decoder {
    /// For frames of this registry.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self { registry, metrics: FxHashMap::default(), unknown: 0 }
    }

    /// Series left out so far, as the registry has their metric with another kind or has no room for it.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// The frame of a message.
    pub fn frame(&mut self, message: Message) -> Frame {
        let body = message.body;
        let texts: Vec<Arc<str>> = body.texts.iter().map(|text| Arc::from(&**text)).collect();
        let text = |place: u32| Arc::clone(&texts[place as usize]);
        let mut frame = Frame { at: body.at, late: body.late, ..Frame::default() };
        for series in body.series {
            let name = &body.texts[series.metric as usize];
            let (kind, contains) = (kind_of(series.kind), contains_of(series.contains));
            let Some(metric) = self.metric(name, kind, contains) else {
                self.unknown += 1;
                continue;
            };
            let pairs = series.tags.chunks_exact(2).map(|pair| (text(pair[0]), text(pair[1])));
            let route = series.route.map(|route| (Arc::from(TagSet::ROUTE), text(route)));
            let tags = TagSet::from_pairs(pairs.chain(route));
            let sink = sink_of(kind, series);
            frame.series.push(SeriesDelta { series: Arc::new(Series { metric, tags }), sink });
        }
        frame.checks = body
            .checks
            .iter()
            .map(|check| CheckDelta {
                group: text(check.group),
                name: text(check.name),
                passes: check.passes,
                fails: check.fails,
                first_at_order: check.order,
            })
            .collect();
        frame.groups = body.groups.iter().map(|group| (group.order, text(group.path))).collect();
        frame.exceptions = ExceptionDeltas {
            told: body
                .exceptions
                .iter()
                .map(|told| ExceptionDelta {
                    text: text(told.text),
                    count: told.count,
                    order: told.order,
                })
                .collect(),
            others: body.exceptions_others,
        };
        let numbers = body.done.chunks_exact(3);
        frame.done = numbers
            .map(|of| NumbersDone { scenario: of[0] as u32, first: of[1], last: of[2] })
            .collect();
        frame.dropped = body.dropped.as_ref().map(dropped_of).unwrap_or_default();
        frame
    }

    fn metric(&mut self, name: &str, kind: Kind, contains: Contains) -> Option<MetricId> {
        let key = (name.to_owned(), kind, contains);
        if let Some(found) = self.metrics.get(&key) {
            return *found;
        }
        let id = match self.registry.find(name) {
            Some(metric) if (metric.kind, metric.contains) == (kind, contains) => Some(metric.id),
            Some(_) => None,
            None => self.registry.register(name, kind, contains).ok(),
        };
        if self.metrics.len() < METRICS_MAX {
            self.metrics.insert(key, id);
        }
        id
    }
}

fn sink_of(kind: Kind, series: proto::Series) -> Sink {
    match kind {
        Kind::Counter => Sink::Counter { sum: series.sum, rest: series.rest, first_at: series.at },
        Kind::Gauge => {
            Sink::Gauge { last: series.sum, min: series.min, max: series.max, at: series.at }
        }
        Kind::Rate => Sink::Rate { hits: series.hits, total: series.total },
        Kind::Trend => {
            let values = if series.keys.is_empty() {
                Distribution::from_values(series.values)
            } else {
                let mut key = 0;
                let steps = series.keys.iter().zip(&series.counts);
                let buckets = steps.map(|(step, count)| {
                    key += step;
                    (key, *count)
                });
                Distribution::from_buckets(buckets.collect())
            };
            if values.count() == 0 {
                return Sink::empty(Kind::Trend);
            }
            let sum = Sum { high: series.sum, low: series.rest };
            Sink::Trend(TrendSink::from_parts(sum, (series.min, series.max), values))
        }
    }
}

fn kind_of(number: u32) -> Kind {
    match number {
        0 => Kind::Counter,
        1 => Kind::Gauge,
        2 => Kind::Rate,
        _ => Kind::Trend,
    }
}

fn contains_of(number: u32) -> Contains {
    match number {
        1 => Contains::Time,
        2 => Contains::Data,
        _ => Contains::Default,
    }
}

fn dropped_of(dropped: &proto::Dropped) -> Dropped {
    let proto::Dropped { samples, checks, groups, not_numbers, resets, crowded, stale } = *dropped;
    Dropped { samples, checks, groups, not_numbers, resets, crowded, stale }
}
