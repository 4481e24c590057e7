//! The shared cache: Redis by its own protocol, stand-in or real, with the network time that a
//! shared cache costs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::item::Loaded;
use crate::config::DemoConfig;
use crate::dice::Dice;
use crate::faults::Switch;
use crate::resp::Store;
use crate::timing::Phases;

/// Longest wait for a connection or an answer; then Redis counts as down.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// The time after a failed connect in which no other is tried.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// Redis cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RedisDown;

/// One shared connection, opened when first needed and again when it broke.
pub(super) struct RedisTier {
    client: Client,
    line: Mutex<Line>,
    /// The stand-in behind the URL, so that a reset is certain.
    store: Option<Arc<Store>>,
    latency: Duration,
    jitter: Duration,
    connect: Duration,
    ttl: Duration,
    dice: Arc<Dice>,
    faults: Arc<Switch>,
    greeted: AtomicBool,
    /// That it is down was told, once.
    was_told: AtomicBool,
    operations: AtomicU64,
    failures: AtomicU64,
}

#[derive(Default)]
struct Line {
    connection: Option<MultiplexedConnection>,
    /// Which connection it is, so that a late failure does not close its successor.
    number: u64,
    failed_at: Option<Instant>,
}

impl RedisTier {
    pub(super) fn new(
        config: &DemoConfig,
        url: &str,
        store: Option<Arc<Store>>,
        dice: Arc<Dice>,
        faults: Arc<Switch>,
    ) -> Result<Self, String> {
        let (latency, jitter, connect) = config.redis_delays();
        Ok(Self {
            client: Client::open(url).map_err(|e| e.to_string())?,
            line: Mutex::default(),
            store,
            latency,
            jitter,
            connect,
            ttl: config.redis_ttl,
            dice,
            faults,
            greeted: AtomicBool::new(false),
            was_told: AtomicBool::new(false),
            operations: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        })
    }

    /// Looks for an item. A value that does not read as one counts as absent.
    pub(super) async fn get(
        &self,
        key: &str,
        id: u64,
        phases: &mut Phases,
    ) -> Result<Option<Arc<Loaded>>, RedisDown> {
        let stored: Option<Vec<u8>> = self.ask(redis::cmd("GET").arg(key), phases).await?;
        Ok(stored.and_then(|stored| Loaded::from_stored(id, stored)).map(Arc::new))
    }

    /// Stores an item for the configured time.
    pub(super) async fn set(
        &self,
        key: &str,
        loaded: &Loaded,
        phases: &mut Phases,
    ) -> Result<(), RedisDown> {
        self.ask(&self.set_command(key, loaded), phases).await
    }

    /// Removes an item.
    pub(super) async fn delete(&self, key: &str, phases: &mut Phases) -> Result<(), RedisDown> {
        self.ask(redis::cmd("DEL").arg(key), phases).await
    }

    /// Stores an item without the artificial network time: for preloading.
    pub(super) async fn preload(&self, key: &str, loaded: &Loaded) -> Result<(), RedisDown> {
        self.send(&self.set_command(key, loaded)).await
    }

    fn set_command(&self, key: &str, loaded: &Loaded) -> Cmd {
        let mut command = redis::cmd("SET");
        let millis = self.ttl.as_millis().max(1) as u64;
        command.arg(key).arg(loaded.to_stored()).arg("PX").arg(millis);
        command
    }

    /// Removes our keys: all of the stand-in's, and in a foreign Redis those that begin as ours do.
    pub(super) async fn reset(&self) {
        if let Some(store) = &self.store {
            store.flush();
        } else {
            let mut cursor = 0u64;
            loop {
                let mut scan = redis::cmd("SCAN");
                scan.arg(cursor).arg("MATCH").arg("brunt:v*").arg("COUNT").arg(1000);
                let Ok((next, keys)) = self.send::<(u64, Vec<String>)>(&scan).await else {
                    break;
                };
                if !keys.is_empty() && self.send::<()>(redis::cmd("DEL").arg(keys)).await.is_err() {
                    break;
                }
                cursor = next;
                if cursor == 0 {
                    break;
                }
            }
        }
        self.operations.store(0, Relaxed);
        self.failures.store(0, Relaxed);
    }

    pub(super) fn report(&self) -> Value {
        let kind = if self.store.is_some() { "built-in" } else { "external" };
        json!({
            "kind": kind,
            "operations": self.operations.load(Relaxed),
            "failures": self.failures.load(Relaxed),
        })
    }

    /// One operation with its network time, which is added to `phases`.
    async fn ask<T: FromRedisValue>(
        &self,
        command: &Cmd,
        phases: &mut Phases,
    ) -> Result<T, RedisDown> {
        let begin = Instant::now();
        self.operations.fetch_add(1, Relaxed);
        let result = self.send(command).await;
        if result.is_ok() {
            let delay = self.latency + self.dice.exponential(self.jitter);
            if !delay.is_zero() {
                sleep(delay).await;
            }
        } else {
            self.failures.fetch_add(1, Relaxed);
        }
        phases.redis += begin.elapsed();
        result
    }

    async fn send<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, RedisDown> {
        if self.faults.any() && self.faults.current().redis_down {
            return Err(RedisDown);
        }
        let (mut connection, number) = self.connection().await?;
        match command.query_async(&mut connection).await {
            Ok(value) => {
                self.was_told.store(false, Relaxed);
                Ok(value)
            }
            Err(error) => {
                self.tell(&error);
                let mut line = self.line.lock().await;
                if line.number == number {
                    line.connection = None;
                }
                Err(RedisDown)
            }
        }
    }

    async fn connection(&self) -> Result<(MultiplexedConnection, u64), RedisDown> {
        let mut line = self.line.lock().await;
        if let Some(connection) = &line.connection {
            return Ok((connection.clone(), line.number));
        }
        if line.failed_at.is_some_and(|at| at.elapsed() < RETRY_AFTER) {
            return Err(RedisDown);
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(ANSWER_MAX)
            .set_response_timeout(ANSWER_MAX);
        // Others wait at the lock meanwhile, as they would for a pool that is just opening.
        match self.client.get_multiplexed_async_connection_with_config(&config).await {
            Ok(connection) => {
                if !self.greeted.swap(true, Relaxed) {
                    sleep(self.connect).await;
                }
                line.number += 1;
                line.failed_at = None;
                line.connection = Some(connection.clone());
                Ok((connection, line.number))
            }
            Err(error) => {
                self.tell(&error);
                line.failed_at = Some(Instant::now());
                Err(RedisDown)
            }
        }
    }

    /// Tells that Redis fails, once for each time that it goes down.
    fn tell(&self, error: &redis::RedisError) {
        let error = error.to_string();
        if self.was_told.swap(true, Relaxed) {
            log::debug!(error = error.as_str(); "demo: Redis fails");
        } else {
            log::warn!(error = error.as_str(); "demo: Redis fails; its routes do without it, or answer 503");
        }
    }
}
