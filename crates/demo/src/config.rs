//! The settings of a demo target. Each field's comment begins with the flag that sets it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::forms::FormConfig;
use crate::images::ImageConfig;
use crate::mysql::MysqlConfig;

/// The answer of the Redis routes while Redis is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RedisFallback {
    /// `origin`: answer from the origin, slowly.
    #[default]
    Origin,
    /// `fail`: answer 503. Shows the single point of failure.
    Fail,
}

impl std::str::FromStr for RedisFallback {
    type Err = String;

    /// Reads `origin` or `fail`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "origin" => Ok(Self::Origin),
            "fail" => Ok(Self::Fail),
            other => Err(format!("invalid Redis fallback '{other}': use 'origin' or 'fail'")),
        }
    }
}

/// All settings of a demo target. [`Default`] gives the documented defaults, [`DemoConfig::fast`]
/// the same server with latencies scaled down for tests.
#[derive(Debug, Clone)]
pub struct DemoConfig {
    /// `--listen ADDR`: address to listen on (default `127.0.0.1:8080`; port 0 takes a free one).
    pub listen: SocketAddr,
    /// `--tls`: serve HTTPS with a self-signed certificate for localhost.
    pub tls: bool,
    /// `--h2c`: speak HTTP/2 without TLS with clients that begin so; the others get HTTP/1.1 as ever. Not with `tls`, which
    /// offers both.
    pub h2c: bool,
    /// `--seed N`: make all artificial randomness repeatable (default: differs in each run).
    pub seed: Option<u64>,
    /// `--rtt DURATION`: delay each response by this much, as a network would (default 0).
    pub rtt: Duration,
    /// `--workers N`: threads that answer requests, 1 to 256 (default 2).
    pub workers: usize,
    /// `--cpu-budget CORES`: how much CPU the server may use, in cores, so that it saturates early
    /// (default: no limit). Modelled: each request costs 50 µs plus the compression, hashing and
    /// parsing done for it; `0.05` is therefore good for about 1000 plain requests/s.
    pub cpu_budget: Option<f64>,
    /// `--max-connections N`: connections open at once; more wait unaccepted (default 20000).
    pub max_connections: usize,
    /// `--max-body SIZE`: largest request body that is held in memory, in bytes (default 32 MiB).
    /// `/sink` holds none and takes any size.
    pub max_body: usize,

    /// `--instances N`: simulated application instances, 1 to 64, each with its own memory, on the
    /// twotier and event routes (default 2).
    pub instances: u32,
    /// `--event-delay DURATION`: how long a change event travels (default 50ms).
    pub event_delay: Duration,
    /// `--event-loss P`: probability that an instance misses a change event (default 0).
    pub event_loss: f64,
    /// `--key-version N`: schema version in the keys of the shared cache; entries of other versions
    /// are ignored (default 1).
    pub key_version: u32,

    /// `--redis URL`: use this Redis (`redis://host:port/db`) in place of the built-in one.
    pub redis: Option<String>,
    /// `--redis-listen ADDR`: where the built-in Redis listens (default `127.0.0.1:0`, a free port).
    pub redis_listen: SocketAddr,
    /// `--redis-fallback origin|fail`: what the Redis routes do while Redis is down (default origin).
    pub redis_fallback: RedisFallback,
    /// `--redis-latency DURATION`: artificial network time of each Redis operation (default 35ms
    /// for the built-in one, 0 with `--redis`).
    pub redis_latency: Option<Duration>,
    /// `--redis-jitter DURATION`: mean of the exponential part added to each Redis operation
    /// (default 3ms for the built-in one, 0 with `--redis`).
    pub redis_jitter: Option<Duration>,
    /// `--redis-connect DURATION`: artificial time of the first connection to Redis (default 600ms
    /// for the built-in one, 0 with `--redis`).
    pub redis_connect: Option<Duration>,
    /// `--redis-ttl DURATION`: how long entries live in Redis (default 60s).
    pub redis_ttl: Duration,

    /// `--origin-ms MS`: how long the origin takes for a read (default 1000).
    pub origin_latency: Duration,
    /// `--origin-jitter DURATION`: mean of the exponential part added to it (default 10ms).
    pub origin_jitter: Duration,
    /// `--origin-slow-every N`: one read in N takes `origin_slow`; 0 = none (default 300).
    pub origin_slow_every: u32,
    /// `--origin-slow DURATION`: how long such a read takes (default 2s).
    pub origin_slow: Duration,
    /// `--origin-write DURATION`: how long the origin takes for a write (default 100ms).
    pub origin_write: Duration,
    /// `--origin-concurrency N`: origin calls at once; others queue (default 64).
    pub origin_concurrency: usize,
    /// `--origin-queue-timeout DURATION`: longest wait in that queue, then 503 (default 5s).
    pub origin_queue_timeout: Duration,

    /// `--memory-ttl DURATION`: how long the memory and lazy routes keep an item (default 60s).
    pub memory_ttl: Duration,
    /// `--memory-sliding`: each hit begins the memory route's time to live anew.
    pub memory_sliding: bool,
    /// `--memory-max-bytes SIZE`: size limit of each memory cache (default 100 MB).
    pub memory_max_bytes: usize,
    /// `--memory-max-items N`: item limit of each memory cache (default 100000).
    pub memory_max_items: usize,
    /// `--twotier-ttl DURATION`: how long the memory tier of the twotier route keeps an item
    /// (default 5s): the bound of its staleness.
    pub twotier_ttl: Duration,

    /// The image handler: its instances, queue and caches.
    pub image: ImageConfig,

    /// The form application: its tokens and sessions.
    pub forms: FormConfig,

    /// `--faults-listen ADDR`: where the port listens that answers HTTP wrongly on purpose (default
    /// `127.0.0.1:0`, a free port; `None`: no such port).
    pub faults_listen: Option<SocketAddr>,
    /// `--grpc-listen ADDR`: where gRPC is answered, with TLS if `tls` is set (default `127.0.0.1:0`, a free port;
    /// `None`: nowhere).
    pub grpc_listen: Option<SocketAddr>,
    /// `--mysql-listen ADDR`: the stand-in for MySQL and where it listens (default `127.0.0.1:0`, a free port; `None`:
    /// nowhere).
    pub mysql: Option<MysqlConfig>,
}

/// The maximum number of instances that can be simulated.
pub(crate) const INSTANCES_MAX: u32 = 64;
/// The maximum number of worker threads.
pub(crate) const WORKERS_MAX: usize = 256;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

impl Default for DemoConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(LOOPBACK, 8080),
            tls: false,
            h2c: false,
            seed: None,
            rtt: Duration::ZERO,
            workers: 2,
            cpu_budget: None,
            max_connections: 20_000,
            max_body: 32 << 20,
            instances: 2,
            event_delay: Duration::from_millis(50),
            event_loss: 0.0,
            key_version: 1,
            redis: None,
            redis_listen: SocketAddr::new(LOOPBACK, 0),
            redis_fallback: RedisFallback::Origin,
            redis_latency: None,
            redis_jitter: None,
            redis_connect: None,
            redis_ttl: Duration::from_mins(1),
            origin_latency: Duration::from_secs(1),
            origin_jitter: Duration::from_millis(10),
            origin_slow_every: 300,
            origin_slow: Duration::from_secs(2),
            origin_write: Duration::from_millis(100),
            origin_concurrency: 64,
            origin_queue_timeout: Duration::from_secs(5),
            memory_ttl: Duration::from_mins(1),
            memory_sliding: false,
            memory_max_bytes: 100_000_000,
            memory_max_items: 100_000,
            twotier_ttl: Duration::from_secs(5),
            image: ImageConfig::default(),
            forms: FormConfig::default(),
            faults_listen: Some(SocketAddr::new(LOOPBACK, 0)),
            grpc_listen: Some(SocketAddr::new(LOOPBACK, 0)),
            mysql: Some(MysqlConfig::default()),
        }
    }
}

impl DemoConfig {
    /// The default server with a free port, a fixed seed and latencies about 50 times shorter: an
    /// origin of 20 ms, a Redis of 2 ms, events of 5 ms, a small example picture. No read is
    /// exceptionally slow.
    pub fn fast() -> Self {
        Self {
            listen: SocketAddr::new(LOOPBACK, 0),
            seed: Some(1),
            event_delay: Duration::from_millis(5),
            redis_latency: Some(Duration::from_millis(2)),
            redis_jitter: Some(Duration::ZERO),
            redis_connect: Some(Duration::from_millis(5)),
            origin_latency: Duration::from_millis(20),
            origin_jitter: Duration::ZERO,
            origin_slow_every: 0,
            origin_write: Duration::from_millis(2),
            twotier_ttl: Duration::from_millis(200),
            image: ImageConfig { example_size: (240, 180), ..ImageConfig::default() },
            mysql: Some(MysqlConfig::fast()),
            ..Self::default()
        }
    }

    /// Artificial latency, jitter and connect time of Redis: given ones, else by the kind of Redis.
    pub(crate) fn redis_delays(&self) -> (Duration, Duration, Duration) {
        let ms = |built_in| Duration::from_millis(if self.redis.is_none() { built_in } else { 0 });
        (
            self.redis_latency.unwrap_or(ms(35)),
            self.redis_jitter.unwrap_or(ms(3)),
            self.redis_connect.unwrap_or(ms(600)),
        )
    }

    /// The first setting that makes no sense, as a sentence.
    pub(crate) fn complaint(&self) -> Option<String> {
        let wrong = |flag: &str, what: String| Some(format!("--{flag}: {what}"));
        if self.h2c && self.tls {
            return wrong("h2c", "with --tls clients choose HTTP/2 by themselves".into());
        }
        if !(1..=WORKERS_MAX).contains(&self.workers) {
            return wrong("workers", format!("{} is not from 1 to {WORKERS_MAX}", self.workers));
        }
        if !(1..=INSTANCES_MAX).contains(&self.instances) {
            return wrong(
                "instances",
                format!("{} is not from 1 to {INSTANCES_MAX}", self.instances),
            );
        }
        if let Some(budget) = self.cpu_budget
            && !(budget.is_finite() && budget >= 0.0001)
        {
            return wrong("cpu-budget", format!("{budget} is not a number of cores (≥ 0.0001)"));
        }
        if !(0.0..=1.0).contains(&self.event_loss) {
            return wrong("event-loss", format!("{} is not from 0 to 1", self.event_loss));
        }
        if self.max_connections == 0 || self.origin_concurrency == 0 {
            return wrong(
                "max-connections / --origin-concurrency",
                "0 would answer no request".into(),
            );
        }
        self.image.complaint().or_else(|| self.forms.complaint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_redis_is_slow_and_a_real_one_is_left_alone() {
        let mut config = DemoConfig::default();
        assert_eq!(config.redis_delays().0, Duration::from_millis(35));
        config.redis = Some("redis://127.0.0.1/".into());
        assert_eq!(config.redis_delays(), (Duration::ZERO, Duration::ZERO, Duration::ZERO));
    }

    #[test]
    fn a_complaint_names_flag_and_value() {
        let config = DemoConfig { workers: 0, ..DemoConfig::fast() };
        assert_eq!(config.complaint().as_deref(), Some("--workers: 0 is not from 1 to 256"));
        assert_eq!(DemoConfig::default().complaint(), None);
    }

    #[test]
    fn a_fallback_is_origin_or_fail() {
        assert_eq!("fail".parse(), Ok(RedisFallback::Fail));
        assert!("never".parse::<RedisFallback>().unwrap_err().contains("'never'"));
    }
}
