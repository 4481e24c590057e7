//! One message there, one message back.

use std::future::poll_fn;
use std::pin::pin;

use brunt_http::http2::Duplex;
use bytes::Bytes;

use super::framing::{Messages, framed};
use super::{Call, Channel, Outcome, answer, trailers};
use crate::metadata::shown;
use crate::status::Status;

impl Channel {
    /// Calls a method and waits for the outcome. A failure is an outcome, too.
    ///
    /// There is no limit of time but the server's: set one around it. To drop the future is to cancel the call.
    pub async fn unary(&self, call: &Call<'_>, message: &[u8]) -> Outcome {
        if let Err(status) = self.check_size(message.len()) {
            return Outcome::of(status);
        }
        let stream = match self.begin(call).await {
            Ok(stream) => stream,
            Err(status) => return Outcome::of(status),
        };
        // Head and message are one write. A server that wants no more has answered, or will.
        let message = framed(message);
        let mut is_sent = false;
        let mut sending = pin!(stream.send(&message, true));
        let mut receiving = pin!(self.receive(&stream));
        poll_fn(|cx| {
            is_sent = is_sent || sending.as_mut().poll(cx).is_ready();
            receiving.as_mut().poll(cx)
        })
        .await
    }

    async fn receive(&self, stream: &Duplex) -> Outcome {
        let answer = match answer(stream).await {
            Ok(answer) => answer,
            Err(outcome) if outcome.status.is_ok() => {
                return Outcome { status: no_message(), ..*outcome };
            }
            Err(outcome) => return *outcome,
        };
        let headers = shown(&answer.headers);
        let mut messages = Messages::new(self.limits.receive, answer.coding);
        let mut first: Option<Bytes> = None;
        loop {
            match messages.next(stream).await {
                Ok(Some(message)) if first.is_none() => first = Some(message),
                Ok(Some(_)) => {
                    let told = "cardinality violation: expected <EOF> for non server-streaming RPCs, but received \
                                another message";
                    let status = Status::new(Status::INTERNAL, told);
                    return Outcome { status, message: first, headers, trailers: Vec::new() };
                }
                Ok(None) => break,
                Err(status) => {
                    return Outcome { status, message: first, headers, trailers: Vec::new() };
                }
            }
        }
        let (mut status, trailers) = trailers(stream);
        if status.is_ok() && first.is_none() {
            status = no_message();
        }
        Outcome { status, message: first, headers, trailers }
    }
}

fn no_message() -> Status {
    let told = "cardinality violation: received no response message from non-server-streaming RPC";
    Status::new(Status::INTERNAL, told)
}
