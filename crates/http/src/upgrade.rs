//! A connection that leaves HTTP: the request asks for another protocol, and the answer is "101 Switching Protocols".

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::client::ClientConfig;

use crate::client::Client;
use crate::connection::Received;
use crate::counted::Counted;
use crate::dial::Dialer;
use crate::exchange::{Answer, Exchange, Fate, Recording};
use crate::failure::Failure;
use crate::http1::encode::{Way, encode};
use crate::http1::parser::Parser;
use crate::request::Request;

/// So much of an answer's body is kept if the server stays with HTTP; what follows is not waited for.
const REFUSAL_MAX: u64 = 1024;

/// A connection that speaks something else from now on. Bytes in, bytes out; TLS, if there is any, is inside. What
/// goes over it counts as the client's.
#[derive(Debug)]
pub struct Upgraded {
    counted: Counted,
    /// What came right behind the answer.
    early: Vec<u8>,
}

impl Client {
    /// Sends a request without a body on a connection of its own, HTTP/1.1, and gives the connection away if the answer
    /// is 101. HTTP proxies are asked for a tunnel.
    ///
    /// Any other answer is a whole exchange too, with at most 1 KiB of its body; the connection is closed then.
    pub async fn upgrade(self: &Rc<Self>, request: &Request<'_>) -> (Exchange, Option<Upgraded>) {
        let network = self.network();
        let answer = Answer::new(Fate::Begin, REFUSAL_MAX);
        let mut recording = Recording::start(network.clock, self.meter(), answer);
        let result = {
            let run = pin!(self.ask(request, &mut recording));
            match request.deadline {
                None => run.await,
                Some(deadline) => {
                    let deadline = network.anchor.instant(deadline);
                    let ended = tokio::time::timeout_at(deadline, run).await;
                    ended.unwrap_or(Err(Failure::Timeout))
                }
            }
        };
        match result {
            Ok(upgraded) => (recording.finish(None), upgraded),
            Err(failure) => (recording.finish(Some(failure)), None),
        }
    }

    async fn ask(
        self: &Rc<Self>,
        request: &Request<'_>,
        recording: &mut Recording<'_>,
    ) -> Result<Option<Upgraded>, Failure> {
        request.check()?;
        let network = &**self.network();
        let is_local = network.settings.dialing.unix_socket.is_some();
        let proxy = if is_local { None } else { network.settings.proxies.find(request.target) };
        let dialer = Dialer { network, local_ip: self.local_ip(), proxy, tunnels: true };
        let own = |config| without_http2(self.own_tls(config));
        let connection = dialer.dial(request.target, own, recording).await?;
        recording.tls = connection.tls_info;
        recording.acquired(false);
        let counted = Counted::new(connection, Rc::clone(self));
        let mut stream = Upgraded { counted, early: Vec::new() };
        let mut head = Vec::new();
        encode(request, Way::default(), &mut head);
        let mut at = 0;
        poll_fn(|cx| {
            while at < head.len() {
                at += ready!(stream.poll_write(cx, &head[at..]))?;
            }
            stream.poll_flush(cx)
        })
        .await?;
        recording.written();
        let mut parser = Parser::new(false, network.settings.head_limit);
        let mut early = Vec::new();
        loop {
            let mut fed = Ok(false);
            let received = poll_fn(|cx| {
                stream.poll_receive(cx, |mut bytes| {
                    recording.answered();
                    if matches!(fed, Ok(false)) {
                        fed = recording.answer.feed(&mut parser, &mut bytes, None, None);
                    }
                    early.extend_from_slice(bytes);
                })
            })
            .await?;
            let is_whole = fed?;
            if recording.answer.status() == 101 && is_whole {
                stream.early = early;
                return Ok(Some(stream));
            }
            if is_whole || recording.answer.body_size() >= REFUSAL_MAX {
                return Ok(None);
            }
            early.clear();
            if !received {
                parser.end()?;
                return Ok(None);
            }
        }
    }
}

/// The protocol of upgrades is HTTP/1.1: nothing else is offered.
pub(crate) fn without_http2(config: Arc<ClientConfig>) -> Arc<ClientConfig> {
    if !config.alpn_protocols.iter().any(|name| name == b"h2") {
        return config;
    }
    let mut config = ClientConfig::clone(&config);
    config.alpn_protocols.retain(|name| name != b"h2");
    Arc::new(config)
}

impl Upgraded {
    /// The address at the other end.
    pub fn remote(&self) -> SocketAddr {
        self.counted.connection.remote
    }

    /// Reads once and gives `sink` what came, in plaintext: perhaps nothing, perhaps in several pieces. `false`: no more
    /// comes.
    ///
    /// # Errors
    /// Why the connection is of no more use.
    pub fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        mut sink: impl FnMut(&[u8]),
    ) -> Poll<Result<bool, Failure>> {
        if !self.early.is_empty() {
            sink(&std::mem::take(&mut self.early));
            return Poll::Ready(Ok(true));
        }
        let received = ready!(self.counted.poll_receive(cx, sink))?;
        Poll::Ready(Ok(received != Received::End))
    }

    /// Writes once: says how many of the bytes were taken. What was taken may still have to be flushed.
    ///
    /// # Errors
    /// Why the connection is of no more use.
    pub fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize, Failure>> {
        self.counted.poll_write(cx, bytes)
    }

    /// Writes what is left of the last bytes.
    ///
    /// # Errors
    /// Why the connection is of no more use.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.counted.poll_flush(cx)
    }

    /// Closes it in good order, as far as that needs no waiting.
    pub fn close(self) {
        self.counted.close();
    }
}
