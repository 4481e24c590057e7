//! Frames to messages.

use std::sync::Arc;

use brunt_metrics::{
    CheckDelta, Contains, Dropped, ExceptionDelta, Frame, Kind, Metric, MetricId, Registry,
    SeriesDelta, Sink, TagSet,
};
use prost::Message as _;
use rustc_hash::FxHashMap;

use super::{Head, MESSAGE_MAX, TEXTS_MAX, proto};

/// Bytes of a message's own fields, and of its rounding.
const HEAD: usize = 512;
/// Buckets of one entry; a trend of more becomes several entries.
const BUCKETS_MAX: usize = 20_000;
/// Bytes of the tags of one series; of a larger one the rest is left out and counted.
const TAGS_BYTES_MAX: usize = 192 * 1024;
/// Series whose number of values is remembered; beyond that trends travel as they come.
const COUNTED_MAX: usize = 100_000;
/// From this number of values of a series on, the leader could not keep them exact anyway: buckets are shorter.
const EXACT_MAX: u32 = 4096;
/// A trend of fewer values is shorter as it is.
const FEW: usize = 64;

/// Turns frames into messages. Keeps what it needs from one to the next: the packer, the metrics' names, the number of values per
/// series.
pub struct Encoder {
    registry: Arc<Registry>,
    packer: Option<zstd::bulk::Compressor<'static>>,
    metrics: FxHashMap<MetricId, Metric>,
    /// By the hash of a series: how many values its trend has had.
    counted: FxHashMap<u64, u32>,
    keeps_exact: bool,
}

/// A part of a frame that is one message, before it has a number.
#[derive(Debug, Default)]
pub struct Cut {
    message: proto::Message,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Encoder").field("counted", &self.counted.len()).finish_non_exhaustive()
    }
}

impl Encoder {
    /// For frames of this registry.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self {
            registry,
            packer: None,
            metrics: FxHashMap::default(),
            counted: FxHashMap::default(),
            keeps_exact: false,
        }
    }

    /// One whose trends stay exact as long as they are: for frames that are stored and told again.
    pub fn exact(registry: Arc<Registry>) -> Self {
        Self { keeps_exact: true, ..Self::new(registry) }
    }

    /// Cuts a frame into messages. There is one at least, even of an empty frame.
    pub fn cut(&mut self, frame: &Frame) -> Vec<Cut> {
        let mut cutter = Cutter::default();
        let mut dropped = frame.dropped;
        for delta in &frame.series {
            self.cut_series(&mut cutter, delta, &mut dropped);
        }
        for check in &frame.checks {
            cutter.check(check);
        }
        for (order, path) in &frame.groups {
            cutter.room(path.len() + 32, 1);
            let path = cutter.text(path);
            cutter.message.groups.push(proto::Group { path, order: *order });
        }
        for delta in &frame.exceptions.told {
            cutter.exception(delta);
        }
        for done in &frame.done {
            cutter.room(32, 0);
            cutter.message.done.extend([u64::from(done.scenario), done.first, done.last]);
        }
        cutter.message.exceptions_others = frame.exceptions.others;
        cutter.message.dropped = (!dropped.is_nothing()).then(|| told(dropped));
        (cutter.message.at, cutter.message.late) = (frame.at, frame.late);
        cutter.finish();
        cutter.done.into_iter().map(|message| Cut { message }).collect()
    }

    fn metric(&mut self, id: MetricId) -> &Metric {
        let registry = &self.registry;
        let metric = self.metrics.entry(id).or_insert_with(|| registry.get(id));
        // An offered metric may have become the script's since.
        debug_assert_eq!(metric.id, id);
        metric
    }

    fn cut_series(&mut self, cutter: &mut Cutter, delta: &SeriesDelta, dropped: &mut Dropped) {
        let tags = bounded(&delta.series.tags, dropped);
        let as_buckets = !self.keeps_exact && self.is_past_exact(delta);
        let metric = self.metric(delta.series.metric);
        let mut head = proto::Series {
            kind: number_of_kind(delta.sink.kind()),
            contains: number_of_contains(metric.contains),
            ..proto::Series::default()
        };
        let name = Arc::clone(&metric.name);
        let mut parts = vec![];
        match &delta.sink {
            Sink::Counter { sum, rest, first_at } => {
                (head.sum, head.rest, head.at) = (*sum, *rest, *first_at);
                parts.push(head);
            }
            Sink::Gauge { last, min, max, at } => {
                (head.sum, head.min, head.max, head.at) = (*last, *min, *max, *at);
                parts.push(head);
            }
            Sink::Rate { hits, total } => {
                (head.hits, head.total) = (*hits, *total);
                parts.push(head);
            }
            Sink::Trend(trend) => {
                let sum = trend.whole_sum();
                (head.min, head.max) = (trend.min(), trend.max());
                let values = trend.distribution();
                match values.values() {
                    Some(exact) if !as_buckets || exact.len() < FEW => {
                        (head.sum, head.rest) = (sum.high, sum.low);
                        head.values = exact.to_vec();
                        parts.push(head);
                    }
                    _ => {
                        let buckets = values.buckets();
                        for part in buckets.chunks(BUCKETS_MAX) {
                            let mut piece = head.clone();
                            if parts.is_empty() {
                                (piece.sum, piece.rest) = (sum.high, sum.low);
                            }
                            let mut last = 0;
                            for (key, count) in part {
                                piece.keys.push(key - last);
                                piece.counts.push(*count);
                                last = *key;
                            }
                            parts.push(piece);
                        }
                    }
                }
            }
        }
        for part in parts {
            cutter.series(&name, &tags, part);
        }
    }

    /// Whether a series has had more values than anybody keeps exact.
    fn is_past_exact(&mut self, delta: &SeriesDelta) -> bool {
        let Sink::Trend(trend) = &delta.sink else { return false };
        let series = delta.series.tags.stable_hash() ^ u64::from(delta.series.metric.0) << 40;
        if self.counted.len() >= COUNTED_MAX && !self.counted.contains_key(&series) {
            return false;
        }
        let count = self.counted.entry(series).or_default();
        let is_past = *count > EXACT_MAX;
        *count = count.saturating_add(trend.count().min(u64::from(u32::MAX)) as u32);
        is_past
    }

    /// A message as bytes.
    pub fn pack(&mut self, cut: &mut Cut, head: Head) -> Vec<u8> {
        let message = &mut cut.message;
        message.format = crate::plan::FORMAT;
        (message.nonce, message.seat, message.incarnation) =
            (head.nonce, head.seat, head.incarnation);
        (message.seq, message.from_ns, message.to_ns) = (head.seq, head.from_ns, head.to_ns);
        message.is_last = head.is_last;
        let plain = message.encode_to_vec();
        if self.packer.is_none() {
            self.packer = zstd::bulk::Compressor::new(1).ok();
        }
        let packed = self.packer.as_mut().and_then(|packer| packer.compress(&plain).ok());
        packed.expect("memory for packing: the output is bounded by the input")
    }
}

impl Cut {
    /// Turns a message that was sent into one more: the same content under another head.
    pub fn is_empty(&self) -> bool {
        let message = &self.message;
        message.series.is_empty()
            && message.checks.is_empty()
            && message.groups.is_empty()
            && message.exceptions.is_empty()
            && message.exceptions_others == 0
            && message.done.is_empty()
            && message.dropped.is_none()
    }
}

/// The message that is being filled, and those that are full.
#[derive(Default)]
struct Cutter {
    message: proto::Message,
    places: FxHashMap<Arc<str>, u32>,
    size: usize,
    done: Vec<proto::Message>,
}

impl Cutter {
    /// Makes room for an entry of `size` bytes at most, and for that number of new texts.
    fn room(&mut self, size: usize, texts: usize) {
        let is_full =
            self.size + size > MESSAGE_MAX - HEAD || self.places.len() + texts > TEXTS_MAX;
        if is_full && self.size > 0 {
            self.finish();
        }
        self.size += size;
    }

    fn finish(&mut self) {
        self.done.push(std::mem::take(&mut self.message));
        self.places.clear();
        self.size = 0;
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = self.message.texts.len() as u32;
        self.message.texts.push(text.to_owned());
        self.places.insert(Arc::from(text), place);
        place
    }

    /// How many bytes of a text the table has not yet.
    fn fresh(&self, text: &str) -> usize {
        if self.places.contains_key(text) { 0 } else { text.len() + 8 }
    }

    fn series(&mut self, name: &str, tags: &TagSet, mut series: proto::Series) {
        let texts = |this: &Self| {
            let pairs = tags.iter().map(|(key, value)| this.fresh(key) + this.fresh(value));
            pairs.sum::<usize>() + this.fresh(name) + tags.route().map_or(0, |r| this.fresh(r))
        };
        // Each number of a text takes four bytes at most.
        let own = series.encoded_len() + 10 * tags.len() + 32;
        let count = 2 * tags.len() + 2;
        let mut size = own + texts(self);
        if self.size + size > MESSAGE_MAX - HEAD && self.size > 0 {
            self.finish();
            size = own + texts(self);
        }
        self.room(size, count);
        series.metric = self.text(name);
        for (key, value) in tags.iter() {
            let (key, value) = (self.text(key), self.text(value));
            series.tags.extend([key, value]);
        }
        series.route = tags.route().map(|route| self.text(route));
        self.message.series.push(series);
    }

    fn check(&mut self, check: &CheckDelta) {
        self.room(check.group.len() + check.name.len() + 96, 2);
        let (group, name) = (self.text(&check.group), self.text(&check.name));
        let (passes, fails, order) = (check.passes, check.fails, check.first_at_order);
        self.message.checks.push(proto::Check { group, name, passes, fails, order });
    }

    fn exception(&mut self, delta: &ExceptionDelta) {
        self.room(delta.text.len() + 64, 1);
        let text = self.text(&delta.text);
        let exception = proto::Exception { text, count: delta.count, order: delta.order };
        self.message.exceptions.push(exception);
    }
}

/// The tags, or as many of them as fit into a message.
fn bounded(tags: &TagSet, dropped: &mut Dropped) -> TagSet {
    if tags.size() <= TAGS_BYTES_MAX {
        return tags.clone();
    }
    dropped.crowded += 1;
    let mut room = TAGS_BYTES_MAX;
    let fits = |pair: &(&str, &str)| {
        let size = pair.0.len() + pair.1.len() + 64;
        let is_in = size <= room;
        room = room.saturating_sub(size);
        is_in
    };
    let route = tags.route().map(|route| (TagSet::ROUTE, route));
    TagSet::from_pairs(route.into_iter().chain(tags.iter()).filter(fits).collect::<Vec<_>>())
}

fn number_of_kind(kind: Kind) -> u32 {
    match kind {
        Kind::Counter => 0,
        Kind::Gauge => 1,
        Kind::Rate => 2,
        Kind::Trend => 3,
    }
}

fn number_of_contains(contains: Contains) -> u32 {
    match contains {
        Contains::Default => 0,
        Contains::Time => 1,
        Contains::Data => 2,
    }
}

fn told(dropped: Dropped) -> proto::Dropped {
    let Dropped { samples, checks, groups, not_numbers, resets, crowded, stale } = dropped;
    proto::Dropped { samples, checks, groups, not_numbers, resets, crowded, stale }
}
