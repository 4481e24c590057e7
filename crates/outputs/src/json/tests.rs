use std::sync::{Arc, Mutex};

use brunt_metrics::{Contains, Kind, Recorder, Registry, TagSet, Threshold, ThresholdSet, builtin};
use jiff::tz::TimeZone;

use super::*;

/// A place whose bytes can be looked at.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn written(context: &Context, frame: &Frame) -> (String, Written) {
    let page = Page::default();
    let mut json = Json::to(Destination::to(page.clone()), "out.json", context);
    let written = json.write(frame).unwrap();
    json.finish().unwrap();
    let bytes = page.0.lock().unwrap().clone();
    (String::from_utf8(bytes).unwrap(), written)
}

fn threshold(source: &str, abort: bool, delay: Option<Duration>) -> Threshold {
    Threshold::parse(source, abort, delay).unwrap()
}

#[test]
fn lines_are_those_of_k6() {
    let registry = Arc::new(Registry::new());
    let mine = registry.register("c_two", Kind::Counter, Contains::Default).unwrap();
    let set = |metric: &str, thresholds| ThresholdSet { metric: metric.into(), thresholds };
    let context = Context {
        thresholds: vec![
            set("c_two", vec![threshold("count>1", true, Some(Duration::from_secs(90)))]),
            set(
                "http_reqs",
                vec![threshold("count>0", false, None), threshold("rate<9", true, None)],
            ),
            set("http_reqs{ name : \"x\" , b:c:d}", vec![threshold("count>=0", false, None)]),
            set("http_reqs{b:c:d,name:x}", vec![threshold("count>=0", false, None)]),
        ],
        time_zone: TimeZone::UTC,
        ..Context::new(registry)
    };
    let mut recorder = Recorder::new(Arc::clone(&context.registry), 0, true);
    let mut sample = |metric, tags: &[(&str, &str)], value, metadata: Option<TagSet>| {
        let tags = recorder.tags(&TagSet::from_pairs(tags.iter().copied()));
        let series = recorder.series(metric, tags);
        recorder.add(series, value, 1_795_296_871_214_587_410, metadata.as_ref());
    };
    let iteration = TagSet::from_pairs([("vu", "1"), ("iter", "0")]);
    sample(mine, &[("we<ird", "a&b\u{2028}\"\n"), ("group", "")], 0.1, None);
    sample(mine, &[], f64::INFINITY, None);
    sample(builtin::HTTP_REQS, &[("status", "200")], 1.0, Some(iteration));
    sample(mine, &[], 1e6, Some(TagSet::default()));
    sample(builtin::HTTP_REQ_DURATION, &[], 0.007_391, None);
    sample(builtin::VUS, &[], 5.0, None);
    let (text, written) = written(&context, &recorder.take_frame());
    assert_eq!(written, Written { samples: 5, lost: 1 });
    insta::assert_snapshot!(text, @r#"
    {"type":"Metric","data":{"name":"c_two","type":"counter","contains":"default","thresholds":[{"threshold":"count>1","abortOnFail":true,"delayAbortEval":"1m30s"}],"submetrics":null},"metric":"c_two"}
    {"metric":"c_two","type":"Point","data":{"time":"2026-11-21T21:34:31.21458741Z","value":0.1,"tags":{"group":"","we\u003cird":"a\u0026b\u2028\"\n"}}}
    {"type":"Metric","data":{"name":"http_reqs","type":"counter","contains":"default","thresholds":["count>0",{"threshold":"rate<9","abortOnFail":true,"delayAbortEval":null}],"submetrics":[{"name":"http_reqs{name : \"x\" , b:c:d}","suffix":"name : \"x\" , b:c:d","tags":{"b":"c:d","name":"x"}}]},"metric":"http_reqs"}
    {"metric":"http_reqs","type":"Point","data":{"time":"2026-11-21T21:34:31.21458741Z","value":1,"tags":{"status":"200"},"metadata":{"iter":"0","vu":"1"}}}
    {"metric":"c_two","type":"Point","data":{"time":"2026-11-21T21:34:31.21458741Z","value":1e+06,"tags":{}}}
    {"type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time","thresholds":[],"submetrics":[{"name":"http_req_duration{expected_response:true}","suffix":"expected_response:true","tags":{"expected_response":"true"}}]},"metric":"http_req_duration"}
    {"metric":"http_req_duration","type":"Point","data":{"time":"2026-11-21T21:34:31.21458741Z","value":0.007391,"tags":{}}}
    {"type":"Metric","data":{"name":"vus","type":"gauge","contains":"default","thresholds":[],"submetrics":null},"metric":"vus"}
    {"metric":"vus","type":"Point","data":{"time":"2026-11-21T21:34:31.21458741Z","value":5,"tags":{}}}
    "#);
    for line in text.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn the_standard_output_is_named_so() {
    let context = Context::new(Arc::new(Registry::new()));
    for arg in ["", "-"] {
        assert_eq!(Json::open(arg, &context).unwrap().description(), "json(stdout)");
    }
}
