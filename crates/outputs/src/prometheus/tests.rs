use brunt_metrics::{Contains, builtin};

use super::*;
use crate::testing::{Field, Server, Told, all, context, fields, frame, nobody, one, silent};

/// A series of a request: name and labels as text, the value.
fn series(body: &[u8]) -> Vec<(String, Vec<(u64, Field)>)> {
    let body = snap::raw::Decoder::new().decompress_vec(body).unwrap();
    let series = all(&fields(&body), 1);
    let told = series.iter().map(|series| {
        let series = series.message();
        let labels: Vec<_> = all(&series, 1)
            .iter()
            .map(|label| {
                let label = label.message();
                format!("{}={}", one(&label, 1).text(), one(&label, 2).text())
            })
            .collect();
        (labels.join(","), series)
    });
    told.collect()
}

/// The same with plain values.
fn values(body: &[u8]) -> Vec<(String, f64)> {
    let value = |series: &[(u64, Field)]| one(&one(series, 2).message(), 1).double();
    series(body).into_iter().map(|(labels, series)| (labels, value(&series))).collect()
}

fn settings(server: &Server) -> Vec<(&'static str, String)> {
    vec![("K6_PROMETHEUS_RW_SERVER_URL", format!("{}/w?a=b", server.url()))]
}

fn open(env: &[(&'static str, String)]) -> (Prometheus, Context) {
    let env: Vec<_> = env.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let context = context(&env);
    (Prometheus::open(&context).unwrap(), context)
}

const TAGS: &[(&str, &str)] = &[("Zone", "z"), ("group", ""), ("my-tag", "a b")];

#[test]
fn series_are_named_and_counted_as_by_k6() {
    let server = Server::start(204);
    let mut env = settings(&server);
    env.push(("K6_PROMETHEUS_RW_TREND_STATS", "p(99.9),avg,count,sum".into()));
    env.push(("K6_PROMETHEUS_RW_USERNAME", "u".into()));
    env.push(("K6_PROMETHEUS_RW_HTTP_HEADERS", "A:b".into()));
    let (mut output, context) = open(&env);
    assert!(!output.wants_samples());
    assert_eq!(output.description(), format!("Prometheus remote write ({}/w?a=b)", server.url()));
    let registry = &context.registry;
    let plain = registry.register("my_trend", Kind::Trend, Contains::Default).unwrap();
    let values_in: &[Told<'_>] = &[
        (builtin::HTTP_REQS, TAGS, 1.0),
        (builtin::HTTP_REQS, TAGS, 1.0),
        (builtin::CHECKS, &[], 1.0),
        (builtin::CHECKS, &[], 0.0),
        (builtin::VUS, &[], 7.0),
        (builtin::HTTP_REQ_DURATION, &[], 12.5),
        (builtin::HTTP_REQ_DURATION, &[], 12.5),
        (plain, &[], 5.0),
    ];
    output.write(&frame(registry, values_in)).unwrap();
    assert_eq!(output.finish().unwrap(), Written { samples: 5, lost: 0 });
    let request = server.next();
    assert_eq!(request.line, "POST /w?a=b");
    for header in [
        "content-encoding: snappy",
        "content-type: application/x-protobuf",
        "x-prometheus-remote-write-version: 0.1.0",
        "authorization: Basic dTo=",
        "a: b",
    ] {
        assert!(request.has(header), "{header}: {request:?}");
    }
    let expected = [
        ("Zone=z,__name__=k6_http_reqs_total,my_tag=a b", 2.0),
        ("__name__=k6_checks_rate", 0.5),
        ("__name__=k6_vus", 7.0),
        ("__name__=k6_http_req_duration_p999", 0.0125),
        ("__name__=k6_http_req_duration_avg", 0.0125),
        ("__name__=k6_http_req_duration_count", 2.0),
        ("__name__=k6_http_req_duration_sum", 0.025),
        ("__name__=k6_my_trend_p999", 5.0),
        ("__name__=k6_my_trend_avg", 5.0),
        ("__name__=k6_my_trend_count", 1.0),
        ("__name__=k6_my_trend_sum", 5.0),
    ];
    assert_eq!(values(&request.body), expected.map(|(labels, value)| (labels.to_owned(), value)));
}

#[test]
fn native_histograms_have_the_buckets_of_k6() {
    let server = Server::start(204);
    let mut env = settings(&server);
    env.push(("K6_FEATURES", "native-histograms".into()));
    let (mut output, context) = open(&env);
    let values_in: &[Told<'_>] =
        &[(builtin::HTTP_REQ_DURATION, &[], 12.5), (builtin::HTTP_REQ_DURATION, &[], 12.5)];
    output.write(&frame(&context.registry, values_in)).unwrap();
    output.finish().unwrap();
    let (labels, series) = series(&server.next().body).remove(0);
    assert_eq!(labels, "__name__=k6_http_req_duration_seconds");
    let histogram = one(&series, 4).message();
    assert_eq!((one(&histogram, 1), one(&histogram, 3).double()), (Field::Number(2), 0.025));
    // k6 1.8.1 wrote: schema 3, the bucket −50 once, with 2 in it.
    assert_eq!(one(&histogram, 4), Field::Number(6));
    assert_eq!(one(&histogram, 11), Field::Bytes(vec![8, 99, 16, 1]));
    assert_eq!(one(&histogram, 12), Field::Bytes(vec![4]));
}

#[test]
fn only_series_with_news_are_told_and_all_of_them_end_stale() {
    let server = Server::start(204);
    let mut env = settings(&server);
    env.push(("K6_PROMETHEUS_RW_STALE_MARKERS", "true".into()));
    let (mut output, context) = open(&env);
    let reqs: (_, &[(&str, &str)], _) = (builtin::HTTP_REQS, &[], 1.0);
    output.write(&frame(&context.registry, &[reqs, (builtin::VUS, &[], 7.0)])).unwrap();
    output.flush().unwrap();
    assert_eq!(values(&server.next().body).len(), 2);
    output.write(&frame(&context.registry, &[reqs])).unwrap();
    output.finish().unwrap();
    assert_eq!(values(&server.next().body), [("__name__=k6_http_reqs_total".to_owned(), 2.0)]);
    let stale = values(&server.next().body);
    assert_eq!(stale.len(), 2);
    assert!(stale.iter().all(|(_, value)| value.to_bits() == 0x7ff0_0000_0000_0002));
}

#[test]
fn the_last_push_tells_the_whole_and_what_is_lost_is_counted() {
    let server = Server::start(503);
    let (mut output, context) = open(&settings(&server));
    output.write(&frame(&context.registry, &[(builtin::VUS, &[], 7.0)])).unwrap();
    output.flush().unwrap();
    assert_eq!(values(&server.next().body).len(), 1);
    // The answer comes a moment after the request was seen.
    while !output.totals.sender().unwrap().is_idle() {
        std::thread::yield_now();
    }
    output.write(&frame(&context.registry, &[(builtin::HTTP_REQS, &[], 1.0)])).unwrap();
    let written = output.finish().unwrap();
    // `vus` has no news, but its push failed: it is told again.
    assert_eq!(values(&server.next().body).len(), 2);
    assert_eq!(written.lost, 2);
    assert!(output.trouble().unwrap().contains("503"));
}

#[test]
fn a_push_is_left_out_while_the_one_before_is_on_its_way() {
    let (_listener, address) = silent();
    let (mut output, context) =
        open(&[("K6_PROMETHEUS_RW_SERVER_URL", format!("http://{address}/"))]);
    let frame = frame(&context.registry, &[(builtin::VUS, &[], 7.0)]);
    for _ in 0..1000 {
        output.write(&frame).unwrap();
        output.flush().unwrap();
    }
    assert!(!output.totals.is_free("late"));
    assert_eq!(output.totals.lost(), 0);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let (mut output, context) =
        open(&[("K6_PROMETHEUS_RW_SERVER_URL", format!("http://{}/", nobody()))]);
    output.write(&frame(&context.registry, &[(builtin::VUS, &[], 7.0)])).unwrap();
    assert_eq!(output.finish().unwrap().lost, 1);
    assert!(output.trouble().unwrap().contains("could not connect to 127.0.0.1"));
}
