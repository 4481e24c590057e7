//! The flags of `brunt demo`: name, help and effect of each side by side.

use std::{net::SocketAddr, str::FromStr, time::Duration};

use brunt_demo::DemoConfig;

/// One flag.
pub(super) struct Setting {
    pub(super) long: &'static str,
    pub(super) takes: Takes,
    pub(super) help: &'static str,
    /// Writes the value into the configuration; the error says what was expected.
    pub(super) apply: fn(&mut DemoConfig, &str) -> Result<(), String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    One(&'static str),
}

const fn setting(
    long: &'static str,
    takes: Takes,
    help: &'static str,
    apply: fn(&mut DemoConfig, &str) -> Result<(), String>,
) -> Setting {
    Setting { long, takes, help, apply }
}

const ADDR: Takes = Takes::One("HOST:PORT");
const DURATION: Takes = Takes::One("DURATION");
const NUMBER: Takes = Takes::One("N");
const SIZE: Takes = Takes::One("SIZE");

pub(super) static SETTINGS: &[Setting] = &[
    setting(
        "listen",
        ADDR,
        "Listen at this address; port 0 takes a free port [default: 127.0.0.1:8080]",
        |c, t| put(&mut c.listen, address(t)),
    ),
    setting("tls", Takes::Nothing, "Serve HTTPS with a self-signed certificate", |c, _| {
        c.tls = true;
        Ok(())
    }),
    setting(
        "h2c",
        Takes::Nothing,
        "Speak HTTP/2 without TLS with clients that begin so, HTTP/1.1 with others",
        |c, _| {
            c.h2c = true;
            Ok(())
        },
    ),
    setting("seed", NUMBER, "Make all artificial randomness repeatable", |c, t| {
        put_some(&mut c.seed, number(t))
    }),
    setting("rtt", DURATION, "Delay each response, as a network would [default: 0]", |c, t| {
        put(&mut c.rtt, duration(t))
    }),
    setting("workers", NUMBER, "Answer with N threads [default: 2]", |c, t| {
        put(&mut c.workers, number(t))
    }),
    setting(
        "cpu-budget",
        Takes::One("CORES"),
        "Use at most this many cores [default: no limit]",
        |c, t| put_some(&mut c.cpu_budget, number(t)),
    ),
    setting("max-connections", NUMBER, "Hold at most N connections [default: 20000]", |c, t| {
        put(&mut c.max_connections, number(t))
    }),
    setting("max-body", SIZE, "Hold request bodies up to this size [default: 32MiB]", |c, t| {
        put(&mut c.max_body, size(t))
    }),
    setting(
        "instances",
        NUMBER,
        "Simulate N instances of the applications [default: 2]",
        |c, t| {
            c.instances = number(t)?;
            c.image.instances = c.instances;
            Ok(())
        },
    ),
    setting("event-delay", DURATION, "Delay change events by this time [default: 50ms]", |c, t| {
        put(&mut c.event_delay, duration(t))
    }),
    setting(
        "event-loss",
        Takes::One("P"),
        "Lose change events with this probability [default: 0]",
        |c, t| put(&mut c.event_loss, number(t)),
    ),
    setting(
        "key-version",
        NUMBER,
        "Schema version in the keys of the shared cache [default: 1]",
        |c, t| put(&mut c.key_version, number(t)),
    ),
    setting("redis", Takes::One("URL"), "Use this Redis in place of the built-in one", |c, t| {
        c.redis = Some(t.to_owned());
        Ok(())
    }),
    setting(
        "redis-listen",
        ADDR,
        "Let the built-in Redis listen at this address [default: a free port]",
        |c, t| put(&mut c.redis_listen, address(t)),
    ),
    setting(
        "redis-fallback",
        Takes::One("origin|fail"),
        "Answer the Redis routes from the origin or fail while Redis is down [default: origin]",
        |c, t| put(&mut c.redis_fallback, t.parse()),
    ),
    setting(
        "redis-latency",
        DURATION,
        "Delay each Redis operation [default: 35ms, 0 with --redis]",
        |c, t| put_some(&mut c.redis_latency, duration(t)),
    ),
    setting(
        "redis-jitter",
        DURATION,
        "Mean of the random delay added to each operation [default: 3ms, 0 with --redis]",
        |c, t| put_some(&mut c.redis_jitter, duration(t)),
    ),
    setting(
        "redis-connect",
        DURATION,
        "Delay the first connection to Redis [default: 600ms, 0 with --redis]",
        |c, t| put_some(&mut c.redis_connect, duration(t)),
    ),
    setting("redis-ttl", DURATION, "Keep entries in Redis for this time [default: 60s]", |c, t| {
        put(&mut c.redis_ttl, duration(t))
    }),
    setting(
        "origin-ms",
        Takes::One("MS"),
        "Duration of a read from the origin [default: 1000]",
        |c, t| put(&mut c.origin_latency, number(t).map(Duration::from_millis)),
    ),
    setting(
        "origin-jitter",
        DURATION,
        "Mean of the random delay added to each read [default: 10ms]",
        |c, t| put(&mut c.origin_jitter, duration(t)),
    ),
    setting(
        "origin-slow-every",
        NUMBER,
        "Make one read in N slow; 0 = none [default: 300]",
        |c, t| put(&mut c.origin_slow_every, number(t)),
    ),
    setting("origin-slow", DURATION, "Duration of a slow read [default: 2s]", |c, t| {
        put(&mut c.origin_slow, duration(t))
    }),
    setting(
        "origin-write",
        DURATION,
        "Duration of a write to the origin [default: 100ms]",
        |c, t| put(&mut c.origin_write, duration(t)),
    ),
    setting(
        "origin-concurrency",
        NUMBER,
        "Let the origin work at N calls at the same time [default: 64]",
        |c, t| put(&mut c.origin_concurrency, number(t)),
    ),
    setting(
        "origin-queue-timeout",
        DURATION,
        "Answer 503 after waiting for the origin for this time [default: 5s]",
        |c, t| put(&mut c.origin_queue_timeout, duration(t)),
    ),
    setting("memory-ttl", DURATION, "Keep items in memory for this time [default: 60s]", |c, t| {
        put(&mut c.memory_ttl, duration(t))
    }),
    setting("memory-sliding", Takes::Nothing, "Begin that time anew at each hit", |c, _| {
        c.memory_sliding = true;
        Ok(())
    }),
    setting(
        "memory-max-bytes",
        SIZE,
        "Maximum size of each memory cache [default: 100MB]",
        |c, t| put(&mut c.memory_max_bytes, size(t)),
    ),
    setting(
        "memory-max-items",
        NUMBER,
        "Maximum number of items in each memory cache [default: 100000]",
        |c, t| put(&mut c.memory_max_items, number(t)),
    ),
    setting(
        "twotier-ttl",
        DURATION,
        "Keep items in the memory tier for this time [default: 5s]",
        |c, t| put(&mut c.twotier_ttl, duration(t)),
    ),
    setting("threads", NUMBER, "Work on N images at the same time [default: 2]", |c, t| {
        put(&mut c.image.threads, number(t))
    }),
    setting(
        "queue-limit",
        NUMBER,
        "Answer 429 when more than N images wait [default: 1]",
        |c, t| put(&mut c.image.queue_limit, number(t)),
    ),
    setting("retry-after", Takes::One("SECONDS"), "Send Retry-After with a 429", |c, t| {
        put_some(&mut c.image.retry_after, number(t))
    }),
    setting("no-cache", Takes::Nothing, "Keep no images in memory", |c, _| {
        c.image.no_cache = true;
        Ok(())
    }),
    setting("cache-ttl", DURATION, "Keep an image for this time [default: 300s]", |c, t| {
        put(&mut c.image.cache_ttl, duration(t))
    }),
    setting(
        "cache-max-items",
        NUMBER,
        "Maximum number of images to keep [default: 10000]",
        |c, t| put(&mut c.image.cache_max_items, number(t)),
    ),
    setting(
        "cache-max-bytes",
        SIZE,
        "Maximum size of all kept images together [default: 1GiB]",
        |c, t| put(&mut c.image.cache_max_bytes, size(t)),
    ),
    setting(
        "single-flight",
        Takes::Nothing,
        "Make an image once for all requests that wait for it",
        |c, _| {
            c.image.single_flight = true;
            Ok(())
        },
    ),
    setting(
        "synthetic",
        Takes::Nothing,
        "Hold a thread for the time of --cpu instead of working on images",
        |c, _| {
            c.image.synthetic = true;
            Ok(())
        },
    ),
    setting("cpu", DURATION, "Time that such an image holds its thread [default: 10ms]", |c, t| {
        put(&mut c.image.cost, duration(t))
    }),
    setting(
        "example-size",
        Takes::One("WxH"),
        "Size of example.jpg [default: 1440x1080]",
        |c, t| put(&mut c.image.example_size, width_and_height(t)),
    ),
    setting("allow-original", Takes::Nothing, "Serve images without an action, too", |c, _| {
        c.image.allow_original = true;
        Ok(())
    }),
    setting(
        "image-secret",
        Takes::One("TEXT"),
        "Secret that POST /images demands [default: demo]",
        |c, t| {
            t.clone_into(&mut c.image.secret);
            Ok(())
        },
    ),
    setting(
        "viewstate",
        Takes::One("server|client"),
        "Keep the state of forms on the server or in their tokens [default: server]",
        |c, t| {
            c.forms.client_state = match t {
                "server" => false,
                "client" => true,
                _ => return Err("expected server or client".to_owned()),
            };
            Ok(())
        },
    ),
    setting(
        "jakarta",
        Takes::Nothing,
        "Call the token of forms jakarta.faces.ViewState instead of javax.faces.ViewState",
        |c, _| {
            c.forms.jakarta = true;
            Ok(())
        },
    ),
    setting("html-entities", Takes::Nothing, "Write + as &#43; in the pages of forms", |c, _| {
        c.forms.html_entities = true;
        Ok(())
    }),
    setting(
        "views",
        NUMBER,
        "Accept the newest N tokens of a session, 1 to 100 [default: 15]",
        |c, t| put(&mut c.forms.views, number(t)),
    ),
    setting(
        "soft-errors",
        Takes::Nothing,
        "Answer a refused token with 200 and an error page instead of 500",
        |c, _| {
            c.forms.soft_errors = true;
            Ok(())
        },
    ),
    setting("one-time", Takes::Nothing, "Answer 409 when a token is used again", |c, _| {
        c.forms.one_time = true;
        Ok(())
    }),
    setting(
        "session-timeout",
        DURATION,
        "End a session that is not used for this time [default: 30m]",
        |c, t| put(&mut c.forms.session_timeout, duration(t)),
    ),
    setting(
        "faults-listen",
        Takes::One("HOST:PORT|none"),
        "Answer HTTP wrongly on purpose at this address [default: a free port]",
        |c, t| match t {
            "none" => put(&mut c.faults_listen, Ok(None)),
            _ => put_some(&mut c.faults_listen, address(t)),
        },
    ),
    setting(
        "grpc-listen",
        Takes::One("HOST:PORT|none"),
        "Answer gRPC at this address [default: a free port]",
        |c, t| match t {
            "none" => put(&mut c.grpc_listen, Ok(None)),
            _ => put_some(&mut c.grpc_listen, address(t)),
        },
    ),
    setting(
        "mysql-listen",
        Takes::One("HOST:PORT|none"),
        "Let the stand-in for MySQL listen at this address [default: a free port]",
        |c, t| {
            if t == "none" {
                return put(&mut c.mysql, Ok(None));
            }
            c.mysql.get_or_insert_default().listen = address(t)?;
            Ok(())
        },
    ),
];

pub(super) fn put<T>(place: &mut T, value: Result<T, String>) -> Result<(), String> {
    *place = value?;
    Ok(())
}

pub(super) fn put_some<T>(place: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    *place = Some(value?);
    Ok(())
}

pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let text = text.replace("localhost:", "127.0.0.1:");
    text.parse().map_err(|_| "expected an address such as 127.0.0.1:8080".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    brunt_duration::wait::parse_days(text).map_err(|error| error.to_string())
}

pub(super) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "expected a number".to_owned())
}

/// `1440x1080`.
fn width_and_height(text: &str) -> Result<(u32, u32), String> {
    let read = || {
        let (width, height) = text.split_once('x')?;
        Some((width.parse().ok()?, height.parse().ok()?))
    };
    read().ok_or_else(|| "expected width and height such as 1440x1080".to_owned())
}

/// `500`, `64kB`, `100MB`, `32MiB`, `1GiB`: bytes.
fn size(text: &str) -> Result<usize, String> {
    let units = [
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
        ("B", 1),
    ];
    let (digits, unit) = units
        .iter()
        .find_map(|&(name, unit)| Some((text.strip_suffix(name)?, unit)))
        .unwrap_or((text, 1_usize));
    let count: Option<usize> = digits.trim().parse().ok();
    count
        .and_then(|count| count.checked_mul(unit))
        .ok_or_else(|| "expected a size such as 500kB or 32MiB".to_owned())
}
