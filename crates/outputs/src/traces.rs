//! `--traces-output`: spans of iterations and requests, by OTLP over gRPC or HTTP.
//!
//! Load cores hand spans to a bounded queue and never wait; a thread makes messages of them, a second one
//! sends those. Spans that find no room are dropped and counted.

mod message;
mod target;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bytes::Bytes;

pub use self::target::TraceTarget;
use crate::net::{Answer, Endpoint, Post, Protocol, Sender, Sending, tls::Tls};
use crate::opentelemetry::{framed, grpc_success};
use crate::priority::stand_back;

/// Spans that may wait for their message.
const SPANS_WAITING: usize = 8192;

/// Spans in a message.
const SPANS_AT_ONCE: usize = 512;

/// How long a span waits for others.
const INTERVAL: Duration = Duration::from_secs(1);

/// Messages that may wait for the collector.
const MESSAGES_WAITING: usize = 64;

/// The call of gRPC.
const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// Something that took time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// All spans of an iteration have the same.
    pub trace: u128,
    /// Its own number.
    pub id: u64,
    /// The span it is a part of; 0 for none.
    pub parent: u64,
    /// Its name.
    pub name: String,
    /// It asks a server.
    pub is_client: bool,
    /// Nanoseconds since the Unix epoch.
    pub start: u64,
    /// Likewise.
    pub end: u64,
    /// Its attributes.
    pub attributes: Vec<(&'static str, SpanValue)>,
    /// Its failure, if it has one.
    pub error: Option<String>,
}

/// The value of a span's attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanValue {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
}

/// Sends spans.
#[derive(Debug)]
pub struct Traces {
    /// None says that there will be no more.
    spans: SyncSender<Option<Span>>,
    dropped: AtomicU64,
}

/// The end of a [`Traces`].
#[derive(Debug)]
pub struct TracesEnd {
    spans: SyncSender<Option<Span>>,
    thread: JoinHandle<Told>,
}

#[derive(Debug, Default)]
struct Told {
    lost: u64,
    trouble: Option<String>,
}

impl Traces {
    /// Starts to send to this collector, which is not asked before there are spans.
    ///
    /// # Errors
    /// The system gives no thread, or the certificates of the system can't be read.
    pub fn start(target: &TraceTarget) -> Result<(Self, TracesEnd), String> {
        let tls = || Tls { http2: target.is_grpc, ..Tls::default() }.config();
        let mut endpoint = Endpoint::at(&target.url, tls)?;
        endpoint.timeout = Duration::from_secs(10);
        endpoint.protocol = if target.is_grpc { Protocol::Two } else { Protocol::One };
        let sender = Sender::start(Sending {
            output: "traces".to_owned(),
            failure: "failed to upload traces",
            endpoint,
            at_once: 1,
            waiting: MESSAGES_WAITING,
            first: None,
            judge: if target.is_grpc { grpc_success } else { Answer::is_success },
        })
        .map_err(|error| error.to_string())?;
        let (spans, received) = sync_channel(SPANS_WAITING);
        let target = target.clone();
        let thread = thread::Builder::new()
            .name("traces".to_owned())
            .spawn(move || {
                stand_back();
                gather(&target, &received, sender)
            })
            .map_err(|error| error.to_string())?;
        let end = TracesEnd { spans: spans.clone(), thread };
        Ok((Self { spans, dropped: AtomicU64::new(0) }, end))
    }

    /// Takes a span if there is room.
    pub fn offer(&self, span: Span) {
        if self.spans.try_send(Some(span)).is_err() && self.dropped.fetch_add(1, Relaxed) == 0 {
            log::warn!(output = "traces"; "The collector is too slow; some spans are lost");
        }
    }

    /// How many spans found no room.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }
}

impl TracesEnd {
    /// Waits until all spans so far are sent, ten seconds at most; later ones are ignored. Gives the number of those
    /// that did not arrive, and why.
    pub fn wait(self) -> (u64, Option<String>) {
        // If its thread is gone, joining tells.
        let _ = self.spans.send(None);
        let told = self
            .thread
            .join()
            .unwrap_or_else(|_| Told { lost: 0, trouble: Some("its thread panicked".to_owned()) });
        (told.lost, told.trouble)
    }
}

/// The life of the thread that makes messages.
fn gather(target: &TraceTarget, spans: &Receiver<Option<Span>>, sender: Sender) -> Told {
    let mut held = Vec::new();
    let mut due = Instant::now() + INTERVAL;
    loop {
        let span = spans.recv_timeout(due.saturating_duration_since(Instant::now()));
        let is_over = matches!(span, Ok(None) | Err(RecvTimeoutError::Disconnected));
        if let Ok(Some(span)) = span {
            if held.is_empty() {
                due = Instant::now() + INTERVAL;
            }
            held.push(span);
        }
        let is_due = held.len() >= SPANS_AT_ONCE || is_over || Instant::now() >= due;
        if is_due && !held.is_empty() {
            let count = held.len() as u64;
            sender.offer(target.post(message::request(held.drain(..), &target.resource)), count);
        }
        if is_over {
            let sent = sender.finish();
            return Told { lost: sent.lost, trouble: sent.trouble };
        }
        if held.is_empty() {
            due = Instant::now() + INTERVAL;
        }
    }
}

impl TraceTarget {
    fn post(&self, message: Vec<u8>) -> Post {
        let post = if self.is_grpc {
            Post::new(EXPORT, framed(&message))
                .header("Content-Type", "application/grpc")
                .header("TE", "trailers")
        } else {
            Post::new(self.url.path(), Bytes::from(message))
                .header("Content-Type", "application/x-protobuf")
        };
        let post = post.header("User-Agent", "brunt");
        self.headers.iter().fold(post, |post, (name, value)| post.header(name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{PATIENCE, Server, all, collector, fields, nobody, one};

    fn span(id: u64, parent: u64) -> Span {
        Span {
            trace: 7,
            id,
            parent,
            name: "GET".into(),
            is_client: parent != 0,
            start: 1,
            end: 3,
            attributes: vec![
                ("http.request.method", SpanValue::Text("GET".into())),
                ("http.response.status_code", SpanValue::Number(200)),
            ],
            error: (parent != 0).then(|| "refused".into()),
        }
    }

    #[test]
    fn all_spans_arrive_as_otlp_over_http() {
        let server = Server::start(200);
        let words = format!("otel={},proto=http,header.X-A=b=c", server.url());
        let target = TraceTarget::parse(&words).unwrap().unwrap();
        let (traces, end) = Traces::start(&target).unwrap();
        traces.offer(span(1, 0));
        traces.offer(span(2, 1));
        assert_eq!(traces.dropped(), 0);
        assert_eq!(end.wait(), (0, None));
        let request = server.next();
        assert_eq!(request.line, "POST /v1/traces");
        assert!(request.has("x-a: b=c") && request.has("content-type: application/x-protobuf"));
        let resource = one(&fields(&request.body), 1).message();
        let name = one(&resource, 1).message();
        assert_eq!(one(&all(&name, 1)[0].message(), 1).text(), "service.name");
        let spans = all(&one(&resource, 2).message(), 2);
        let (first, second) = (spans[0].message(), spans[1].message());
        assert_eq!(one(&first, 1), one(&second, 1));
        assert!(all(&first, 4).is_empty(), "a root has no parent");
        assert_eq!(one(&second, 4), one(&first, 2));
        assert_eq!((one(&first, 6).number(), one(&second, 6).number()), (1, 3));
        assert_eq!((one(&first, 7).number(), one(&first, 8).number()), (1, 3));
        let status = all(&first, 9)[1].message();
        assert_eq!(one(&one(&status, 2).message(), 3).number(), 200);
        assert!(all(&first, 15).is_empty());
        assert_eq!(one(&one(&second, 15).message(), 2).text(), "refused");
    }

    #[test]
    fn grpc_carries_the_same() {
        let (address, received) = collector("0");
        let target = TraceTarget::parse(&format!("otel=http://{address}")).unwrap().unwrap();
        let target = target.with_resource("agent", "2");
        let (traces, end) = Traces::start(&target).unwrap();
        traces.offer(span(1, 0));
        assert_eq!(end.wait(), (0, None));
        let (path, body) = received.recv_timeout(PATIENCE).unwrap();
        assert_eq!(path, EXPORT);
        let agent = [("agent".to_owned(), "2".to_owned())];
        assert_eq!(body[5..], message::request([span(1, 0)], &agent));
        let resource = one(&one(&fields(&body[5..]), 1).message(), 1).message();
        let last = all(&resource, 1)[2].message();
        assert_eq!(
            (one(&last, 1).text(), one(&one(&last, 2).message(), 1).text()),
            ("agent".to_owned(), "2".to_owned())
        );
    }

    #[test]
    fn a_refusal_loses_the_spans_and_says_why() {
        let (address, _received) = collector("8");
        let target = TraceTarget::parse(&format!("otel=http://{address}")).unwrap().unwrap();
        let (traces, end) = Traces::start(&target).unwrap();
        traces.offer(span(1, 0));
        let (lost, trouble) = end.wait();
        assert_eq!(lost, 1);
        assert!(trouble.unwrap().contains("gRPC status 8: no room"));
    }

    #[test]
    fn a_collector_that_is_not_there_costs_the_spans_alone() {
        let target = TraceTarget::parse(&format!("otel=http://{}", nobody())).unwrap().unwrap();
        let (traces, end) = Traces::start(&target).unwrap();
        traces.offer(span(1, 0));
        let (lost, trouble) = end.wait();
        assert_eq!(lost, 1);
        assert!(trouble.unwrap().contains("could not connect"));
    }
}
