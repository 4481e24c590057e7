use brunt_metrics::builtin;

use super::*;
use crate::testing::{Field, PATIENCE, Server, Told, all, collector, context, fields, frame, one};

const VALUES: &[Told<'_>] = &[
    (builtin::HTTP_REQS, &[("status", "200"), ("group", "")], 1.0),
    (builtin::HTTP_REQS, &[("status", "500")], 2.0),
    (builtin::CHECKS, &[("check", "a")], 1.0),
    (builtin::CHECKS, &[("check", "a")], 1.0),
    (builtin::CHECKS, &[("check", "a")], 0.0),
    (builtin::VUS, &[], 7.0),
    (builtin::HTTP_REQ_DURATION, &[], 12.5),
    (builtin::HTTP_REQ_DURATION, &[], 5.0),
    (builtin::DATA_SENT, &[], 100.0),
];

/// The metrics of a request, each as its name and what is in it.
fn metrics(message: &[u8]) -> Vec<(String, Vec<(u64, Field)>)> {
    let resource = one(&fields(message), 1).message();
    let attributes: Vec<_> = all(&one(&resource, 1).message(), 1)
        .iter()
        .map(|attribute| one(&attribute.message(), 1).text())
        .collect();
    assert_eq!(attributes, ["service.name", "service.version"]);
    let scope = one(&resource, 2).message();
    assert_eq!(one(&one(&scope, 1).message(), 1).text(), "k6");
    let metrics = all(&scope, 2);
    metrics
        .iter()
        .map(|metric| {
            let metric = metric.message();
            (one(&metric, 1).text(), metric)
        })
        .collect()
}

fn attributes(point: &[(u64, Field)], number: u64) -> Vec<String> {
    let texts = all(point, number).into_iter().map(|attribute| {
        let attribute = attribute.message();
        let value = one(&one(&attribute, 2).message(), 1).text();
        format!("{}={value}", one(&attribute, 1).text())
    });
    texts.collect()
}

fn is_as_expected(message: &[u8]) {
    let metrics = metrics(message);
    let names: Vec<_> = metrics.iter().map(|(name, _)| &**name).collect();
    let expected = ["http_reqs", "checks.total", "vus", "http_req_duration", "data_sent"];
    assert_eq!(names, expected.map(|name| format!("pp_{name}")));
    let points = |index: usize, field: u64| {
        let data = one(&metrics[index].1, field).message();
        let points: Vec<_> = all(&data, 1).iter().map(Field::message).collect();
        (data, points)
    };
    let (sum, reqs) = points(0, 7);
    assert_eq!((one(&sum, 2).number(), one(&sum, 3).number()), (2, 1));
    assert_eq!(reqs.iter().map(|p| one(p, 4).double()).collect::<Vec<_>>(), [1.0, 2.0]);
    assert_eq!(attributes(&reqs[0], 7), ["status=200"]);
    let (_, checks) = points(1, 7);
    let told: Vec<_> = checks.iter().map(|p| (attributes(p, 7), one(p, 6).number())).collect();
    let condition = |name: &str| vec!["check=a".to_owned(), format!("condition={name}")];
    assert_eq!(told, [(condition("nonzero"), 2), (condition("zero"), 1)]);
    let (_, vus) = points(2, 5);
    assert_eq!(one(&vus[0], 4).double(), 7.0);
    let (histogram, durations) = points(3, 9);
    assert_eq!(one(&histogram, 2).number(), 2);
    assert_eq!(one(&metrics[3].1, 3).text(), "ms");
    assert_eq!(one(&metrics[4].1, 3).text(), "By");
    let point = &durations[0];
    assert_eq!((one(point, 4).number(), one(point, 5).double()), (2, 17.5));
    assert_eq!((one(point, 11).double(), one(point, 12).double()), (5.0, 12.5));
    let Field::Bytes(counts) = one(point, 6) else { panic!("packed") };
    let counts: Vec<_> =
        counts.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    assert_eq!(counts, [0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn http_carries_what_k6_sends() {
    let server = Server::start(200);
    let context = context(&[
        ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf"),
        ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", &server.address),
        ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"),
        ("K6_OTEL_METRIC_PREFIX", "pp_"),
        ("K6_OTEL_HEADERS", "x=y"),
    ]);
    let mut output = Opentelemetry::open(&context).unwrap();
    output.write(&frame(&context.registry, VALUES)).unwrap();
    output.flush().unwrap();
    let request = server.next();
    assert_eq!(request.line, "POST /v1/metrics");
    assert!(request.has("content-type: application/x-protobuf") && request.has("x: y"));
    is_as_expected(&request.body);
    assert_eq!(output.finish().unwrap(), Written { samples: 6, lost: 0 });
    // The same again: totals.
    is_as_expected(&server.next().body);
}

fn grpc(address: &str) -> (Opentelemetry, Context) {
    let context = context(&[
        ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", address),
        ("K6_OTEL_GRPC_EXPORTER_INSECURE", "true"),
        ("K6_OTEL_METRIC_PREFIX", "pp_"),
    ]);
    (Opentelemetry::open(&context).unwrap(), context)
}

#[test]
fn grpc_carries_the_same() {
    let (address, received) = collector("0");
    let (mut output, context) = grpc(&address);
    assert_eq!(output.description(), format!("opentelemetry (grpc (insecure), {address})"));
    output.write(&frame(&context.registry, VALUES)).unwrap();
    assert_eq!(output.finish().unwrap(), Written { samples: 6, lost: 0 });
    let (path, body) = received.recv_timeout(PATIENCE).unwrap();
    assert_eq!(path, EXPORT);
    let (head, message) = body.split_at(5);
    assert_eq!(head, [&[0][..], &(message.len() as u32).to_be_bytes()[..]].concat());
    is_as_expected(message);
    assert_eq!(output.trouble(), None);
}

#[test]
fn a_status_of_grpc_is_a_refusal_with_its_words() {
    let (address, _received) = collector("8");
    let (mut output, context) = grpc(&address);
    output.write(&frame(&context.registry, VALUES)).unwrap();
    assert_eq!(output.finish().unwrap(), Written { samples: 0, lost: 6 });
    let trouble = output.trouble().unwrap();
    assert!(trouble.contains("gRPC status 8: no room"), "{trouble}");
}

#[test]
fn a_server_that_speaks_no_grpc_costs_the_samples() {
    let server = Server::start(200);
    let (mut output, context) = grpc(&server.address);
    output.write(&frame(&context.registry, VALUES)).unwrap();
    assert_eq!(output.finish().unwrap().lost, 6);
    assert!(output.trouble().is_some());
}

#[test]
fn many_series_go_in_several_requests() {
    let context = context(&[]);
    let mut tally =
        Tally::new(&context.registry, |metric| Measured::Sink(Sink::empty(metric.kind)));
    let names: Vec<String> = (0..1000).map(|number| format!("{number:05}").repeat(1000)).collect();
    let tags: Vec<_> = names.iter().map(|name| [("name", &**name)]).collect();
    let values: Vec<Told<'_>> =
        tags.iter().map(|tags| (builtin::HTTP_REQS, &tags[..], 1.0)).collect();
    tally.absorb(&frame(&context.registry, &values).series);
    let resource = export::Resource { attributes: &[], prefix: "", start: 1, now: 2 };
    let requests = resource.requests(tally.rows());
    assert!(requests.len() > 1);
    assert_eq!(requests.iter().map(|request| request.series).sum::<u64>(), 1000);
    assert!(requests.iter().all(|request| request.body.len() < 3 * 1024 * 1024));
}
