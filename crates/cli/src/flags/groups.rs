//! The pages of help of `run`, `archive` and `inspect`: headings and the flags below each, most used first.

use clap::{Arg, ArgAction, Command};

use super::Flag;

/// Headings and the flags below each, in the order of the page.
const GROUPS: &[(&str, &[&str])] = &[
    ("Load", &["vus", "duration", "iterations", "stage", "rps", "seed", "scenario", "set"]),
    (
        "Script",
        &[
            "env",
            "include-system-env-vars",
            "demo",
            "no-setup",
            "no-teardown",
            "min-iteration-duration",
            "type",
            "compatibility-mode",
            "no-remote-modules",
            "no-builtin-jslib",
        ],
    ),
    (
        "Results",
        &[
            "out",
            "report",
            "ui",
            "label",
            "no-source",
            "summary-mode",
            "no-summary",
            "summary-export",
            "new-machine-readable-summary",
            "summary-trend-stats",
            "summary-time-unit",
            "threshold",
            "no-thresholds",
            "tag",
            "system-tags",
            "show-failures",
            "routes",
            "no-routes",
            "lateness-metric",
            "no-generator-metrics",
            "strict",
            "traces-output",
        ],
    ),
    ("Debugging", &["once", "http-debug", "throw", "console-output", "no-live"]),
    (
        "HTTP",
        &[
            "insecure-skip-tls-verify",
            "user-agent",
            "max-redirects",
            "batch",
            "batch-per-host",
            "no-connection-reuse",
            "no-vu-connection-reuse",
            "discard-response-bodies",
        ],
    ),
    ("Network", &["dns", "local-ips", "blacklist-ip", "block-hostnames"]),
    ("Start and end", &["paused", "linger", "repeat"]),
    ("Limits", &["workers", "max-body-size", "max-body-memory", "vu-memory"]),
    (
        "Several machines",
        &[
            "agents",
            "nats",
            "nats-creds",
            "nats-nkey",
            "nats-ca",
            "nats-cert",
            "nats-key",
            "pool",
            "run-id",
            "agents-wait",
            "agent-timeout",
            "leader-timeout",
            "on-agent-loss",
            "allow-lost",
            "agent-shares",
            "agent-tag",
            "execution-segment",
            "execution-segment-sequence",
        ],
    ),
    ("For compatibility with k6", &["features", "no-usage-report"]),
];

/// Adds the flags to a command, group by group, and `--help` behind them.
pub(crate) fn add(command: Command, flags: impl Iterator<Item = &'static Flag>) -> Command {
    let is_grouped = |flag: &&Flag| GROUPS.iter().any(|(_, names)| names.contains(&flag.long));
    let (grouped, others): (Vec<&Flag>, Vec<&Flag>) = flags.partition(is_grouped);
    let rows = GROUPS.iter().flat_map(|(heading, names)| {
        let named = names.iter().filter_map(|name| grouped.iter().find(|flag| flag.long == *name));
        named.map(|flag| flag.arg().help_heading(*heading))
    });
    let rows = rows.chain(others.into_iter().map(Flag::arg));
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help).help("Print help");
    // As in k6's parser, the last of a repeated flag wins.
    let command = command.args_override_self(true).args(rows);
    command.disable_help_flag(true).arg(help.help_heading("Help"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_flag_of_run_has_its_group_and_only_one() {
        let mut grouped = BTreeSet::new();
        for name in GROUPS.iter().flat_map(|(_, names)| names.iter()) {
            assert!(grouped.insert(*name), "--{name} is in two groups");
        }
        let known: BTreeSet<&str> = super::super::of_run().map(|flag| flag.long).collect();
        assert_eq!(grouped, known);
    }
}
