use std::net::UdpSocket;

use brunt_metrics::builtin;

use super::*;
use crate::testing::{PATIENCE, Server, context, frame, nobody, silent};

fn open(arg: &str, context: &Context) -> Influxdb {
    Influxdb::open(arg, context).unwrap()
}

#[test]
fn the_database_is_made_and_then_written_to() {
    let server = Server::start(204);
    let context = context(&[("K6_INFLUXDB_RETENTION", "rp 1")]);
    let arg = format!("http://u:p@{}/my-db?precision=ms&consistency=any", server.address);
    let mut output = open(&arg, &context);
    assert_eq!(output.description(), format!("InfluxDBv1 ({})", server.url()));
    let tags: &[_] = &[("url", "u"), ("status", "200"), ("group", "")];
    let frame = frame(
        &context.registry,
        &[
            (builtin::HTTP_REQS, tags, 1.0),
            (builtin::HTTP_REQ_DURATION, tags, 0.25),
            (builtin::HTTP_REQ_DURATION, tags, f64::INFINITY),
        ],
    );
    assert_eq!(output.write(&frame).unwrap(), Written { samples: 0, lost: 1 });
    assert_eq!(output.finish().unwrap(), Written { samples: 2, lost: 0 });
    assert_eq!(output.trouble(), None);
    let create = server.next();
    assert_eq!(create.line, "POST /query?db=&params=%7B%7D&q=CREATE+DATABASE+%22my-db%22");
    assert!(create.has("content-length: 0"));
    let write = server.next();
    assert_eq!(write.line, "POST /write?consistency=any&db=my-db&precision=ms&rp=rp+1");
    assert!(create.has("authorization: Basic dTpw") && write.has("authorization: Basic dTpw"));
    assert_eq!(
        write.text(),
        "http_reqs,status=200 url=\"u\",value=1 1795290311789\n\
         http_req_duration,status=200 url=\"u\",value=0.25 1795290311789\n"
    );
}

#[test]
fn a_token_writes_to_a_bucket() {
    let server = Server::start(204);
    let context = context(&[
        ("K6_INFLUXDB_TOKEN", "secret"),
        ("K6_INFLUXDB_ORGANIZATION", "org"),
        ("K6_INFLUXDB_BUCKET", "a&b"),
    ]);
    let mut output = open(&server.url(), &context);
    assert_eq!(output.description(), format!("InfluxDBv2 ({})", server.url()));
    let frame = frame(&context.registry, &[(builtin::VUS, &[], 3.0)]);
    output.write(&frame).unwrap();
    assert_eq!(output.finish().unwrap().samples, 1);
    let write = server.next();
    assert_eq!(write.line, "POST /api/v2/write?bucket=a%26b&org=org&precision=ns");
    assert!(write.has("authorization: Token secret"));
    assert_eq!(write.text(), "vus value=3 1795290311789548308\n");
}

#[test]
fn many_lines_go_in_several_bodies() {
    let server = Server::start(204);
    let context = context(&[]);
    let mut output = open(&format!("{}/db", server.url()), &context);
    let name = "n".repeat(10_000);
    let tags: &[_] = &[("name", &*name)];
    let frame = frame(&context.registry, &vec![(builtin::VUS, tags, 3.0); 250]);
    output.write(&frame).unwrap();
    assert_eq!(output.finish().unwrap(), Written { samples: 250, lost: 0 });
    server.next();
    let bodies: Vec<_> = (0..3).map(|_| server.next().body).collect();
    let lines = memchr::memchr_iter(b'\n', &bodies.concat()).count();
    assert_eq!(lines, 250);
    assert!(bodies.iter().all(|body| body.len() < BODY + 20_000));
}

#[test]
fn what_the_server_refuses_is_lost_and_counted_with_its_words() {
    let server = Server::start(500);
    let context = context(&[]);
    let mut output = open(&server.url(), &context);
    let frame = frame(&context.registry, &[(builtin::VUS, &[], 3.0)]);
    output.write(&frame).unwrap();
    assert_eq!(output.finish().unwrap(), Written { samples: 0, lost: 1 });
    let trouble = output.trouble().unwrap();
    assert!(trouble.contains("500") && trouble.ends_with("so."), "{trouble}");
}

#[test]
fn a_server_that_is_not_there_costs_the_samples_and_nothing_else() {
    let context = context(&[]);
    let mut output = open(&format!("http://{}", nobody()), &context);
    let frame = frame(&context.registry, &[(builtin::VUS, &[], 3.0)]);
    for _ in 0..3 {
        output.write(&frame).unwrap();
        output.flush().unwrap();
    }
    assert_eq!(output.finish().unwrap(), Written { samples: 0, lost: 3 });
    assert!(output.trouble().unwrap().contains("could not connect to 127.0.0.1"));
}

#[test]
fn a_server_that_never_answers_fills_a_bounded_queue() {
    let (_listener, address) = silent();
    let context = context(&[]);
    let mut output = open(&format!("http://{address}"), &context);
    let frame = frame(&context.registry, &[(builtin::VUS, &[], 3.0)]);
    let pushes = BODIES_WAITING + 50;
    for _ in 0..pushes {
        output.write(&frame).unwrap();
        // Never waits.
        output.flush().unwrap();
    }
    // Samples that have no room are not even made into lines.
    output.write(&frame).unwrap();
    assert!(output.buffer.is_empty());
    let Way::Http { sender: Some(sender), .. } = &output.way else { panic!("it goes by HTTP") };
    // The first request is on its way for ever, so the queue stays full.
    assert_eq!(sender.lost(), 51);
}

#[test]
fn datagrams_hold_whole_lines() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let context = context(&[]);
    let address = receiver.local_addr().unwrap();
    let mut output = open(&format!("udp://{address}?payload_size=80"), &context);
    assert_eq!(output.description(), format!("InfluxDBv1 (udp://{address})"));
    let frame = frame(&context.registry, &[(builtin::VUS, &[] as &[_], 3.0); 5]);
    output.write(&frame).unwrap();
    assert_eq!(output.finish().unwrap(), Written { samples: 5, lost: 0 });
    let mut buffer = [0; 1000];
    let sizes = [2, 2, 1].map(|lines| {
        let size = receiver.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..size], "vus value=3 1795290311789548308\n".repeat(lines).as_bytes());
        size
    });
    assert!(sizes.iter().all(|size| *size <= 80));
}
