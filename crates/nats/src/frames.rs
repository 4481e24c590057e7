//! Frames: messages that must arrive, each once, in the end.

use std::pin::Pin;

use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use async_nats::jetstream::consumer::{DeliverPolicy, ReplayPolicy};
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::error::told;
use crate::{BrokerError, Run};

/// A frame, as it comes out of the stream.
#[derive(Clone, Debug)]
pub struct FrameMessage {
    /// The seat that its subject names.
    pub seat: u32,
    /// Its place in the stream.
    pub at: u64,
    /// The frame.
    pub bytes: Bytes,
}

/// The acknowledgement of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The broker had it already.
    pub is_double: bool,
}

/// The frames of all seats, as they come.
pub struct FrameStream {
    messages: Pin<Box<Ordered>>,
}

impl FrameStream {
    /// The next frame. `None`: the stream is broken, begin another behind the last frame.
    pub async fn next(&mut self) -> Option<FrameMessage> {
        loop {
            let message = match self.messages.next().await? {
                Ok(message) => message,
                Err(error) => {
                    log::debug!("the stream of frames is broken: {}", told(&error));
                    return None;
                }
            };
            let at = message.info().map(|info| info.stream_sequence).unwrap_or_default();
            let seat = message.subject.rsplit('.').next().and_then(|seat| seat.parse().ok());
            // Else a stranger wrote it.
            if let Some(seat) = seat {
                return Some(FrameMessage { seat, at, bytes: message.message.payload });
            }
        }
    }
}

impl Run {
    fn frame_subject(&self, seat: &str) -> String {
        format!("brunt.{}.f.{seat}", self.id)
    }

    /// Stores a frame of a seat; `id` is what a repetition is recognised by. Waits for the acknowledgement.
    ///
    /// # Errors
    /// The connection, or a full store: send it again, under the same id.
    pub async fn put_frame(
        &self,
        seat: u32,
        id: &str,
        bytes: Bytes,
    ) -> Result<Stored, BrokerError> {
        let failed = BrokerError::failed("a frame was not stored");
        let message = PublishMessage::build().message_id(id).payload(bytes);
        let subject = self.frame_subject(&seat.to_string());
        let sent = self.broker.context.send_publish(subject, message).await;
        let ack = sent.map_err(|error| failed(told(&error)))?.await;
        let ack = ack.map_err(|error| failed(told(&error)))?;
        Ok(Stored { is_double: ack.duplicate })
    }

    /// All frames of the run from this place of the stream on; 0 for all there are.
    ///
    /// # Errors
    /// The connection, or no stream.
    pub async fn frames_from(&self, at: u64) -> Result<FrameStream, BrokerError> {
        let failed = BrokerError::failed("frames can't be read");
        let stream = self.broker.frames().await?;
        let config = OrderedConfig {
            description: Some("the leader's".to_owned()),
            filter_subject: self.frame_subject("*"),
            replay_policy: ReplayPolicy::Instant,
            deliver_policy: match at {
                0 => DeliverPolicy::All,
                at => DeliverPolicy::ByStartSequence { start_sequence: at },
            },
            ..OrderedConfig::default()
        };
        let consumer = stream.create_consumer(config).await;
        let consumer = consumer.map_err(|error| failed(told(&error)))?;
        let messages = consumer.messages().await.map_err(|error| failed(told(&error)))?;
        Ok(FrameStream { messages: Box::pin(messages) })
    }

    /// Removes the run's frames before this place of the stream; all of them without one.
    ///
    /// # Errors
    /// The connection, or no stream.
    pub async fn remove_frames(&self, before: Option<u64>) -> Result<(), BrokerError> {
        let stream = self.broker.frames().await?;
        let purge = stream.purge().filter(self.frame_subject("*"));
        let purged = match before {
            Some(at) => purge.sequence(at).await,
            None => purge.await,
        };
        purged.map_err(|error| BrokerError::failed("frames were not removed")(told(&error)))?;
        Ok(())
    }
}
