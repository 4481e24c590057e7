//! The caching API: one slow origin behind eleven routes, each with another way to cache it.
//!
//! ```text
//!   http ── strategies ──┬── memory   (LRU by items and bytes, TTL)      one per instance
//!                        ├── flights  (one load per key, others wait)
//!                        ├── redis    (network time added; stand-in or real)
//!                        └── origin   (about 1 s, 64 at once, then a queue, then 503)
//! ```

pub(crate) mod http;
mod item;
mod memory;
mod origin;
mod redis;
mod strategies;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use self::item::Loaded;
use self::memory::{Limits, MemoryCache};
use self::origin::Origin;
use self::redis::RedisTier;
use self::strategies::{Landing, Pitfall};
use crate::config::{DemoConfig, RedisFallback};
use crate::dice::Dice;
use crate::faults::Switch;
use crate::flights::Flights;
use crate::resp::Store;
use crate::routes::Route;

/// The dictionary route knows no limit by design; the demo has one, and serves uncached beyond it.
const DICTIONARY_MAX: usize = 100_000;
/// Keys whose origin calls are counted one by one; later keys show 0.
const COUNTED_KEYS_MAX: usize = 100_000;
/// Change events on their way at once; more are lost, and counted as that.
const EVENTS_MAX: usize = 10_000;

macro_rules! strategies {
    ($($variant:ident $name:literal,)*) => {
        /// A way to cache.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Strategy {
            $(#[doc = $name] $variant,)*
        }

        impl Strategy {
            const ALL: &[Strategy] = &[$(Strategy::$variant,)*];

            /// Its first path segment, which is also part of its keys.
            fn name(self) -> &'static str {
                match self {
                    $(Strategy::$variant => $name,)*
                }
            }
        }

        /// The strategy that serves a route, if it is one of the caching routes.
        pub(crate) fn strategy(route: Route) -> Option<Strategy> {
            match route {
                $(Route::$variant => Some(Strategy::$variant),)*
                _ => None,
            }
        }
    };
}

strategies! {
    NoCache "nocache",
    Dictionary "dictionary",
    Memory "memory",
    Lazy "lazy",
    Redis "redis",
    WriteThrough "writethrough",
    LazyWrite "lazywrite",
    TwoTier "twotier",
    Event "event",
    Immutable "immutable",
    Mutable "mutable",
}

macro_rules! outcomes {
    ($($variant:ident $name:literal,)*) => {
        /// The cache's part in an answer: the value of `X-Cache`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Outcome {
            $(#[doc = $name] $variant,)*
        }

        impl Outcome {
            const ALL: &[Outcome] = &[$(Outcome::$variant,)*];

            fn name(self) -> &'static str {
                match self {
                    $(Outcome::$variant => $name,)*
                }
            }
        }
    };
}

outcomes! {
    Hit "hit",
    Miss "miss",
    Expired "expired",
    Coalesced "coalesced",
    Bypass "bypass",
}

/// Where an answer came from: the value of `X-Cache-Tier`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tier {
    Memory,
    Redis,
    Origin,
}

impl Tier {
    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Redis => "redis",
            Self::Origin => "origin",
        }
    }
}

/// Why there is no item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absence {
    /// The origin's queue took too long, or its load broke off.
    Overloaded,
    /// Redis is down and there is no way around it.
    RedisDown,
    /// The write-through cache has no such item.
    NotCached,
    /// The origin holds as many changed items as it may.
    Full,
}

/// One simulated application instance: its own memory, its own loads.
struct Instance {
    memory: MemoryCache,
    flights: Arc<Flights<u64, Landing>>,
}

/// All caches and what is behind them.
pub(crate) struct Caching {
    origin: Origin,
    redis: RedisTier,
    dictionary: Mutex<HashMap<u64, Arc<Loaded>>>,
    memory: MemoryCache,
    lazy: Instance,
    twotier: Vec<Instance>,
    event: Vec<Instance>,
    pitfalls: [Pitfall; 2],
    next_instance: AtomicU64,
    outcomes: Vec<AtomicU64>,
    origin_calls: Mutex<HashMap<(Strategy, u64), u64>>,
    events: Events,
    key_version: u32,
    fallback: RedisFallback,
    dice: Arc<Dice>,
}

struct Events {
    delay: Duration,
    loss: f64,
    room: Arc<Semaphore>,
    published: AtomicU64,
    delivered: AtomicU64,
    lost: AtomicU64,
}

impl Caching {
    /// Caches by the config; `store` is the Redis stand-in, when `redis_url` is its address.
    ///
    /// # Errors
    /// The fault of the URL.
    pub(crate) fn new(
        config: &DemoConfig,
        redis_url: &str,
        store: Option<Arc<Store>>,
        dice: Arc<Dice>,
        faults: Arc<Switch>,
    ) -> Result<Self, String> {
        let limits = |ttl, sliding| Limits {
            ttl,
            sliding,
            bytes: config.memory_max_bytes,
            items: config.memory_max_items,
        };
        let instance = |ttl| Instance {
            memory: MemoryCache::new(limits(ttl, false)),
            flights: Arc::default(),
        };
        let instances = |ttl| (0..config.instances).map(|_| instance(ttl)).collect();
        Ok(Self {
            origin: Origin::new(config, dice.clone(), faults.clone()),
            redis: RedisTier::new(config, redis_url, store, dice.clone(), faults)?,
            dictionary: Mutex::default(),
            memory: MemoryCache::new(limits(Some(config.memory_ttl), config.memory_sliding)),
            lazy: instance(Some(config.memory_ttl)),
            twotier: instances(Some(config.twotier_ttl)),
            event: instances(None),
            pitfalls: Default::default(),
            next_instance: AtomicU64::new(0),
            outcomes: (0..Strategy::ALL.len() * Outcome::ALL.len())
                .map(|_| AtomicU64::new(0))
                .collect(),
            origin_calls: Mutex::default(),
            events: Events {
                delay: config.event_delay,
                loss: config.event_loss,
                room: Arc::new(Semaphore::new(EVENTS_MAX)),
                published: AtomicU64::new(0),
                delivered: AtomicU64::new(0),
                lost: AtomicU64::new(0),
            },
            key_version: config.key_version,
            fallback: config.redis_fallback,
            dice,
        })
    }

    /// The key of an item in the shared cache.
    fn key(&self, strategy: Strategy, id: u64) -> String {
        format!("brunt:v{}:{}:{id}", self.key_version, strategy.name())
    }

    fn count_outcome(&self, strategy: Strategy, outcome: Outcome) {
        let slot = strategy as usize * Outcome::ALL.len() + outcome as usize;
        self.outcomes[slot].fetch_add(1, Relaxed);
    }

    fn count_origin_call(&self, strategy: Strategy, id: u64) {
        let mut calls = self.origin_calls.lock().unwrap_or_else(PoisonError::into_inner);
        let room = calls.len() < COUNTED_KEYS_MAX;
        match calls.get_mut(&(strategy, id)) {
            Some(count) => *count += 1,
            None if room => {
                calls.insert((strategy, id), 1);
            }
            None => {}
        }
    }

    fn origin_calls(&self, strategy: Strategy, id: u64) -> u64 {
        let calls = self.origin_calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.get(&(strategy, id)).copied().unwrap_or(0)
    }

    /// Empties all caches, forgets all writes, sets all counters to zero.
    pub(crate) async fn reset(&self) {
        self.dictionary.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.memory.clear();
        for instance in self.twotier.iter().chain(&self.event).chain([&self.lazy]) {
            instance.memory.clear();
        }
        self.pitfalls.iter().for_each(Pitfall::clear);
        self.outcomes.iter().for_each(|counter| counter.store(0, Relaxed));
        self.origin_calls.lock().unwrap_or_else(PoisonError::into_inner).clear();
        for counter in [&self.events.published, &self.events.delivered, &self.events.lost] {
            counter.store(0, Relaxed);
        }
        self.origin.reset();
        self.redis.reset().await;
    }

    /// The report's members on origin, caches, Redis and events.
    pub(crate) fn report(&self) -> Map<String, Value> {
        let mut caches = Map::new();
        let mut total = Map::new();
        let mut add_to_total = |name: &str, count: u64| {
            let sum = total.get(name).and_then(Value::as_u64).unwrap_or(0);
            total.insert(name.to_owned(), (sum + count).into());
        };
        for strategy in Strategy::ALL {
            let counters = &self.outcomes[*strategy as usize * Outcome::ALL.len()..];
            let mut members = Map::new();
            for (outcome, counter) in Outcome::ALL.iter().zip(counters) {
                let count = counter.load(Relaxed);
                add_to_total(outcome.name(), count);
                members.insert(outcome.name().to_owned(), count.into());
            }
            let memories: Vec<&MemoryCache> = match strategy {
                Strategy::Memory => vec![&self.memory],
                Strategy::Lazy => vec![&self.lazy.memory],
                Strategy::TwoTier => self.twotier.iter().map(|i| &i.memory).collect(),
                Strategy::Event => self.event.iter().map(|i| &i.memory).collect(),
                _ => Vec::new(),
            };
            if !memories.is_empty() {
                let sum =
                    |what: fn(&MemoryCache) -> u64| memories.iter().map(|m| what(m)).sum::<u64>();
                members.insert("items".to_owned(), sum(|m| m.size().0 as u64).into());
                members.insert("bytes".to_owned(), sum(|m| m.size().1 as u64).into());
                let evictions = sum(MemoryCache::evictions);
                add_to_total("evictions", evictions);
                members.insert("evictions".to_owned(), evictions.into());
            }
            if *strategy == Strategy::Dictionary {
                let items = self.dictionary.lock().unwrap_or_else(PoisonError::into_inner).len();
                members.insert("items".to_owned(), items.into());
            }
            caches.insert(strategy.name().to_owned(), members.into());
        }
        caches.insert("total".to_owned(), total.into());
        let mut report = Map::new();
        report.insert("origin".to_owned(), self.origin.report());
        report.insert("cache".to_owned(), caches.into());
        report.insert("redis".to_owned(), self.redis.report());
        let events = json!({
            "published": self.events.published.load(Relaxed),
            "delivered": self.events.delivered.load(Relaxed),
            "lost": self.events.lost.load(Relaxed),
        });
        report.insert("events".to_owned(), events);
        report
    }
}
