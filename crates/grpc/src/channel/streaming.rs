//! Many messages, either way.

use std::rc::Rc;

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{RecvStream, SendStream};

use super::framing::{Messages, framed, send};
use super::{Call, Channel, answer, trailers};
use crate::status::Status;

/// A call whose messages come and go one by one. To drop the receiver is to cancel the call.
pub struct Streaming {
    /// For our messages.
    pub sender: Sender,
    /// For those of the server.
    pub receiver: Receiver,
}

/// Sends messages.
pub struct Sender {
    channel: Rc<Channel>,
    stream: SendStream<Bytes>,
}

/// Receives messages, and the status at the end.
pub struct Receiver {
    channel: Rc<Channel>,
    state: State,
    limit: usize,
    /// Its number on the connection.
    stream: u32,
}

enum State {
    Waiting(ResponseFuture),
    Open(Messages, RecvStream),
    Over,
}

impl Channel {
    /// Begins a call.
    ///
    /// # Errors
    /// If the connection is over, or the call can't be put into a request.
    pub async fn stream(self: &Rc<Self>, call: &Call<'_>) -> Result<Streaming, Status> {
        let (response, stream) = self.begin(call).await?;
        Ok(Streaming {
            sender: Sender { channel: Rc::clone(self), stream },
            receiver: Receiver {
                channel: Rc::clone(self),
                stream: response.stream_id().as_u32(),
                state: State::Waiting(response),
                limit: self.limits.receive,
            },
        })
    }
}

impl Sender {
    /// Sends a message, as soon as the server makes room. `false`: it wants no more; the receiver tells why.
    ///
    /// # Errors
    /// If the message is too large.
    pub async fn send(&mut self, message: &[u8]) -> Result<bool, Status> {
        self.channel.check_size(message.len())?;
        send(framed(message), false, &mut self.stream).await
    }

    /// Says that no more messages follow.
    pub fn finish(&mut self) {
        // A stream that is over takes no end.
        let _ = self.stream.send_data(Bytes::new(), true);
    }

    /// Ends the call in the middle.
    pub fn cancel(&mut self) {
        self.stream.send_reset(h2::Reason::CANCEL);
    }
}

impl Receiver {
    /// The next message. An error is the end: the status, which may be a good one.
    ///
    /// # Errors
    /// At the end.
    pub async fn next(&mut self) -> Result<Bytes, Status> {
        loop {
            // Taken out, so that a future that is dropped in the middle leaves nothing half done behind.
            match &mut self.state {
                State::Waiting(response) => match answer(response).await {
                    Ok(answer) => {
                        let messages = Messages::new(self.limit, answer.coding);
                        self.state = State::Open(messages, answer.body);
                    }
                    Err(outcome) => return self.end(outcome.status),
                },
                State::Open(messages, body) => {
                    let status = match messages.next(body).await {
                        Ok(Some(message)) => return Ok(message),
                        Ok(None) => trailers(body).await.0,
                        Err(status) => status,
                    };
                    return self.end(status);
                }
                State::Over => {
                    return Err(Status::new(Status::INTERNAL, "the stream is over"));
                }
            }
        }
    }

    fn end(&mut self, status: Status) -> Result<Bytes, Status> {
        self.state = State::Over;
        Err(self.channel.explain(self.stream, status))
    }
}
