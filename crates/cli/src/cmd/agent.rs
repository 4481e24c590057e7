//! `brunt agent`: the flags of an agent.

use std::time::Duration;

use clap::{ArgMatches, Command};

use super::argument::{switch, value};
use crate::{
    Context,
    agents::{
        Meeting,
        follow::{self, Request},
        settings::{AGENTS_WAIT, wait_of},
    },
    exit::Exit,
    failure::{Failure, Outcome},
    flags::{self, Given},
};

const EXAMPLES: &str = "Examples:
  brunt agent
  brunt agent --nats tls://broker.example:4222 --nats-creds agent.creds --pool big
  brunt agent --nats nats://broker:4222 --run-id nightly --index 3 --once";

const EXITS: &str = "An agent serves one test after another until Ctrl-C; a signal while a test runs lets the agent leave in good order: it stops, \
    delivers what it measured, and the leader is told. With --once or --run-id it ends with the test.

Exit codes: 0 the test is over, whatever its leader thought of it, or the agent was not needed; 105 a signal; 107 the script threw; 111 the agent lost its place or its \
    leader; 112 no broker, or no test within --wait.";

pub(super) fn command() -> Command {
    let command = Command::new("agent")
        .about("Make a part of the load of tests that `brunt run --agents` leads")
        .override_usage("brunt agent [OPTIONS]")
        .before_help(EXAMPLES)
        .after_help(EXITS)
        .args([
            value("index", "K", "Take seat K, from 1 on, and no other [default: $JOB_COMPLETION_INDEX + 1, else any seat]"),
            switch("once", "End after one test"),
            value("wait", "DURATION", "Wait at most so long for the plan of a test; with --once, for a test of the pool, too [default: 5m]"),
        ]);
    flags::add(command, flags::of_agent())
}

/// Reads them.
///
/// # Errors
/// A value that makes no sense.
pub(super) fn read(matches: &ArgMatches, given: &Given) -> Outcome<Request> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let index = text("index").map(|text| {
        text.parse().ok().filter(|index| (1..=10_000).contains(index)).ok_or_else(|| {
            Failure::usage(format!("invalid value \"{text}\" for --index: expected 1 to 10000"))
        })
    });
    let wait = match text("wait") {
        None => AGENTS_WAIT,
        Some(text) => wait_of("wait", text)?,
    };
    if given.get("pool").is_some_and(|value| value.on_command_line)
        && given.get("run-id").is_some_and(|value| value.on_command_line)
    {
        return Err(Failure::usage("an agent takes --pool or --run-id, not both")
            .hint("--run-id joins one run, --pool waits for any that is led"));
    }
    Ok(Request {
        meeting: Meeting::read(given)?,
        index: index.transpose()?,
        once: matches.get_flag("once"),
        wait: wait.min(LONGEST_WAIT),
        workers: given.last("workers").map(crate::settings::workers).transpose()?,
    })
}

/// A wait that is longer is one without an end.
const LONGEST_WAIT: Duration = Duration::from_hours(24 * 365);

pub(super) fn perform(context: &Context, request: Request) -> Outcome<Exit> {
    follow::perform(context, request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;

    fn of(line: &str) -> Outcome<Request> {
        let matches = command().no_binary_name(true).get_matches_from(line.split_whitespace());
        read(&matches, &Given::collect(flags::of_agent(), &matches, &Environment::default())?)
    }

    #[test]
    fn an_agent_waits_for_a_pool_or_joins_a_run() {
        let request = of("--index 3 --once --wait 10s --workers 2").unwrap();
        assert_eq!((request.index, request.once, request.workers), (Some(3), true, Some(2)));
        assert_eq!(request.wait, Duration::from_secs(10));
        assert_eq!(request.meeting.pool.as_deref(), Some("default"));
        assert_eq!(of("--run-id x").unwrap().meeting.pool, None);
        assert!(of("--run-id x --pool y").is_err());
        for line in ["--index 0", "--index x", "--wait 5", "--workers 0"] {
            assert_eq!(of(line).unwrap_err().exit.code(), 255, "{line}");
        }
    }
}
