//! One message there, one message back.

use bytes::Bytes;
use h2::client::ResponseFuture;

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
        let (response, mut stream) = match self.begin(call).await {
            Ok(begun) => begun,
            Err(status) => return Outcome::of(status),
        };
        // All at once, so that head and message are one write: `h2` keeps what the server has no room for. A server that
        // wants no more has answered, or will.
        let _ = stream.send_data(framed(message), true);
        let stream = response.stream_id().as_u32();
        let outcome = self.receive(response).await;
        Outcome { status: self.explain(stream, outcome.status), ..outcome }
    }

    async fn receive(&self, response: ResponseFuture) -> Outcome {
        let mut answer = match answer(response).await {
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
            match messages.next(&mut answer.body).await {
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
        let (mut status, trailers) = trailers(&mut answer.body).await;
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
