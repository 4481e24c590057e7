//! The flags of tests on several machines, read.

use std::path::PathBuf;
use std::time::Duration;

use brunt_cluster::Policy;
use brunt_nats::{Access, check_name};

use crate::failure::{Failure, Outcome};
use crate::flags::{self, Flag, Given};

/// Where leader and agents meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meeting {
    pub(crate) access: Access,
    /// The pool whose agents join its run.
    pub(crate) pool: Option<String>,
    /// `--run-id`
    pub(crate) run: Option<String>,
}

/// `run --agents N`: how a test on several machines is led.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeadSettings {
    /// The share of each agent, in its seat's place.
    pub(crate) shares: Vec<u32>,
    pub(crate) meeting: Meeting,
    pub(crate) agents_wait: Duration,
    pub(crate) agent_timeout: Duration,
    pub(crate) leader_timeout: Duration,
    pub(crate) policy: Policy,
    pub(crate) allow_lost: u32,
    pub(crate) agent_tag: bool,
}

/// The pool if no flag names one.
const USUAL_POOL: &str = "default";

/// More agents than this no leader can lead.
const AGENTS_MAX: u32 = 10_000;

/// The largest share of one agent.
const SHARE_MAX: u32 = 1000;

/// The wait for agents if no flag gives another.
pub(crate) const AGENTS_WAIT: Duration = Duration::from_mins(5);

/// Flags of `run` that a test on several machines can't honour, each with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("once", "it shows one iteration of this process, and a leader makes none"),
    (
        "demo",
        "the demo target would run in the leader's process; start `brunt demo` and hand its address over with -e",
    ),
    (
        "execution-segment",
        "each agent gets its own part of the load; --agent-shares makes the parts unequal",
    ),
    (
        "execution-segment-sequence",
        "each agent gets its own part of the load; --agent-shares makes the parts unequal",
    ),
    ("workers", "threads carry VUs, and a leader has none; give it to `brunt agent`"),
    ("repeat", "start the command again for another run"),
];

impl Meeting {
    /// Reads the flags about the broker.
    ///
    /// # Errors
    /// A name that is no name.
    pub(crate) fn read(given: &Given) -> Outcome<Self> {
        let text = |name: &str| given.last(name).filter(|text| !text.is_empty());
        let path = |name: &str| text(name).map(PathBuf::from);
        let name = |flag: &str| {
            let name = text(flag).map(|name| check_name(name).map(|()| name.to_owned()));
            name.transpose().map_err(|error| Failure::usage(format!("--{flag}: {error}")))
        };
        let run = name("run-id")?;
        let pool = name("pool")?;
        let pool = pool.or_else(|| run.is_none().then(|| USUAL_POOL.to_owned()));
        Ok(Self {
            access: Access {
                servers: text("nats").unwrap_or_default().to_owned(),
                creds: path("nats-creds"),
                nkey: path("nats-nkey"),
                ca: path("nats-ca"),
                cert: path("nats-cert"),
                key: path("nats-key"),
            },
            pool,
            run,
        })
    }

    /// Warns if anybody who reaches the broker could run code on the agents.
    pub(crate) fn warn_if_open(&self) {
        if self.access.is_open() {
            log::warn!(
                hint = "log in with --nats-creds or --nats-nkey, over tls://";
                "whoever reaches {} can run scripts on the agents: the NATS server is elsewhere and wants no login", self.access.shown()
            );
        }
    }
}

impl LeadSettings {
    /// Reads the flags; `None` without `--agents`.
    ///
    /// # Errors
    /// A value that makes no sense; a flag that needs `--agents`, or can't be had with it.
    pub(crate) fn read(given: &Given) -> Outcome<Option<Self>> {
        let Some(count) = given.last("agents") else {
            let is_written =
                |flag: &&Flag| given.get(flag.long).is_some_and(|value| value.on_command_line);
            return match flags::of_leader().find(is_written) {
                Some(flag) => Err(Failure::usage(format!("--{} needs --agents", flag.long))
                    .hint("--agents N leads a test on N machines; without it the test runs in this process")),
                None => Ok(None),
            };
        };
        let agents = number("agents", count, 1, AGENTS_MAX)?;
        for (flag, reason) in REFUSED {
            let value = given.get(flag).filter(|_| given.switch(flag) != Some(false));
            // An empty text asks for nothing.
            if let Some(value) =
                value.filter(|value| value.texts.iter().any(|text| !text.is_empty()))
            {
                let said = &value.said_as;
                return Err(Failure::usage(format!("{said} can't be had with --agents: {reason}")));
            }
        }
        let shares = match given.last("agent-shares") {
            None => vec![1; agents as usize],
            Some(text) => shares(text, agents)?,
        };
        let policy = match given.last("on-agent-loss") {
            None | Some("go-on") => Policy::GoOn,
            Some("stop") => Policy::Stop,
            Some("take-over") => Policy::TakeOver,
            Some(other) => {
                return Err(Failure::usage(format!(
                    "invalid value \"{other}\" for --on-agent-loss"
                ))
                .hint("use go-on, stop or take-over"));
            }
        };
        Ok(Some(Self {
            shares,
            meeting: Meeting::read(given)?,
            agents_wait: wait(given, "agents-wait", AGENTS_WAIT)?,
            agent_timeout: agent_timeout(given)?,
            leader_timeout: wait(given, "leader-timeout", Duration::from_mins(5))?,
            policy,
            allow_lost: match given.last("allow-lost") {
                None => 0,
                Some(text) => number("allow-lost", text, 0, agents)?,
            },
            agent_tag: given.is_on("agent-tag"),
        }))
    }
}

fn number(flag: &str, text: &str, least: u32, most: u32) -> Outcome<u32> {
    text.parse().ok().filter(|number| (least..=most).contains(number)).ok_or_else(|| {
        Failure::usage(format!("invalid value \"{text}\" for --{flag}: expected {least} to {most}"))
    })
}

/// `2,1,1`: a number for each agent.
fn shares(text: &str, agents: u32) -> Outcome<Vec<u32>> {
    let parts = text.split(',').map(|part| number("agent-shares", part.trim(), 1, SHARE_MAX));
    let shares = parts.collect::<Outcome<Vec<u32>>>()?;
    if shares.len() != agents as usize {
        let told = format!("--agent-shares {text} has {} parts for {agents} agents", shares.len());
        return Err(Failure::usage(told).hint("write a number for each agent, such as 2,1,1"));
    }
    Ok(shares)
}

/// A limit, or the usual one.
fn wait(given: &Given, flag: &str, usual: Duration) -> Outcome<Duration> {
    given.last(flag).map_or(Ok(usual), |text| wait_of(flag, text))
}

/// `--agent-timeout`. An agent is out of touch after three seconds without a sign of life; only then can it be lost.
fn agent_timeout(given: &Given) -> Outcome<Duration> {
    let limit = wait(given, "agent-timeout", Duration::from_secs(15))?;
    if limit < Duration::from_secs(3) {
        let text = given.last("agent-timeout").unwrap_or_default();
        let why = format!("invalid value \"{text}\" for --agent-timeout: at least 3s is needed");
        return Err(Failure::usage(why)
            .hint("an agent counts as out of touch after 3s; it can't be given up before that"));
    }
    Ok(limit)
}

/// The limit that the text of a flag means: at least a second.
pub(crate) fn wait_of(flag: &str, text: &str) -> Outcome<Duration> {
    let wrong = |why: String| {
        Failure::usage(format!("invalid value \"{text}\" for --{flag}: {why}"))
            .hint("write a duration, such as 30s or 5m")
    };
    let limit = brunt_duration::wait::parse(text).map_err(|error| wrong(error.to_string()))?;
    if limit < Duration::from_secs(1) {
        return Err(wrong("at least 1s is needed".to_owned()));
    }
    Ok(limit)
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;
    use crate::environment::Environment;
    use crate::flags::{add, global, of_run};

    fn read(line: &str) -> Outcome<Option<LeadSettings>> {
        let flags = || global::FLAGS.iter().chain(of_run());
        let command = add(Command::new("run").no_binary_name(true), flags());
        let matches = command.try_get_matches_from(line.split_whitespace()).unwrap();
        LeadSettings::read(&Given::collect(flags(), &matches, &Environment::default())?)
    }

    #[test]
    fn without_agents_there_is_nothing_to_lead() {
        assert_eq!(read("").unwrap(), None);
        let failure = read("--agent-tag").unwrap_err();
        assert_eq!(failure.message(), "--agent-tag needs --agents");
    }

    #[test]
    fn a_pool_is_used_unless_a_run_is_named() {
        let meeting = |line: &str| read(line).unwrap().unwrap().meeting;
        assert_eq!(meeting("--agents 3").pool.as_deref(), Some("default"));
        assert_eq!(meeting("--agents 3 --run-id a").pool, None);
        assert_eq!(meeting("--agents 3 --run-id a --pool b").pool.as_deref(), Some("b"));
    }

    #[test]
    fn values_that_make_no_sense_are_refused_with_what_would_be_right() {
        for (line, part) in [
            ("--agents 0", "expected 1 to 10000"),
            ("--agents 3 --agent-shares 1,2", "has 2 parts for 3 agents"),
            ("--agents 2 --agent-shares 1,0", "expected 1 to 1000"),
            ("--agents 2 --run-id a.b", "--run-id: the name \"a.b\" can't be used"),
            ("--agents 2 --agents-wait 5", "for --agents-wait"),
            ("--agents 2 --agent-timeout 1ms", "at least 1s"),
            ("--agents 2 --agent-timeout 2s", "at least 3s"),
            ("--agents 2 --on-agent-loss x", "invalid value \"x\""),
            ("--agents 2 --allow-lost 3", "expected 0 to 2"),
            ("--agents 2 --once", "--once can't be had with --agents"),
        ] {
            let failure = read(line).unwrap_err();
            assert!(failure.message().contains(part), "{line}: {}", failure.message());
            assert_eq!(failure.exit.code(), 255, "{line}");
        }
        assert!(read("--agents 2 --once=false").is_ok());
        let policy = |line: &str| read(line).unwrap().unwrap().policy;
        assert_eq!(policy("--agents 2 --on-agent-loss take-over"), Policy::TakeOver);
        assert!(read("--agents 2 --address x:1 --paused --linger --ui").is_ok());
    }
}
