//! The two hot steps without a socket: a request's head written, a response's head read.

use brunt_http::http1::Parser;
use brunt_http::{Headers, Request, Target};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

#[divan::bench]
fn parse_a_target(bencher: Bencher<'_, '_>) {
    bencher.bench(|| Target::parse(black_box("http://127.0.0.1:8080/path/to?x=1")).is_ok());
}

#[divan::bench]
fn encode_a_request_head(bencher: Bencher<'_, '_>) {
    let target = Target::parse("http://127.0.0.1:8080/path/to?x=1").expect("it is a URL");
    let mut headers = Headers::new();
    headers.append("User-Agent", "brunt").expect("it is valid");
    headers.append("X-Id", "17").expect("it is valid");
    let request = Request::new("GET", &target, &headers);
    let mut out = Vec::with_capacity(1024);
    bencher.bench_local(|| {
        out.clear();
        brunt_http::http1::encode_head(black_box(&request), &mut out);
        out.len()
    });
}

#[divan::bench]
fn parse_a_response_head(bencher: Bencher<'_, '_>) {
    let response =
        b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 21:21:21 GMT\r\n\
        Content-Type: text/plain\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok";
    bencher.bench(|| {
        let mut parser = Parser::new(false, 1 << 20);
        let mut input = black_box(&response[..]);
        let mut events = 0;
        while !parser.is_done() {
            parser.next(&mut input).expect("it is valid");
            events += 1;
        }
        events
    });
}
