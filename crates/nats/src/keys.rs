//! Keys of a run: small values that are watched.

use std::pin::Pin;

use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use async_nats::jetstream::consumer::{DeliverPolicy, ReplayPolicy};
use async_nats::jetstream::kv::{CreateErrorKind, Operation, Store, UpdateErrorKind};
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::error::told;
use crate::{Broker, BrokerError, Run};

/// A key that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name, without the run's id: `phase`, `seat.3`.
    pub key: String,
    /// Its value; `None` if it was removed.
    pub value: Option<Vec<u8>>,
    /// Its revision, for [`Run::update_key`].
    pub revision: u64,
}

/// How a conditional write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is written, with this revision.
    Done(u64),
    /// Somebody else was first.
    Lost,
}

/// News of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A key, as it is or as it became.
    Changed(Change),
    /// All that was there has been told; what follows is new.
    Current,
}

/// All keys of a run, as they are and as they become.
pub struct Keys {
    messages: Pin<Box<Ordered>>,
    prefix: String,
    /// Something that was there at the beginning is still to come.
    is_behind: bool,
    is_current: bool,
}

impl Keys {
    /// The next news; first all keys as they are. `None`: the watch is broken, begin another.
    pub async fn next(&mut self) -> Option<News> {
        loop {
            if !self.is_behind && !self.is_current {
                self.is_current = true;
                return Some(News::Current);
            }
            let message = match self.messages.next().await? {
                Ok(message) => message,
                Err(error) => {
                    log::debug!("the watch of keys is broken: {}", told(&error));
                    return None;
                }
            };
            let Ok(info) = message.info() else { continue };
            let revision = info.stream_sequence;
            self.is_behind &= info.pending > 0;
            let Some(key) = message.subject.strip_prefix(&self.prefix) else { continue };
            let headers = message.headers.as_ref();
            let operation = headers.and_then(|headers| headers.get("KV-Operation"));
            let is_there = operation.is_none_or(|operation| operation.as_str() == "PUT");
            let (key, value) = (key.to_owned(), is_there.then(|| message.payload.to_vec()));
            return Some(News::Changed(Change { key, value, revision }));
        }
    }
}

impl Run {
    fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.id)
    }

    /// Watches all keys of the run; the first changes are those that are there.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn watch_keys(&self) -> Result<Keys, BrokerError> {
        watch(&self.broker.runs().await?, &self.key(">"), &self.key("")).await
    }

    /// The key as it is.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn key_now(&self, key: &str) -> Result<Option<Change>, BrokerError> {
        self.broker.key_now(&self.key(key), key).await
    }

    /// Writes a key that only this side writes.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn put_key(&self, key: &str, value: Vec<u8>) -> Result<u64, BrokerError> {
        let store = self.broker.runs().await?;
        let put = store.put(self.key(key), Bytes::from(value)).await;
        put.map_err(|error| BrokerError::failed("a key could not be written")(told(&error)))
    }

    /// Writes a key that is not there yet.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn create_key(&self, key: &str, value: Vec<u8>) -> Result<Put, BrokerError> {
        self.broker.create(&self.key(key), value).await
    }

    /// Writes a key whose last revision is this.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn update_key(
        &self,
        key: &str,
        value: Vec<u8>,
        revision: u64,
    ) -> Result<Put, BrokerError> {
        self.broker.update(&self.key(key), value, revision).await
    }

    /// Removes a key whose last revision is this.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn remove_key(&self, key: &str, revision: u64) -> Result<Put, BrokerError> {
        let store = self.broker.runs().await?;
        match store.delete_expect_revision(self.key(key), Some(revision)).await {
            Ok(()) => Ok(Put::Done(revision)),
            Err(error) if told(&error).contains("wrong last") => Ok(Put::Lost),
            Err(error) => Err(BrokerError::failed("a key could not be removed")(told(&error))),
        }
    }

    /// All keys of the run.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn all_keys(&self) -> Result<Vec<Change>, BrokerError> {
        let mut keys = self.watch_keys().await?;
        let mut all = Vec::new();
        loop {
            match keys.next().await {
                Some(News::Changed(change)) => all.push(change),
                Some(News::Current) => return Ok(all),
                None => {
                    let reason = "the connection was lost".to_owned();
                    return Err(BrokerError::failed("keys can't be read")(reason));
                }
            }
        }
    }
}

/// Keys of pools: `POOL.run`.
impl Broker {
    /// The run of a pool.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn pool_now(&self, pool: &str) -> Result<Option<Change>, BrokerError> {
        self.key_now(&format!("{pool}.run"), "run").await
    }

    /// Lets the agents of a pool join a run, if the pool has none.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn take_pool(&self, pool: &str, value: Vec<u8>) -> Result<Put, BrokerError> {
        self.create(&format!("{pool}.run"), value).await
    }

    /// Lets the agents of a pool join a run, if its last revision is this: their leader is dead.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn retake_pool(
        &self,
        pool: &str,
        value: Vec<u8>,
        revision: u64,
    ) -> Result<Put, BrokerError> {
        self.update(&format!("{pool}.run"), value, revision).await
    }

    /// Gives the pool back.
    ///
    /// # Errors
    /// The connection, or no bucket.
    pub async fn leave_pool(&self, pool: &str) -> Result<(), BrokerError> {
        self.remove(&format!("{pool}.run")).await
    }

    async fn key_now(&self, whole: &str, key: &str) -> Result<Option<Change>, BrokerError> {
        let entry = self.runs().await?.entry(whole).await;
        let failed = BrokerError::failed("a key could not be read");
        let entry = entry.map_err(|error| failed(told(&error)))?;
        Ok(entry.map(|entry| Change {
            key: key.to_owned(),
            value: (entry.operation == Operation::Put).then(|| entry.value.to_vec()),
            revision: entry.revision,
        }))
    }

    async fn create(&self, whole: &str, value: Vec<u8>) -> Result<Put, BrokerError> {
        match self.runs().await?.create(whole, Bytes::from(value)).await {
            Ok(revision) => Ok(Put::Done(revision)),
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(Put::Lost),
            Err(error) => Err(BrokerError::failed("a key could not be written")(told(&error))),
        }
    }

    async fn update(&self, whole: &str, value: Vec<u8>, revision: u64) -> Result<Put, BrokerError> {
        match self.runs().await?.update(whole, Bytes::from(value), revision).await {
            Ok(revision) => Ok(Put::Done(revision)),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(Put::Lost),
            Err(error) => Err(BrokerError::failed("a key could not be written")(told(&error))),
        }
    }

    async fn remove(&self, whole: &str) -> Result<(), BrokerError> {
        let removed = self.runs().await?.purge(whole).await;
        removed.map_err(|error| BrokerError::failed("a key could not be removed")(told(&error)))
    }
}

async fn watch(store: &Store, keys: &str, prefix: &str) -> Result<Keys, BrokerError> {
    let failed = BrokerError::failed("keys can't be watched");
    let config = OrderedConfig {
        description: Some("keys of a run".to_owned()),
        filter_subject: format!("{}{keys}", store.prefix),
        replay_policy: ReplayPolicy::Instant,
        deliver_policy: DeliverPolicy::LastPerSubject,
        ..OrderedConfig::default()
    };
    let consumer = store.stream.create_consumer(config).await;
    let consumer = consumer.map_err(|error| failed(told(&error)))?;
    let is_behind = consumer.cached_info().num_pending > 0;
    let messages = consumer.messages().await.map_err(|error| failed(told(&error)))?;
    let prefix = format!("{}{prefix}", store.prefix);
    Ok(Keys { messages: Box::pin(messages), prefix, is_behind, is_current: false })
}
