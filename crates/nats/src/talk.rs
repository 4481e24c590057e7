//! Talk: messages that may be lost.

use std::time::Duration;

use async_nats::{Client, Subject, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::error::told;
use crate::{BrokerError, Run};

/// A message that came.
#[derive(Clone, Debug)]
pub struct Said {
    /// The subject behind the run's id: `beat.3`, `seen`.
    pub about: String,
    /// Its content.
    pub bytes: Bytes,
    /// Where an answer is awaited.
    reply: Option<Subject>,
}

/// A question that wants an answer.
pub type Asked = Said;

/// Messages about one thing.
pub struct Talk {
    subscriber: Subscriber,
    prefix: String,
}

impl Talk {
    /// The next message. `None`: the connection is closed.
    pub async fn next(&mut self) -> Option<Said> {
        let message = self.subscriber.next().await?;
        let about = message.subject.strip_prefix(&self.prefix).unwrap_or_default().to_owned();
        Some(Said { about, bytes: message.payload, reply: message.reply })
    }
}

impl Run {
    fn subject(&self, about: &str) -> String {
        format!("brunt.{}.{about}", self.id)
    }

    fn client(&self) -> &Client {
        &self.broker.client
    }

    /// Says something to whoever listens. While the connection is away nothing is said: a beat of ten seconds ago is of no use.
    pub async fn say(&self, about: &str, bytes: Vec<u8>) {
        if !self.broker.is_up() {
            return;
        }
        if let Err(error) = self.client().publish(self.subject(about), bytes.into()).await {
            log::debug!("not said: {}", told(&error));
        }
    }

    /// Listens to all about a thing; `beat.*` for that of all seats.
    ///
    /// # Errors
    /// The connection is closed.
    pub async fn listen(&self, about: &str) -> Result<Talk, BrokerError> {
        let subscribed = self.client().subscribe(self.subject(about)).await;
        let subscriber = subscribed
            .map_err(|error| BrokerError::failed("a subject can't be listened to")(told(&error)))?;
        Ok(Talk { subscriber, prefix: format!("brunt.{}.", self.id) })
    }

    /// Asks, and waits for the answer for at most `limit`.
    ///
    /// # Errors
    /// No answer, or not in time.
    pub async fn ask(
        &self,
        about: &str,
        bytes: Vec<u8>,
        limit: Duration,
    ) -> Result<Bytes, BrokerError> {
        let failed = BrokerError::failed("no answer");
        let asked = self.client().request(self.subject(about), bytes.into());
        match tokio::time::timeout(limit, asked).await {
            Ok(Ok(message)) => Ok(message.payload),
            Ok(Err(error)) => Err(failed(told(&error))),
            Err(_) => Err(failed(format!("not within {limit:?}"))),
        }
    }

    /// Answers a question.
    pub async fn answer(&self, asked: &Asked, bytes: Vec<u8>) {
        let Some(reply) = asked.reply.clone() else { return };
        if let Err(error) = self.client().publish(reply, bytes.into()).await {
            log::debug!("not answered: {}", told(&error));
        }
    }
}
