//! Flags as the user wrote them; `settings` interprets them.
//!
//! Each flag is one row of a table in [`global`], [`option`] or [`runtime`]: its name, its letter, its
//! environment variable, its help and its fate. The parser, the help pages and the shell completion are
//! made from these rows; [`groups`] orders the help pages. [`Given`] holds the values that were written.

use clap::{Arg, ArgAction};

pub(crate) mod given;
pub(crate) mod global;
mod groups;
pub(crate) mod option;
pub(crate) mod runtime;
mod usage;

pub(crate) use self::{given::Given, groups::add, usage::usage_failure};

/// One flag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flag {
    /// Without the dashes.
    pub(crate) long: &'static str,
    /// Its one-letter form.
    pub(crate) short: Option<char>,
    /// Its value.
    pub(crate) takes: Takes,
    /// Its environment variable without `K6_`; `BRUNT_` works as well.
    pub(crate) env: Option<&'static str>,
    /// One sentence.
    pub(crate) help: &'static str,
    /// Its effect.
    pub(crate) fate: Fate,
}

/// The value of a flag. All forms of k6's parser work: `--vus 5`, `--vus=5`, `-u5`, `-u=5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing, or `=true`, `=false`.
    Nothing,
    /// A value; the last one written wins.
    One(&'static str),
    /// A value, and it may be repeated.
    Many(&'static str),
    /// Nothing, or `=value`.
    Maybe {
        /// The value's name in help.
        name: &'static str,
        /// The value of the bare flag.
        bare: &'static str,
    },
}

/// The effect of a flag. No flag is ignored in silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It sets the option of this name, which scripts, configuration and environment can set too.
    Option(&'static str),
    /// `cli` itself acts on it.
    Runtime,
    /// It is understood, and there is nothing to do.
    Nothing,
}

impl Flag {
    /// A switch that `cli` acts on.
    const fn switch(long: &'static str, help: &'static str) -> Self {
        Self { long, short: None, takes: Takes::Nothing, env: None, help, fate: Fate::Runtime }
    }

    /// A flag with a value that `cli` acts on.
    const fn value(long: &'static str, name: &'static str, help: &'static str) -> Self {
        Self { long, short: None, takes: Takes::One(name), env: None, help, fate: Fate::Runtime }
    }

    const fn short(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }

    const fn env(mut self, name: &'static str) -> Self {
        self.env = Some(name);
        self
    }

    const fn many(mut self) -> Self {
        if let Takes::One(name) = self.takes {
            self.takes = Takes::Many(name);
        }
        self
    }

    const fn fate(mut self, fate: Fate) -> Self {
        self.fate = fate;
        self
    }

    const fn sets(self, option: &'static str) -> Self {
        self.fate(Fate::Option(option))
    }

    /// The flag as clap wants it.
    pub(crate) fn arg(&self) -> Arg {
        let mut help = self.help.to_owned();
        if let Some(env) = self.env {
            // A list below the sentence stays below the variable, too.
            let end = help.find('\n').unwrap_or(help.len());
            help.insert_str(end, &format!(" [env: K6_{env}]"));
        }
        // Lines of help break elsewhere.
        let help = help.replace("[env: ", "[env:\u{a0}").replace("[default: ", "[default:\u{a0}");
        let mut arg = Arg::new(self.long).long(self.long).help(help);
        if let Some(letter) = self.short {
            arg = arg.short(letter);
        }
        match self.takes {
            Takes::Nothing => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_name("BOOL")
                .hide_possible_values(true)
                .action(ArgAction::Set),
            Takes::One(name) => {
                arg.value_name(name).allow_hyphen_values(true).action(ArgAction::Set)
            }
            Takes::Many(name) => {
                arg.value_name(name).allow_hyphen_values(true).action(ArgAction::Append)
            }
            Takes::Maybe { name, bare } => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(bare)
                .value_name(name)
                .action(ArgAction::Set),
        }
    }
}

/// The flags of `brunt run`, global ones apart.
pub(crate) fn of_run() -> impl Iterator<Item = &'static Flag> {
    of_one_machine().chain(runtime::LEADER).chain(runtime::BROKER)
}

/// The flags of `brunt run` for a test in this process.
fn of_one_machine() -> impl Iterator<Item = &'static Flag> {
    option::FLAGS.iter().chain(runtime::FLAGS).chain(runtime::RUN_ONLY)
}

/// The flags of `brunt run` that make sense with `--agents` alone.
pub(crate) fn of_leader() -> impl Iterator<Item = &'static Flag> {
    let beside = |flag: &&Flag| flag.long != "agents";
    runtime::BROKER.iter().chain(runtime::LEADER.iter().filter(beside))
}

/// The flags of `brunt agent`, global and its own apart.
pub(crate) fn of_agent() -> impl Iterator<Item = &'static Flag> {
    let workers = |flag: &&Flag| flag.long == "workers";
    runtime::BROKER.iter().chain(runtime::RUN_ONLY.iter().filter(workers))
}

/// Flags of `brunt run` that `brunt find` does not have: the search decides the load, and tells its own summary.
const NOT_OF_FIND: [&str; 24] = [
    "vus",
    "duration",
    "iterations",
    "stage",
    "execution-segment",
    "execution-segment-sequence",
    "paused",
    "no-thresholds",
    "summary-mode",
    "no-summary",
    "summary-export",
    "new-machine-readable-summary",
    "summary-trend-stats",
    "summary-time-unit",
    "show-failures",
    "strict",
    "lateness-metric",
    "traces-output",
    "linger",
    "repeat",
    "once",
    "http-debug",
    "no-live",
    "no-usage-report",
];

/// The flags of `brunt find` that `brunt run` has, too.
pub(crate) fn of_find() -> impl Iterator<Item = &'static Flag> {
    of_one_machine().filter(|flag| !NOT_OF_FIND.contains(&flag.long))
}

/// Flags of `brunt run` alone that change what `brunt archive` does, too.
const ALSO_OF_ARCHIVE: [&str; 3] = ["features", "scenario", "set"];

/// Flags of `brunt run` that say nothing about a test as it is archived. `brunt archive` takes them with a warning: the
/// k6-operator hands one line of flags to both commands.
const BESIDE_ARCHIVE: [&str; 13] = [
    "console-output",
    "ui",
    "report",
    "workers",
    "no-live",
    "lateness-metric",
    "no-generator-metrics",
    "strict",
    "no-routes",
    "routes",
    "show-failures",
    "label",
    "no-source",
];

/// The flags of `brunt archive`, global ones apart.
pub(crate) fn of_archive() -> impl Iterator<Item = &'static Flag> {
    let own = runtime::RUN_ONLY.iter().filter(|flag| ALSO_OF_ARCHIVE.contains(&flag.long));
    option::FLAGS.iter().chain(runtime::FLAGS).chain(own)
}

/// The flags that `brunt archive` takes with a warning.
pub(crate) fn beside_archive() -> impl Iterator<Item = &'static Flag> {
    runtime::RUN_ONLY.iter().filter(|flag| BESIDE_ARCHIVE.contains(&flag.long))
}

/// The flags of `brunt inspect`, global ones apart.
pub(crate) fn of_inspect() -> impl Iterator<Item = &'static Flag> {
    runtime::FLAGS.iter()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_flags_share_a_name_or_a_letter() {
        let mut names = BTreeSet::new();
        let mut letters = BTreeSet::from(['h', 'V']);
        for flag in global::FLAGS.iter().chain(of_run()) {
            assert!(names.insert(flag.long), "--{} twice", flag.long);
            if let Some(letter) = flag.short {
                assert!(letters.insert(letter), "-{letter} twice");
            }
        }
    }

    /// k6 2.2: `optionFlagSet`, `runtimeOptionFlagSet` and its own two.
    #[test]
    fn every_flag_of_k6_archive_is_known() {
        let k6 = "vus duration iterations stage execution-segment execution-segment-sequence paused \
                  no-setup no-teardown max-redirects batch batch-per-host rps user-agent http-debug \
                  insecure-skip-tls-verify no-connection-reuse no-vu-connection-reuse \
                  min-iteration-duration throw blacklist-ip block-hostnames summary-trend-stats \
                  summary-time-unit system-tags tag console-output discard-response-bodies local-ips \
                  dns include-system-env-vars compatibility-mode type env no-thresholds summary-mode \
                  summary-export new-machine-readable-summary traces-output";
        let ours: BTreeSet<&str> = of_archive().map(|flag| flag.long).collect();
        for name in k6.split_whitespace() {
            let is_known = ours.contains(name) || BESIDE_ARCHIVE.contains(&name);
            assert!(is_known, "--{name} is not known");
        }
        assert_eq!(of_archive().count(), ours.len(), "a flag is there twice");
        assert_eq!(beside_archive().count(), BESIDE_ARCHIVE.len());
        assert!(beside_archive().all(|flag| !ours.contains(flag.long)));
    }

    #[test]
    fn every_flag_of_k6_run_is_known() {
        // k6 2.2 and the ones of v1 that old CI scripts still pass.
        let k6 = "address config log-output log-format no-color verbose quiet secret-source \
                  profiling-enabled vus duration iterations stage execution-segment \
                  execution-segment-sequence paused no-setup no-teardown max-redirects batch \
                  batch-per-host rps user-agent http-debug insecure-skip-tls-verify \
                  no-connection-reuse no-vu-connection-reuse min-iteration-duration throw \
                  blacklist-ip block-hostnames summary-trend-stats summary-time-unit system-tags \
                  tag console-output discard-response-bodies local-ips dns \
                  include-system-env-vars compatibility-mode type env no-thresholds summary-mode \
                  summary-export new-machine-readable-summary traces-output out linger \
                  no-usage-report features no-summary";
        let ours: BTreeSet<&str> =
            global::FLAGS.iter().chain(of_run()).map(|flag| flag.long).collect();
        for name in k6.split_whitespace() {
            assert!(ours.contains(name), "--{name} is not known");
        }
    }
}
