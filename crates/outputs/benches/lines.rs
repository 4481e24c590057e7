//! How fast samples become lines.
#![allow(missing_docs, reason = "a bench says by its name what it measures")]

use std::sync::Arc;

use brunt_metrics::{Frame, MetricId, Recorder, Registry, TagSet, builtin};
use brunt_outputs::{Context, OutputSpec, open};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// The series of 1000 requests: seven trends, a counter and a rate each, with eight tags.
fn frame(registry: &Arc<Registry>) -> Frame {
    let mut recorder = Recorder::new(Arc::clone(registry), 0, true);
    let tags = recorder.tags(&TagSet::from_pairs([
        ("scenario", "default"),
        ("group", ""),
        ("method", "GET"),
        ("name", "http://127.0.0.1:8080/api/items?page=2"),
        ("url", "http://127.0.0.1:8080/api/items?page=2"),
        ("status", "200"),
        ("proto", "HTTP/1.1"),
        ("expected_response", "true"),
    ]));
    let series: Vec<_> = (builtin::HTTP_REQS.0..=builtin::HTTP_REQ_FAILED.0)
        .map(|id| recorder.series(MetricId(id), tags))
        .collect();
    for number in 0..9000u64 {
        let at = 1_795_296_871_000_000_000 + number / 9 * 111_123;
        let value = (number * 7919 % 2_000_000) as f64 / 1e6;
        recorder.add(series[number as usize % series.len()], value, at, None);
    }
    recorder.take_frame()
}

#[divan::bench(args = ["influxdb=udp://127.0.0.1:9", "json", "csv=fileName=/dev/null,timeFormat=unix", "json.gz"])]
fn write_lines(bencher: Bencher, which: &str) {
    let registry = Arc::new(Registry::new());
    let context = Context::new(Arc::clone(&registry));
    let folder = tempfile::tempdir().expect("there is room for a file");
    let spec = match which {
        "json" => "json=/dev/null".to_owned(),
        "json.gz" => format!("json={}", folder.path().join("lines.json.gz").display()),
        other => other.to_owned(),
    };
    let spec = OutputSpec::parse(&spec).expect("it is known");
    let mut output = open(&spec, &context).expect("it can be created");
    let frame = frame(&registry);
    bencher
        .counter(ItemsCount::new(frame.samples.len()))
        .bench_local(move || output.write(&frame).expect("it can be written"));
}
