//! The hot steps of measuring: what each request pays, and what each tick pays.
#![allow(missing_docs, reason = "a bench says by its name what it measures")]

use std::sync::Arc;

use brunt_metrics::{
    Frame, Ledger, LedgerConfig, MetricId, Recorder, Registry, SeriesId, TagSet, TagsId, Threshold,
    ThresholdSet, TrendStat, builtin,
};
use divan::{Bencher, black_box};

/// The allocator of the process; divan counts what it is asked for.
#[global_allocator]
static ALLOCATOR: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

/// Requests between two ticks: 50 000 a second, ten ticks.
const TICK: u64 = 5000;

const TRENDS: [MetricId; 8] = [
    builtin::HTTP_REQ_DURATION,
    builtin::HTTP_REQ_BLOCKED,
    builtin::HTTP_REQ_CONNECTING,
    builtin::HTTP_REQ_TLS_HANDSHAKING,
    builtin::HTTP_REQ_SENDING,
    builtin::HTTP_REQ_WAITING,
    builtin::HTTP_REQ_RECEIVING,
    builtin::ITERATION_DURATION,
];

struct Request {
    recorder: Recorder,
    trends: [SeriesId; 8],
    count: SeriesId,
    failed: SeriesId,
    number: u64,
}

const TAGS: [(&str, &str); 8] = [
    ("scenario", "default"),
    ("group", ""),
    ("method", "GET"),
    ("name", "http://127.0.0.1:8080/api/items?page=2"),
    ("url", "http://127.0.0.1:8080/api/items?page=2"),
    ("status", "200"),
    ("proto", "HTTP/1.1"),
    ("expected_response", "true"),
];

impl Request {
    fn new() -> Self {
        let mut recorder = Recorder::new(Arc::new(Registry::new()), 0, false);
        let tags = recorder.tags_with(TagsId::EMPTY, &TAGS);
        let mut new = Self {
            trends: TRENDS.map(|metric| recorder.series(metric, tags)),
            count: recorder.series(builtin::HTTP_REQS, tags),
            failed: recorder.series(builtin::HTTP_REQ_FAILED, tags),
            recorder,
            number: 0,
        };
        // In its stride.
        for _ in 0..4 {
            (0..TICK).for_each(|_| new.record());
            new.recorder.take_frame();
        }
        new
    }

    fn record(&mut self) {
        self.number += 1;
        let at = 1_700_000_000_000_000_000 + self.number;
        // Latencies between 0.2 and 2 ms, as a quick server has them.
        let noise =
            (self.number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1 << 24) as f64;
        let duration = 0.2 + 1.8 * noise * noise;
        let values =
            [duration, 0.001 + noise / 1000.0, 0.0, 0.0, 0.01, duration * 0.9, 0.03, duration];
        for (series, value) in self.trends.into_iter().zip(values) {
            self.recorder.add(series, value, at, None);
        }
        self.recorder.add(self.count, 1.0, at, None);
        self.recorder.add(self.failed, 0.0, at, None);
    }

    fn tick(&mut self) -> Frame {
        (0..TICK).for_each(|_| self.record());
        self.recorder.take_frame()
    }
}

/// Eight trends, a counter and a rate. Frames are taken now and then, as in life.
#[divan::bench]
fn record_a_requests_samples(bencher: Bencher) {
    let mut request = Request::new();
    bencher.bench_local(move || {
        request.record();
        if request.number.is_multiple_of(TICK) {
            black_box(request.recorder.take_frame());
        }
    });
}

/// The bytes of a request's route: all that routes cost a request whose tags are known.
#[divan::bench]
fn record_the_bytes_of_a_route(bencher: Bencher) {
    let mut recorder = Recorder::new(Arc::new(Registry::new()), 0, false);
    let tags = recorder.tags_with(TagsId::EMPTY, &[(TagSet::ROUTE, "/x"), ("method", "GET")]);
    let sent = recorder.series(builtin::HTTP_REQ_BYTES_SENT, tags);
    let received = recorder.series(builtin::HTTP_REQ_BYTES_RECEIVED, tags);
    let mut at = 1_700_000_000_000_000_000;
    bencher.bench_local(move || {
        at += 1;
        recorder.add(sent, black_box(120.0), at, None);
        recorder.add(received, black_box(600.0), at, None);
    });
}

/// The tags of a response, asked for again.
#[divan::bench]
fn find_tags_again(bencher: Bencher) {
    let mut request = Request::new();
    bencher.bench_local(move || request.recorder.tags_with(TagsId::EMPTY, black_box(&TAGS)));
}

/// The end of a tick on a core that made 5000 requests in it.
#[divan::bench]
fn take_a_frame(bencher: Bencher) {
    let request = std::cell::RefCell::new(Request::new());
    bencher
        .with_inputs(|| (0..TICK).for_each(|_| request.borrow_mut().record()))
        .bench_local_values(|()| request.borrow_mut().recorder.take_frame());
}

/// The work of the gathering thread on that frame.
#[divan::bench]
fn absorb_a_frame(bencher: Bencher) {
    let mut request = Request::new();
    let mut ledger = ledger();
    ledger.absorb(&request.tick());
    let frame = request.tick();
    bencher.bench_local(move || ledger.absorb(&frame));
}

fn ledger() -> Ledger {
    let threshold = Threshold::parse("p(95)<500", false, None).expect("it parses");
    let config = LedgerConfig {
        thresholds: vec![ThresholdSet {
            metric: "http_req_duration{status:200}".into(),
            thresholds: vec![threshold],
        }],
        trend_stats: TrendStat::defaults(),
        expected_response_submetric: true,
        ..LedgerConfig::default()
    };
    Ledger::new(Arc::new(Registry::new()), config).expect("the metric is built in")
}
