use std::sync::Arc;

use brunt_metrics::{Recorder, Registry, TagSet, builtin};
use jiff::tz::{TimeZone, offset};

use super::*;

/// Tags and metadata.
type Labels<'a> = (&'a [(&'a str, &'a str)], Option<TagSet>);

fn written(config: Config, context: &Context, samples: &[Labels<'_>]) -> String {
    let mut csv = Csv::to(Destination::to(io::sink()), config, context);
    let mut recorder = Recorder::new(Arc::clone(&context.registry), 0, true);
    for (tags, metadata) in samples {
        let tags = recorder.tags(&TagSet::from_pairs(tags.iter().copied()));
        let series = recorder.series(builtin::HTTP_REQ_DURATION, tags);
        recorder.add(series, 1.893_025, 1_795_287_965_123_456_789, metadata.as_ref());
    }
    csv.write(&recorder.take_frame()).unwrap();
    String::from_utf8(csv.destination.buffer.clone()).unwrap()
}

#[test]
fn rows_are_those_of_k6() {
    let tags = [
        ("expected_response", "true"),
        ("group", "::setup"),
        ("method", "GET"),
        ("rt", "run"),
        ("my,tag", "v,\"1"),
        ("url", "http://127.0.0.1/?a=1,2"),
    ];
    let metadata = TagSet::from_pairs([("vu", "1"), ("iter", "0")]);
    let samples = [(&tags[..], Some(metadata)), (&[("name", " x")][..], None)];
    let text = written(Config::default(), &Context::new(Arc::new(Registry::new())), &samples);
    insta::assert_snapshot!(text, @r#"
    metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata
    http_req_duration,1795287965,1.893025,,,,true,::setup,GET,,,,,,,,"http://127.0.0.1/?a=1,2","my,tag=v,""1&rt=run",iter=0&vu=1
    http_req_duration,1795287965,1.893025,,,,,,," x",,,,,,,,,
    "#);
}

#[test]
fn columns_are_the_enabled_system_tags_in_order() {
    let context = Context {
        system_tags: ["vu", "url", "iter", "ip", "url"].map(String::from).to_vec(),
        ..Context::new(Arc::new(Registry::new()))
    };
    let text = written(Config::default(), &context, &[(&[("name", "x"), ("ip", "::1")], None)]);
    let row = "http_req_duration,1795287965,1.893025,::1,,name=x,\n";
    assert_eq!(
        text,
        format!("metric_name,timestamp,metric_value,ip,url,extra_tags,metadata\n{row}")
    );
}

#[test]
fn times_have_six_formats() {
    let context = Context {
        system_tags: Vec::new(),
        time_zone: TimeZone::fixed(offset(1)),
        ..Context::new(Arc::new(Registry::new()))
    };
    for (time_format, time) in [
        (TimeFormat::Unix, "1795287965"),
        (TimeFormat::UnixMilli, "1795287965123"),
        (TimeFormat::UnixMicro, "1795287965123456"),
        (TimeFormat::UnixNano, "1795287965123456789"),
        (TimeFormat::Rfc3339, "2026-11-21T20:06:05+01:00"),
        (TimeFormat::Rfc3339Nano, "2026-11-21T20:06:05.123456789+01:00"),
    ] {
        let config = Config { time_format, ..Config::default() };
        let text = written(config, &context, &[(&[], None)]);
        let row = text.lines().nth(1).unwrap();
        assert_eq!(row, format!("http_req_duration,{time},1.893025,,"));
    }
}

#[test]
fn the_standard_output_is_named_so() {
    let context = Context::new(Arc::new(Registry::new()));
    assert_eq!(Csv::open("-", &context).unwrap().description(), "csv (stdout)");
}
