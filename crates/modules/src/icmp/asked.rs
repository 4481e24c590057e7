//! The arguments of a ping.

use std::net::IpAddr;
use std::time::Duration;

use brunt_duration::wait::parse;
use brunt_js::Host;
use brunt_quickjs::{Ctx, JsResult, Value};

use crate::extension::OwnTags;
use crate::reading::timeout_of;
use crate::state::VuState;

/// The most that an IPv4 packet carries behind the head of an echo.
const SIZE_MAX: f64 = 65_499.0;

/// The shortest time between two requests, unless [`INTERVAL_VARIABLE`] says otherwise: a ping is no flood.
const INTERVAL_MIN: Duration = Duration::from_millis(500);

/// The environment variable for that.
const INTERVAL_VARIABLE: &str = "K6_PING_MINIMUM_INTERVAL";

/// The options.
#[derive(Debug, Clone)]
pub(super) struct Ping {
    pub(super) id: u16,
    pub(super) seq: u16,
    pub(super) ttl: Option<u32>,
    pub(super) timeout: Duration,
    pub(super) deadline: Option<Duration>,
    pub(super) count: u32,
    /// Answers that are needed, of a hundred requests.
    pub(super) threshold: f64,
    pub(super) size: usize,
    pub(super) interval: Duration,
    pub(super) source: Option<IpAddr>,
    pub(super) wants_ipv6: bool,
    pub(super) tags: OwnTags,
}

/// The shortest time between two requests that the environment allows.
fn interval_min(ctx: Ctx<'_>) -> Duration {
    let env = &VuState::of(ctx).shared.world.env;
    let Some(text) = env.get(INTERVAL_VARIABLE).filter(|text| !text.is_empty()) else {
        return INTERVAL_MIN;
    };
    parse(text).unwrap_or_else(|error| {
        log::warn!(
            "{INTERVAL_VARIABLE} is not a time such as 100ms, so it is {} ms: {error}",
            INTERVAL_MIN.as_millis()
        );
        INTERVAL_MIN
    })
}

fn no_flood(asked: Duration, least: Duration) -> Duration {
    if asked < least {
        log::warn!(
            "a ping's interval of {} ms becomes {} ms, the shortest; {INTERVAL_VARIABLE} sets another",
            asked.as_millis(),
            least.as_millis()
        );
    }
    asked.max(least)
}

impl Ping {
    /// The inner error is what is wrong with the options.
    pub(super) fn read<'js>(
        ctx: Ctx<'js>,
        options: &Value<'js>,
    ) -> JsResult<'js, Result<Self, String>> {
        let vu = Host::of(ctx).ids().global;
        let mut ping = Self {
            id: (u64::from(std::process::id()) + vu) as u16,
            seq: VuState::drawn(ctx) as u16,
            ttl: None,
            timeout: Duration::from_secs(10),
            deadline: None,
            count: 1,
            threshold: 100.0,
            size: 56,
            interval: Duration::from_secs(1),
            source: None,
            wants_ipv6: false,
            tags: OwnTags::default(),
        };
        if options.is_nullish() {
            return Ok(Ok(ping));
        }
        if !options.is_object() {
            return Ok(Err("the options of a ping are an object".to_owned()));
        }
        for (name, from, to) in [
            ("id", 0.0, 65_535.0),
            ("seq", 0.0, 65_535.0),
            ("ttl", 1.0, 255.0),
            ("count", 1.0, 65_535.0),
            ("threshold", 0.0, 100.0),
            ("size", 0.0, SIZE_MAX),
        ] {
            let given = options.get(name)?;
            if given.is_nullish() {
                continue;
            }
            let number = given.to_number()?;
            if !(from..=to).contains(&number) {
                let shown = given.to_string_lossy()?;
                return Ok(Err(format!("{name} is a number from {from} to {to}, not {shown}")));
            }
            match name {
                "id" => ping.id = number as u16,
                "seq" => ping.seq = number as u16,
                "ttl" => ping.ttl = Some(number as u32),
                "count" => ping.count = number as u32,
                "threshold" => ping.threshold = number,
                _ => ping.size = number as usize,
            }
        }
        for name in ["timeout", "deadline", "interval"] {
            let given = options.get(name)?;
            if given.is_nullish() {
                continue;
            }
            let time = match timeout_of(&given) {
                Ok(time) => time,
                Err(why) => return Ok(Err(format!("{name}: {why}"))),
            };
            match name {
                "timeout" => ping.timeout = time,
                "deadline" => ping.deadline = (!time.is_zero()).then_some(time),
                _ => ping.interval = no_flood(time, interval_min(ctx)),
            }
        }
        let given = options.get("source")?;
        if !given.is_nullish() {
            let text = given.to_string_lossy()?;
            match text.parse() {
                Ok(ip) => ping.source = Some(ip),
                Err(_) if text.is_empty() => {}
                Err(_) => return Ok(Err(format!("source is an IP address, not \"{text}\""))),
            }
        }
        let given = options.get("preferred_ip_version")?;
        if !given.is_nullish() {
            match given.to_string_lossy()?.as_str() {
                "ip4" | "" => {}
                "ip6" => ping.wants_ipv6 = true,
                other => {
                    return Ok(Err(format!(
                        "preferred_ip_version is \"ip4\" or \"ip6\", not \"{other}\""
                    )));
                }
            }
        }
        ping.tags = OwnTags::read(ctx, options)?;
        Ok(Ok(ping))
    }
}
