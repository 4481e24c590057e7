//! Values of a run that processes change in turn: compare and set, without a watch.
//!
//! They lie in a bucket of their own, so that whoever watches the keys of the run hears nothing of them; and each question is one
//! message to the server, as scripts wait for the answers.

use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::{DirectGetError, DirectGetErrorKind, Stream};

use crate::broker::VALUES;
use crate::error::told;
use crate::{BrokerError, Put, Run};

/// A value as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its revision, for [`Run::put_value`].
    pub revision: u64,
}

impl Run {
    fn value_subject(&self, key: &str) -> String {
        format!("$KV.{VALUES}.{}.{key}", self.id)
    }

    async fn values(&self) -> Result<Stream<()>, BrokerError> {
        let stream = self.broker.context.get_stream_no_info(format!("KV_{VALUES}")).await;
        let failed = BrokerError::failed("the bucket brunt_data can't be used");
        stream.map_err(|error| failed(told(&error)))
    }

    /// The value as it is.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn value_now(&self, key: &str) -> Result<Option<Value>, BrokerError> {
        let stream = self.values().await?;
        value(stream.direct_get_last_for_subject(self.value_subject(key)).await)
    }

    /// The oldest of its values that is kept and has a higher revision than this; 64 are kept.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn value_after(
        &self,
        key: &str,
        revision: u64,
    ) -> Result<Option<Value>, BrokerError> {
        let stream = self.values().await?;
        let (subject, from) = (self.value_subject(key), revision.saturating_add(1));
        value(stream.direct_get_next_for_subject(subject, Some(from)).await)
    }

    /// Writes a value whose last revision is `expected`; 0: which is not there.
    ///
    /// # Errors
    /// The connection, or no bucket: it may be written or not.
    pub async fn put_value(
        &self,
        key: &str,
        bytes: Vec<u8>,
        expected: u64,
    ) -> Result<Put, BrokerError> {
        let message =
            PublishMessage::build().payload(bytes.into()).expected_last_subject_sequence(expected);
        let sent = self.broker.context.send_publish(self.value_subject(key), message).await;
        let written = match sent {
            Ok(acknowledged) => acknowledged.await,
            Err(error) => Err(error),
        };
        match written {
            Ok(written) => Ok(Put::Done(written.sequence)),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(Put::Lost),
            // Servers of a cluster say so in other words.
            Err(error) if told(&error).contains("wrong last sequence") => Ok(Put::Lost),
            Err(error) => Err(BrokerError::failed("a value could not be written")(told(&error))),
        }
    }

    /// Removes a value without a trace.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn remove_value(&self, key: &str) -> Result<(), BrokerError> {
        self.purge_values(self.value_subject(key)).await
    }

    /// Removes all values of the run.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn remove_values(&self) -> Result<(), BrokerError> {
        self.purge_values(self.value_subject(">")).await
    }

    async fn purge_values(&self, subjects: String) -> Result<(), BrokerError> {
        let purged = self.values().await?.purge().filter(subjects).await;
        let failed = BrokerError::failed("values could not be removed");
        purged.map(drop).map_err(|error| failed(told(&error)))
    }
}

fn value(got: Result<StreamMessage, DirectGetError>) -> Result<Option<Value>, BrokerError> {
    match got {
        Ok(message) => {
            let (bytes, revision) = (message.payload.to_vec(), message.sequence);
            Ok(Some(Value { bytes, revision }))
        }
        Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
        Err(error) => Err(BrokerError::failed("a value could not be read")(told(&error))),
    }
}
