use std::net::UdpSocket;

use brunt_metrics::builtin;

use super::*;
use crate::testing::{PATIENCE, Told, context, frame};

fn receiver() -> (UdpSocket, String) {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let address = receiver.local_addr().unwrap().to_string();
    (receiver, address)
}

fn next(receiver: &UdpSocket) -> String {
    let mut buffer = [0; 2000];
    let size = receiver.recv(&mut buffer).unwrap();
    String::from_utf8(buffer[..size].to_vec()).unwrap()
}

const VALUES: &[Told<'_>] = &[
    (builtin::HTTP_REQS, &[("status", "200"), ("url", "u"), ("group", "")], 1.0),
    (builtin::HTTP_REQ_DURATION, &[("name", "a,b:c|d")], 12.5),
    (builtin::HTTP_REQ_FAILED, &[], 1.0),
    (builtin::CHECKS, &[("check", "is: 200")], 1.0),
    (builtin::CHECKS, &[("check", "is: 200")], 0.0),
    (builtin::VUS, &[], 7.5),
    (builtin::VUS, &[], f64::INFINITY),
];

#[test]
fn each_sample_is_a_line_of_its_kind() {
    let (receiver, address) = receiver();
    let context = context(&[("K6_STATSD_ADDR", &address)]);
    let mut output = Statsd::open(&context).unwrap();
    assert_eq!(output.description(), format!("statsd ({address})"));
    let written = output.write(&frame(&context.registry, VALUES)).unwrap();
    assert_eq!(written, Written { samples: 0, lost: 1 });
    assert_eq!(output.finish().unwrap(), Written { samples: 6, lost: 0 });
    assert_eq!(
        next(&receiver),
        "k6.http_reqs:1|c\nk6.http_req_duration:12.500000|ms\nk6.http_req_failed:1|c\n\
         k6.check.is_ 200.pass:1|c\nk6.check.is_ 200.fail:1|c\nk6.vus:7.5|g\n"
    );
}

#[test]
fn tags_are_those_of_datadog_but_for_the_blocked_ones() {
    let (receiver, address) = receiver();
    let context = context(&[
        ("K6_STATSD_ADDR", &address),
        ("K6_STATSD_ENABLE_TAGS", "true"),
        ("K6_STATSD_NAMESPACE", "my.app."),
        ("K6_STATSD_BUFFER_SIZE", "1"),
    ]);
    let mut output = Statsd::open(&context).unwrap();
    output.write(&frame(&context.registry, &VALUES[..2])).unwrap();
    assert_eq!(next(&receiver), "my.app.http_reqs:1|c|#status:200\n");
    assert_eq!(next(&receiver), "my.app.http_req_duration:12.500000|ms|#name:a_b:c_d\n");
    let instance = Some(("agent".to_owned(), "2".to_owned()));
    let context = Context { instance, ..context };
    let mut output = Statsd::open(&context).unwrap();
    output.write(&frame(&context.registry, &VALUES[..1])).unwrap();
    assert_eq!(next(&receiver), "my.app.http_reqs:1|c|#status:200,agent:2\n");
}

#[test]
fn a_datagram_fits_a_frame() {
    let (receiver, address) = receiver();
    let context = context(&[("K6_STATSD_ADDR", &address), ("K6_STATSD_BUFFER_SIZE", "1000")]);
    let mut output = Statsd::open(&context).unwrap();
    output.write(&frame(&context.registry, &vec![VALUES[0]; 200])).unwrap();
    assert_eq!(output.finish().unwrap().samples, 200);
    let first = next(&receiver);
    assert!(first.len() <= DATAGRAM && first.len() > DATAGRAM - 20, "{}", first.len());
    assert!(first.ends_with('\n'));
}

#[test]
fn an_address_that_is_none_is_named() {
    let said = Statsd::open(&context(&[("K6_STATSD_ADDR", "nowhere")])).err().unwrap().to_string();
    assert!(said.starts_with("could not create the 'statsd' output: K6_STATSD_ADDR"), "{said}");
}
