//! A connection that leaves HTTP: the request asks for another protocol, and the answer is "101 Switching Protocols".

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::ready;

use brunt_net::{Offer, Opened};

use crate::client::Client;
use crate::dial::Way;
use crate::exchange::{Answer, Exchange, Fate, Recording};
use crate::failure::Failure;
use crate::http1::encode::{self, encode};
use crate::http1::parser::Parser;
use crate::request::Request;

/// So much of an answer's body is kept if the server stays with HTTP; what follows is not waited for.
const REFUSAL_MAX: u64 = 1024;

impl Client {
    /// Sends a request without a body on a connection of its own, HTTP/1.1, and gives the connection away if the answer
    /// is 101. HTTP proxies are asked for a tunnel.
    ///
    /// Any other answer is a whole exchange too, with at most 1 KiB of its body; the connection is closed then.
    pub async fn upgrade(self: &Rc<Self>, request: &Request<'_>) -> (Exchange, Option<Opened>) {
        let network = self.network();
        let answer = Answer::new(Fate::Begin, REFUSAL_MAX);
        let mut recording = Recording::start(network.net.clock, self.meter(), answer);
        let result = {
            let run = pin!(self.ask(request, &mut recording));
            match request.deadline {
                None => run.await,
                Some(deadline) => {
                    let deadline = network.net.anchor.instant(deadline);
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
    ) -> Result<Option<Opened>, Failure> {
        request.check()?;
        let network = &**self.network();
        let endpoint = request.target.endpoint();
        let proxy = network.proxy(&endpoint);
        let dialer = self.dialer();
        // The protocol of upgrades is HTTP/1.1: nothing else is offered.
        let way = Way { network, dialer, proxy, tunnels: true, offer: Offer::Http1 };
        let connection = way.dial(&endpoint, recording).await?;
        recording.tls = connection.tls_info;
        recording.acquired(false);
        let mut head = Vec::new();
        encode(request, encode::Way::default(), &mut head);
        let mut stream = Opened::of(connection, Rc::clone(dialer));
        let mut at = 0;
        poll_fn(|cx| {
            while at < head.len() {
                at += ready!(stream.poll_send(cx, &head[at..]))?;
            }
            stream.poll_send_rest(cx)
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
                return Ok(Some(stream.after(early)));
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
