//! Many messages, either way.

use std::rc::Rc;

use brunt_http::http2::Duplex;
use bytes::Bytes;

use super::framing::{Messages, framed};
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
    stream: Rc<Duplex>,
}

/// Receives messages, and the status at the end.
pub struct Receiver {
    stream: Rc<Duplex>,
    state: State,
    limit: usize,
}

enum State {
    Waiting,
    Open(Messages),
    Over,
}

impl Channel {
    /// Begins a call.
    ///
    /// # Errors
    /// If the connection is over, or the call can't be put into a request.
    pub async fn stream(self: &Rc<Self>, call: &Call<'_>) -> Result<Streaming, Status> {
        let stream = Rc::new(self.begin(call).await?);
        stream.flush();
        Ok(Streaming {
            sender: Sender { channel: Rc::clone(self), stream: Rc::clone(&stream) },
            receiver: Receiver { stream, state: State::Waiting, limit: self.limits.receive },
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
        Ok(self.stream.send(&framed(message), false).await)
    }

    /// Says that no more messages follow.
    pub fn finish(&mut self) {
        self.stream.finish();
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stream.cancel();
    }
}

impl Receiver {
    /// The next message. An error is the end: the status, which may be a good one.
    ///
    /// # Errors
    /// At the end.
    pub async fn next(&mut self) -> Result<Bytes, Status> {
        loop {
            match &mut self.state {
                State::Waiting => match answer(&self.stream).await {
                    Ok(answer) => {
                        self.state = State::Open(Messages::new(self.limit, answer.coding));
                    }
                    Err(outcome) => return self.end(outcome.status),
                },
                State::Open(messages) => {
                    let status = match messages.next(&self.stream).await {
                        Ok(Some(message)) => return Ok(message),
                        Ok(None) => trailers(&self.stream).0,
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
        Err(status)
    }
}
