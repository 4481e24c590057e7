use std::io::Read;
use std::time::Duration;

use brunt_metrics::{Registry, Sample, Series, SeriesDelta, Sink, TagSet, builtin};
use flate2::read::GzDecoder;

use super::*;

fn samples(count: usize) -> Arc<Frame> {
    let series = Arc::new(Series { metric: builtin::HTTP_REQS, tags: TagSet::default() });
    let sink = Sink::Counter { sum: count as f64, rest: 0.0, first_at: Some(1_000_000_000) };
    let sample = Sample { series: 0, at: 1_000_000_000, value: 1.0, metadata: None };
    let series = if count > 0 { vec![SeriesDelta { series, sink }] } else { Vec::new() };
    Arc::new(Frame { series, samples: vec![sample; count], ..Frame::default() })
}

fn context() -> Context {
    Context::new(Arc::new(Registry::new()))
}

fn spec(text: &str) -> OutputSpec {
    OutputSpec::parse(text).unwrap()
}

#[test]
fn every_output_gets_everything_and_gzip_files_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let specs = ["a.json", "b.json.gz"]
        .map(|name| spec(&format!("json={}", path(name))))
        .into_iter()
        .chain([spec(&format!("csv={}", path("c.csv.gz")))])
        .collect::<Vec<_>>();
    let mut outputs = Outputs::start(&specs, &context()).unwrap();
    assert!(outputs.wants_samples());
    assert_eq!(outputs.descriptions()[0], format!("json ({})", path("a.json")));
    for _ in 0..20 {
        outputs.write(&samples(100));
    }
    outputs.write(&samples(0));
    for finished in outputs.finish() {
        assert_eq!(finished.written, Written { samples: 2000, lost: 0 });
        assert!(finished.error.is_none());
    }
    let plain = std::fs::read_to_string(path("a.json")).unwrap();
    assert_eq!(plain.lines().count(), 2001);
    let unzip = |name| {
        let mut text = String::new();
        let file = std::fs::File::open(path(name)).unwrap();
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
        text
    };
    assert_eq!(unzip("b.json.gz"), plain);
    assert_eq!(unzip("c.csv.gz").lines().count(), 2001);
}

#[test]
fn a_file_that_cannot_be_created_is_named() {
    for kind in ["json", "csv"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/such.txt").to_str().unwrap().to_owned();
        let error = Outputs::start(&[spec(&format!("{kind}={path}"))], &context()).err().unwrap();
        let start = format!("could not create the '{kind}' output: \"{path}\" cannot be created: ");
        assert!(error.to_string().starts_with(&start), "{error}");
    }
}

/// Has no room for anything.
struct Broken;

impl Output for Broken {
    fn description(&self) -> String {
        "broken".into()
    }

    fn flush_interval(&self) -> Duration {
        Duration::from_hours(1)
    }

    fn write(&mut self, _: &Frame) -> io::Result<Written> {
        Err(io::Error::other("disk full"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<Written> {
        Ok(Written::default())
    }
}

#[test]
fn a_queue_is_full_when_too_many_samples_wait() {
    let (queue, frames) = Queue::new();
    let large = samples(WAITING_MAX + 1);
    let small = samples(1);
    assert!(queue.put(&large, 1));
    assert!(!queue.put(&small, 1));
    queue.waiting.weight.fetch_sub(weight(&frames.recv().unwrap()), Relaxed);
    for _ in 0..FRAMES_MAX {
        assert!(queue.put(&small, 1));
    }
    assert!(!queue.put(&small, 1));
    assert_eq!(queue.waiting.weight.load(Relaxed), FRAMES_MAX * weight(&small));
}

/// Takes nothing before it is told to.
struct Stuck(Receiver<()>);

impl Output for Stuck {
    fn description(&self) -> String {
        "stuck".into()
    }

    fn flush_interval(&self) -> Duration {
        Duration::from_hours(1)
    }

    fn write(&mut self, frame: &Frame) -> io::Result<Written> {
        // The sender gone means: go on.
        let _ = self.0.recv();
        Ok(Written { samples: frame.samples.len() as u64, lost: 0 })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<Written> {
        Ok(Written::default())
    }
}

#[test]
fn nobody_waits_for_an_output_that_is_stuck_and_the_loss_is_counted() {
    let (go, stop) = sync_channel(1);
    let mut outputs = Outputs::run(vec![Box::new(Stuck(stop))]).unwrap();
    outputs.write(&samples(WAITING_MAX));
    outputs.write(&samples(3));
    drop(go);
    let finished = outputs.finish().remove(0);
    assert_eq!(finished.written.samples, WAITING_MAX as u64);
    assert_eq!(finished.dropped, 3);
}

#[test]
fn after_an_error_the_test_goes_on_and_the_loss_is_counted() {
    let mut outputs = Outputs::run(vec![Box::new(Broken)]).unwrap();
    for _ in 0..3 {
        outputs.write(&samples(2));
    }
    let finished = outputs.finish().remove(0);
    assert_eq!(finished.written, Written { samples: 0, lost: 6 });
    assert_eq!(finished.error.unwrap().to_string(), "disk full");
}

/// An output that never comes back from a write, as one to a pipe whose reader sleeps.
struct Asleep;

impl Output for Asleep {
    fn description(&self) -> String {
        "asleep".to_owned()
    }

    fn flush_interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn write(&mut self, _: &Frame) -> io::Result<Written> {
        std::thread::park_timeout(Duration::from_mins(10));
        Ok(Written::default())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<Written> {
        Ok(Written::default())
    }
}

#[test]
fn an_output_that_takes_nothing_is_given_up_and_its_samples_are_counted() {
    let mut outputs = Outputs::run(vec![Box::new(Asleep)]).unwrap();
    for _ in 0..3 {
        outputs.write(&samples(100));
    }
    let finished = outputs.finish_within(Duration::from_millis(50)).remove(0);
    assert_eq!(finished.written.lost, 300);
    assert!(finished.error.unwrap().to_string().contains("took nothing for 50ms"));
}
