//! The image handler: pictures resized on the fly, with few threads, a short queue and a cache.
//!
//! ```text
//!   http ── request ── one instance after the other ──┬── cache   (LRU by items and bytes, TTL)
//!           (pipeline, styles)                        ├── flights (only with --single-flight)
//!                                                     └── pool    (threads; 429 when more wait than
//!                                                          │       the limit says)
//!                                             codec or synthetic ── store (example.jpg and others)
//! ```
//!
//! A load test of it shows: goodput that stays level whatever is offered, a median that falls
//! because refusals are fast, and a burst of refusals while the cache is cold.

mod answer;
mod codec;
mod config;
mod example;
pub(crate) mod http;
mod pipeline;
mod pool;
mod quality;
mod request;
mod resize;
mod store;
mod synthetic;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use tokio::time::Instant;

pub(crate) use self::answer::Answer;
pub use self::config::ImageConfig;
use self::pool::{Busy, Pool, Turn};
use self::request::Task;
pub(crate) use self::request::claims;
use self::store::{Object, Store};
use crate::flights::Flights;
use crate::lru::{Lookup, Lru, Room};
use crate::timing::Phases;

/// The key of an answer: bucket, path and query.
type Key = Arc<str>;

/// How making an answer ended, and what that took.
#[derive(Debug, Clone)]
struct Landing {
    result: Result<Arc<Answer>, Failure>,
    phases: Phases,
    /// Images that waited for a thread when this one asked for its own.
    waiting: usize,
}

/// Why there is no answer.
#[derive(Debug, Clone)]
enum Failure {
    /// Too many wait for a thread.
    Busy,
    /// It cannot be made; a sentence says why.
    Impossible(String),
    /// The work broke off.
    Broken,
}

macro_rules! counts {
    ($($name:ident)*) => {
        /// The counts of an instance.
        #[derive(Debug, Default)]
        struct Counts {
            $($name: AtomicU64,)*
        }

        impl Counts {
            fn all(&self) -> impl Iterator<Item = (&'static str, &AtomicU64)> {
                [$((stringify!($name), &self.$name),)*].into_iter()
            }
        }
    };
}

counts! { hit miss expired coalesced made refused }

/// One simulated instance: its own cache, queue and threads.
#[derive(Debug)]
struct Instance {
    cache: Mutex<Lru<Key, Arc<Answer>>>,
    flights: Arc<Flights<Key, Landing>>,
    pool: Pool,
    counts: Counts,
}

impl Instance {
    fn cache(&self) -> MutexGuard<'_, Lru<Key, Arc<Answer>>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self) -> Map<String, Value> {
        let mut report = Map::new();
        for (name, count) in self.counts.all() {
            report.insert(name.to_owned(), count.load(Relaxed).into());
        }
        let (working, waiting) = self.pool.load();
        let ((items, bytes), evictions) = {
            let cache = self.cache();
            (cache.size(), cache.evictions())
        };
        let rest = [
            ("working", working as u64),
            ("waiting", waiting as u64),
            ("items", items as u64),
            ("bytes", bytes as u64),
            ("evictions", evictions),
        ];
        report.extend(rest.map(|(name, number)| (name.to_owned(), number.into())));
        report
    }
}

/// The image handler's whole state.
#[derive(Debug)]
pub(crate) struct Images {
    config: ImageConfig,
    instances: Vec<Instance>,
    next: AtomicUsize,
    store: Store,
}

impl Images {
    pub(crate) fn new(config: &ImageConfig) -> Self {
        let room = Room { items: config.cache_max_items, bytes: config.cache_max_bytes };
        let instance = || Instance {
            cache: Mutex::new(Lru::new(room)),
            flights: Arc::default(),
            pool: Pool::new(config.threads, config.queue_limit),
            counts: Counts::default(),
        };
        Self {
            instances: std::iter::repeat_with(instance).take(config.instances as usize).collect(),
            next: AtomicUsize::new(0),
            store: Store::new(config.example_size),
            config: config.clone(),
        }
    }

    /// Empties the caches, forgets what was stored, sets the counters to zero.
    pub(crate) fn reset(&self) {
        for instance in &self.instances {
            instance.cache().clear();
            instance.counts.all().for_each(|(_, count)| count.store(0, Relaxed));
        }
        self.store.clear();
    }

    /// Its work, in all and by instance.
    pub(crate) fn report(&self) -> Value {
        let mut total = Map::new();
        let mut instances = Vec::new();
        for instance in &self.instances {
            let report = instance.report();
            for (name, number) in &report {
                let sum = total.get(name).and_then(Value::as_u64).unwrap_or(0);
                total.insert(name.clone(), (sum + number.as_u64().unwrap_or(0)).into());
            }
            instances.push(report);
        }
        json!({ "total": total, "instances": instances, "stored": self.store.report() })
    }

    /// The load balancer: the instances take turns, and each round begins with another one. Else a
    /// client whose addresses take turns, too, would show each instance only some of them.
    fn next_instance(&self) -> usize {
        let request = self.next.fetch_add(1, Relaxed);
        let round = (request / self.instances.len()) as u64;
        let first = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (request + first as usize) % self.instances.len()
    }

    fn look(&self, instance: usize, key: &str) -> Lookup<Arc<Answer>> {
        if self.config.no_cache {
            return Lookup::Miss;
        }
        self.instances[instance].cache().get(key, None)
    }

    /// Makes an answer and keeps it. Runs to its end even when the client goes away, as the
    /// reference does.
    async fn land(self: Arc<Self>, index: usize, key: Key, object: Object, task: Task) -> Landing {
        let instance = &self.instances[index];
        // A flight may have landed between the look of the request and its start.
        if self.config.single_flight
            && let Lookup::Hit(answer) = self.look(index, &key)
        {
            return Landing { result: Ok(answer), phases: Phases::default(), waiting: 0 };
        }
        let landing = self.make(instance, object, task).await;
        match &landing.result {
            Ok(answer) => {
                instance.counts.made.fetch_add(1, Relaxed);
                if !self.config.no_cache {
                    let cost = answer.bytes.len() + key.len();
                    let expires = Instant::now() + self.config.cache_ttl;
                    instance.cache().put(key, answer.clone(), cost, Some(expires));
                }
            }
            Err(Failure::Busy) => {
                instance.counts.refused.fetch_add(1, Relaxed);
            }
            Err(_) => {}
        }
        landing
    }

    async fn make(&self, instance: &Instance, object: Object, task: Task) -> Landing {
        let mut phases = Phases::default();
        if matches!(task, Task::Original) {
            let work = move || Ok(Answer::new(object.bytes(), object.content_type));
            return Landing { result: blocking(work).await, phases, waiting: 0 };
        }
        let turn = match instance.pool.turn().await {
            Ok(turn) => turn,
            Err(Busy(waiting)) => {
                return Landing { result: Err(Failure::Busy), phases, waiting };
            }
        };
        phases.queue = turn.queued;
        let waiting = turn.before;
        let result = match task {
            Task::Process(pipeline) if self.config.synthetic => {
                let begin = Instant::now();
                instance.pool.hold(&turn, self.config.cost).await;
                phases.resize = begin.elapsed();
                let product = synthetic::make(&pipeline, self.config.example_size);
                product.map_err(Failure::Impossible).map(|product| Arc::new(product.into()))
            }
            task => work(object, task, turn, &mut phases).await,
        };
        Landing { result, phases, waiting }
    }
}

/// Real work. The turn ends with it, not with the request that wanted it.
async fn work(
    object: Object,
    task: Task,
    turn: Turn,
    phases: &mut Phases,
) -> Result<Arc<Answer>, Failure> {
    let result = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        let source = object.bytes();
        let mut spent = Phases::default();
        let answer = match task {
            Task::Info => codec::info(&source).map(|facts| Answer::json(&facts)),
            Task::Process(pipeline) => {
                codec::process(&source, &pipeline, &mut spent).map(Answer::from)
            }
            Task::Original => Ok(Answer::new(source, object.content_type)),
        };
        (answer, spent)
    });
    let (answer, spent) = result.await.map_err(|_| Failure::Broken)?;
    phases.add(&spent);
    answer.map(Arc::new).map_err(Failure::Impossible)
}

async fn blocking(
    work: impl FnOnce() -> Result<Answer, Failure> + Send + 'static,
) -> Result<Arc<Answer>, Failure> {
    let result = tokio::task::spawn_blocking(work).await;
    result.map_err(|_| Failure::Broken)?.map(Arc::new)
}
