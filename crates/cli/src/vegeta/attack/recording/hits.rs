//! Records become measurements, on the core that made them.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use brunt_attack::{Sink, Target, Targets};
use brunt_fiber::clock;
use brunt_metrics::{MetricId, Recorder, SeriesId, TagSet, builtin};
use brunt_outputs::Outputs;
use brunt_records::Record;
use brunt_runfile::exchange::{BODY_MAX, Exchange, Picker, Why};

use super::{Probe, Recording};

/// How often a core shows what it measured.
const FRAME_NS: u64 = 100_000_000;

/// How often the attack calls: later than that is late.
const TICK_NS: u64 = 10_000_000;

/// Different outcomes whose series are remembered; when there are more, all are looked up anew.
const KNOWN_MAX: usize = 50_000;

/// Metrics that are not in front of every registry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metrics {
    /// From the planned start.
    pub(super) planned: MetricId,
}

/// The sink of one core.
pub(super) struct Hits {
    recorder: Recorder,
    metrics: Metrics,
    outputs: Arc<Mutex<Outputs>>,
    probe: Arc<Probe>,
    targets: Targets,
    hash: RandomState,
    /// By method, URL, status and error.
    known: HashMap<u64, Series>,
    epoch: u32,
    picker: Picker,
    ticked: u64,
    framed: u64,
    late: u64,
}

/// The series of an outcome.
#[derive(Clone, Copy)]
struct Series {
    reqs: SeriesId,
    duration: SeriesId,
    failed: SeriesId,
    sent: SeriesId,
    received: SeriesId,
    planned: SeriesId,
}

impl Hits {
    pub(super) fn new(recording: &Recording, core: usize) -> Self {
        let now = clock::now_ns();
        let core = u32::try_from(core).unwrap_or(u32::MAX - 1);
        Self {
            recorder: Recorder::new(Arc::clone(&recording.registry), core, false),
            metrics: recording.metrics,
            outputs: Arc::clone(&recording.outputs),
            probe: Arc::clone(&recording.probe),
            targets: recording.targets.clone(),
            hash: RandomState::new(),
            known: HashMap::new(),
            epoch: 0,
            picker: Picker::default(),
            ticked: now,
            framed: now,
            late: 0,
        }
    }

    /// A number for the kind of a hit's outcome.
    fn kind(&self, record: &Record) -> u64 {
        self.hash.hash_one((&record.method, &record.url, record.code, &record.error))
    }

    fn series(&mut self, kind: u64, record: &Record) -> Series {
        if self.epoch != self.recorder.epoch() || self.known.len() >= KNOWN_MAX {
            self.epoch = self.recorder.epoch();
            self.known.clear();
        }
        if let Some(series) = self.known.get(&kind) {
            return *series;
        }
        let status = record.code.to_string();
        let expected = if record.is_success() { "true" } else { "false" };
        let error = Some(("error", &*record.error)).filter(|(_, error)| !error.is_empty());
        let pairs = [
            ("expected_response", expected),
            ("method", &*record.method),
            ("name", &*record.url),
            ("status", &*status),
        ];
        let tags = TagSet::from_pairs(pairs.into_iter().chain(error));
        let tags = self.recorder.tags(&tags);
        let mut of = |metric| self.recorder.series(metric, tags);
        let series = Series {
            reqs: of(builtin::HTTP_REQS),
            duration: of(builtin::HTTP_REQ_DURATION),
            failed: of(builtin::HTTP_REQ_FAILED),
            sent: of(builtin::DATA_SENT),
            received: of(builtin::DATA_RECEIVED),
            planned: of(self.metrics.planned),
        };
        self.known.insert(kind, series);
        series
    }

    fn show(&mut self, now: u64) {
        let mut frame = self.recorder.take_frame();
        (frame.at, frame.late) = (now, std::mem::take(&mut self.late));
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        outputs.write(&Arc::new(frame));
    }

    /// Keeps the whole of a hit, if it is worth it.
    fn witness(&mut self, kind: u64, record: &Record) {
        let failed = (!record.is_success()).then_some(kind);
        let picked = self.picker.pick(record.latency, failed, fastrand::u64(..));
        if !picked.is_kept() {
            return;
        }
        let exchange = self.exchange(record);
        let mut store = self.probe.store();
        for why in picked.reasons() {
            let exchange = exchange.clone();
            match why {
                Why::Failure => store.failed(kind, exchange),
                Why::Slow => store.slow(record.latency, exchange),
                Why::Random => store.random(picked.lot.unwrap_or_default(), exchange),
            }
        }
    }

    /// Records tell no phases. The request is that of its target, if that is known still.
    fn exchange(&self, record: &Record) -> Exchange {
        let target = match &self.targets {
            Targets::All(all) => all.get((record.seq % all.len().max(1) as u64) as usize),
            Targets::Stream(_) => None,
        };
        let target =
            target.filter(|target| target.url == record.url && target.method == record.method);
        let kept =
            |body: &[u8]| (!body.is_empty()).then(|| body[..body.len().min(2 * BODY_MAX)].to_vec());
        let headers = record.headers.iter().flat_map(|(name, values)| {
            values.iter().map(move |value| (name.clone(), value.clone()))
        });
        Exchange {
            at: record.timestamp.unix_ns(),
            method: record.method.clone(),
            url: record.url.clone(),
            name: record.url.clone(),
            status: record.code,
            error: Some(record.error.clone()).filter(|error| !error.is_empty()),
            duration: record.latency as f64 / 1e6,
            request_headers: target.map(Target::headers).unwrap_or_default(),
            request_body: target.and_then(|target| kept(&target.body)),
            request_size: record.bytes_out,
            response_headers: headers.collect(),
            response_body: kept(&record.body),
            response_size: record.bytes_in,
            ..Exchange::default()
        }
    }
}

impl Sink for Hits {
    fn take(&mut self, record: &Record) {
        let kind = self.kind(record);
        let series = self.series(kind, record);
        let at = record.end();
        let millis = |nanos: u64| nanos as f64 / 1e6;
        let failed = f64::from(u8::from(!record.is_success()));
        for (series, value) in [
            (series.reqs, 1.0),
            (series.duration, millis(record.latency)),
            (series.failed, failed),
            (series.sent, record.bytes_out as f64),
            (series.received, record.bytes_in as f64),
        ] {
            self.recorder.add(series, value, at, None);
        }
        if record.planned.is_some() {
            self.recorder.add(series.planned, millis(record.response_time()), at, None);
        }
        self.witness(kind, record);
    }

    fn tick(&mut self) {
        let now = clock::now_ns();
        let past = now.saturating_sub(std::mem::replace(&mut self.ticked, now));
        self.late = self.late.max(past.saturating_sub(TICK_NS));
        if now.saturating_sub(self.framed) >= FRAME_NS {
            self.framed = now;
            self.show(now);
        }
    }

    fn finish(&mut self) {
        self.show(clock::now_ns());
    }
}
