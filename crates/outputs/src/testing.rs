//! Tools for tests of several outputs: a server that remembers its requests, and messages read back.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use brunt_metrics::{Frame, Metadata, MetricId, Recorder, Registry, TagSet};
use bytes::Bytes;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame as BodyFrame;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::output::Context;

/// How long a test waits for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The requests to a server.
#[derive(Debug)]
pub(crate) struct Received {
    /// `POST /write?db=k6`
    pub(crate) line: String,
    /// In lower case, `name: value`.
    pub(crate) headers: Vec<String>,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|line| line == header)
    }
}

/// A server on loopback that answers everything with one status.
pub(crate) struct Server {
    pub(crate) address: String,
    received: Receiver<Received>,
}

impl Server {
    pub(crate) fn start(status: u16) -> Self {
        Self::start_with(status, |stream| stream)
    }

    /// Behind TLS, with this certificate and key.
    pub(crate) fn start_tls(config: rustls::ServerConfig) -> Self {
        let config = Arc::new(config);
        Self::start_with(204, move |stream| {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            rustls::StreamOwned::new(connection, stream)
        })
    }

    fn start_with<S: Read + Write>(
        status: u16,
        wrap: impl Fn(TcpStream) -> S + Clone + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, received) = sync_channel(1000);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, sender, wrap) = (stream.unwrap(), sender.clone(), wrap.clone());
                thread::spawn(move || {
                    let mut reader = BufReader::new(wrap(stream));
                    while let Some(request) = read(&mut reader) {
                        // The test may have seen enough.
                        let _ = sender.send(request);
                        let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 3\r\n\r\nso.");
                        if reader.get_mut().write_all(answer.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { address, received }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next request.
    pub(crate) fn next(&self) -> Received {
        self.received.recv_timeout(PATIENCE).expect("a request")
    }
}

fn read(reader: &mut BufReader<impl Read>) -> Option<Received> {
    let mut next = || {
        let mut line = String::new();
        let read = reader.read_line(&mut line).ok().filter(|read| *read > 0);
        read.map(|_| line.trim_end().to_owned())
    };
    let line = next()?.replace(" HTTP/1.1", "");
    let mut headers = Vec::new();
    loop {
        let line = next()?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ")?;
        headers.push(format!("{}: {value}", name.to_lowercase()));
    }
    let length = headers.iter().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Received { line, headers, body })
}

/// A listener that accepts and never answers.
pub(crate) fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// A collector that speaks gRPC and answers with one status.
pub(crate) fn collector(status: &'static str) -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, received) = sync_channel(100);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let sender = sender.clone();
                let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                    let sender = sender.clone();
                    async move {
                        assert_eq!(request.headers()["content-type"], "application/grpc");
                        let path = request.uri().path().to_owned();
                        let body = request.into_body().collect().await.unwrap().to_bytes();
                        let _ = sender.send((path, body.to_vec()));
                        let mut trailers = http::HeaderMap::new();
                        trailers.insert("grpc-status", status.parse().unwrap());
                        trailers.insert("grpc-message", "no room".parse().unwrap());
                        let frames = [
                            Ok::<_, hyper::Error>(BodyFrame::data(Bytes::from_static(&[0; 5]))),
                            Ok(BodyFrame::trailers(trailers)),
                        ];
                        let body = StreamBody::new(futures_util::stream::iter(frames));
                        Ok::<_, hyper::Error>(http::Response::new(body))
                    }
                });
                tokio::spawn(
                    hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), service),
                );
            }
        });
    });
    (address, received)
}

/// The URL of a port without a listener.
pub(crate) fn nobody() -> String {
    let (listener, address) = silent();
    drop(listener);
    address
}

pub(crate) fn context(env: &[(&str, &str)]) -> Context {
    let mut context = Context::new(Arc::new(Registry::new()));
    context.env = env.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    context
}

/// A value, told with its tags.
pub(crate) type Told<'a> = (MetricId, &'a [(&'a str, &'a str)], f64);

/// A frame with these values.
pub(crate) fn frame(registry: &Arc<Registry>, values: &[Told<'_>]) -> Frame {
    let mut recorder = Recorder::new(Arc::clone(registry), 0, true);
    for (metric, tags, value) in values {
        let tags = recorder.tags(&TagSet::from_pairs(tags.iter().copied()));
        let series = recorder.series(*metric, tags);
        recorder.add(series, *value, 1_795_290_311_789_548_308, None::<&Metadata>);
    }
    recorder.take_frame()
}

/// A field of a protobuf message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field {
    Number(u64),
    Fixed(u64),
    Bytes(Vec<u8>),
}

impl Field {
    pub(crate) fn double(&self) -> f64 {
        match self {
            Self::Fixed(bits) => f64::from_bits(*bits),
            other => panic!("no double: {other:?}"),
        }
    }

    pub(crate) fn number(&self) -> u64 {
        match self {
            Self::Number(number) | Self::Fixed(number) => *number,
            Self::Bytes(_) => panic!("no number: {self:?}"),
        }
    }

    pub(crate) fn message(&self) -> Vec<(u64, Field)> {
        let Self::Bytes(bytes) = self else { panic!("no message: {self:?}") };
        fields(bytes)
    }

    pub(crate) fn text(&self) -> String {
        let Self::Bytes(bytes) = self else { panic!("no text: {self:?}") };
        String::from_utf8(bytes.clone()).unwrap()
    }
}

/// Reads a message back, without our writer's help.
pub(crate) fn fields(mut bytes: &[u8]) -> Vec<(u64, Field)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (first, rest) = bytes.split_first().expect("a whole number");
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return value;
            }
            shift += 7;
        }
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (number, rest) = bytes.split_first_chunk::<8>().expect("eight bytes");
                bytes = rest;
                Field::Fixed(u64::from_le_bytes(*number))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (content, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(content.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        found.push((key >> 3, field));
    }
    found
}

/// All fields of that number.
pub(crate) fn all(message: &[(u64, Field)], number: u64) -> Vec<Field> {
    message.iter().filter(|(n, _)| *n == number).map(|(_, field)| field.clone()).collect()
}

/// The one field of that number.
pub(crate) fn one(message: &[(u64, Field)], number: u64) -> Field {
    let mut found = all(message, number);
    assert_eq!(found.len(), 1, "field {number} of {message:?}");
    found.remove(0)
}
