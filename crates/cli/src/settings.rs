//! Flags: what they mean. [`Given`] is what was written; this is what the commands work with.

use std::{collections::BTreeMap, path::PathBuf};

use brunt_outputs::TraceTarget;

use crate::{
    agents::LeadSettings,
    environment::Environment,
    failure::{Failure, Outcome},
    flags::{Given, given::parse_bool},
    logging::{Format, LogConfig, Output},
    repeat::Repeat,
};

/// The settings of every command.
#[derive(Debug, Clone)]
pub(crate) struct GlobalSettings {
    pub(crate) quiet: bool,
    /// Colours are allowed (whether there is a terminal, the screen knows).
    pub(crate) color: bool,
    /// `--config`: the file must exist.
    pub(crate) config: Option<PathBuf>,
    /// `--address`: where the REST API is, or is to be.
    pub(crate) address: Option<Address>,
    /// `--profiling-enabled`
    pub(crate) profiling: bool,
    pub(crate) log: LogConfig,
}

/// Where the REST API is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// `HOST:PORT`
    pub(crate) text: String,
    /// A flag says so: then a run can't do without it.
    pub(crate) is_flag: bool,
}

impl GlobalSettings {
    pub(crate) fn new(given: &Given, environment: &Environment) -> Outcome<Self> {
        let output = match given.get("log-output") {
            None => Output::Stderr,
            Some(value) => {
                let text = value.texts.last().map(String::as_str).unwrap_or_default();
                text.parse().map_err(Failure::usage)?
            }
        };
        let repeat = given.last("repeat").map(Repeat::parse).transpose()?;
        // https://no-color.org: present is enough; k6 also takes it when it is empty.
        let color = !given.is_on("no-color") && environment.get("NO_COLOR").is_none();
        Ok(Self {
            quiet: given.is_on("quiet"),
            color,
            config: given.last("config").map(PathBuf::from),
            address: given.get("address").and_then(|value| {
                let text = value.texts.last().filter(|text| !text.is_empty())?.clone();
                Some(Address { text, is_flag: value.on_command_line })
            }),
            profiling: given.is_on("profiling-enabled"),
            log: LogConfig {
                output,
                format: Format::parse(given.last("log-format").unwrap_or_default()),
                color,
                verbose: given.is_on("verbose"),
                soft: false,
                console_output: given
                    .last("console-output")
                    .filter(|path| !path.is_empty() && !repeat.is_some_and(Repeat::starts_others))
                    .map(|path| numbered(repeat, path)),
            },
        })
    }

    /// The settings until the flags are read.
    pub(crate) fn before_flags(environment: &Environment) -> Self {
        Self::new(&Given::default(), environment).expect("no flag can't be wrong")
    }
}

/// How to read a script: what `run` and `inspect` share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScriptSettings {
    /// The content of `__ENV`.
    pub(crate) env: BTreeMap<String, String>,
    /// The global `global` exists, if a flag says so or not.
    extended: Option<bool>,
    /// The flag says so by an old name.
    by_old_name: bool,
    /// `--type`.
    pub(crate) kind: FileType,
    /// Modules may come over the network.
    pub(crate) remote: bool,
    /// Libraries of jslib are those that are built in.
    pub(crate) libraries: bool,
    /// Thresholds are read and checked.
    pub(crate) thresholds: bool,
}

/// `--compatibility-mode` once stripped the types of TypeScript by this name.
const OLD_MODE: &str = "experimental_enhanced";

impl ScriptSettings {
    /// Whether the global `global` exists, if a flag says so. Warns of an old name; there is a log only after the flags are
    /// read.
    pub(crate) fn extended(&self) -> Option<bool> {
        if self.by_old_name {
            log::warn!(
                "CompatibilityMode \"{OLD_MODE}\" is deprecated: types of `.ts` files are always stripped; leave it out"
            );
        }
        self.extended
    }

    /// `system_env`: whether `__ENV` holds the environment unless a flag says otherwise.
    pub(crate) fn new(given: &Given, environment: &Environment, system_env: bool) -> Outcome<Self> {
        let mut env = BTreeMap::new();
        if given.switch("include-system-env-vars").unwrap_or(system_env) {
            env.clone_from(environment.all());
        }
        for text in given.all("env").iter().filter(|text| !text.is_empty()) {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, value),
                // `-e NAME` hands the variable through.
                None => (text.as_str(), environment.get(text).unwrap_or_default()),
            };
            if !is_variable_name(name) {
                return Err(Failure::usage(format!("invalid environment variable name '{name}'"))
                    .hint("a name is made of letters, digits and _, and starts with no digit"));
            }
            env.insert(name.to_owned(), value.to_owned());
        }
        let mode = given.last("compatibility-mode").unwrap_or("");
        let extended = match mode {
            "" => None,
            "extended" | OLD_MODE => Some(true),
            "base" => Some(false),
            other => {
                return Err(Failure::usage(format!("invalid compatibility mode \"{other}\""))
                    .hint("use extended or base"));
            }
        };
        let kind = match given.last("type").unwrap_or("") {
            "" => FileType::Auto,
            "js" => FileType::Script,
            "archive" => FileType::Archive,
            other => {
                return Err(Failure::usage(format!("unknown or unspecified test type '{other}'"))
                    .hint("use js or archive"));
            }
        };
        Ok(Self {
            env,
            extended,
            by_old_name: mode == OLD_MODE,
            kind,
            remote: !given.is_on("no-remote-modules"),
            libraries: !given.is_on("no-builtin-jslib"),
            thresholds: !given.is_on("no-thresholds"),
        })
    }
}

/// The kind of the file to run: `--type`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FileType {
    /// Its first bytes tell.
    #[default]
    Auto,
    Script,
    Archive,
}

fn is_variable_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// How the summary looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SummaryMode {
    Compact,
    Full,
    Legacy,
    Disabled,
}

/// The settings of `run` around the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunSettings {
    pub(crate) script: ScriptSettings,
    pub(crate) summary_mode: SummaryMode,
    /// `--summary-export`.
    pub(crate) summary_export: Option<PathBuf>,
    /// `--new-machine-readable-summary`.
    pub(crate) new_summary_shape: bool,
    /// `--out`; None if no flag and no variable says anything (the configuration file may).
    pub(crate) outputs: Option<Vec<String>>,
    /// `--ui`: where the live page is; empty is the usual place.
    pub(crate) ui: Option<String>,
    /// `--report`
    pub(crate) report: Option<PathBuf>,
    /// `--linger`, likewise.
    pub(crate) linger: Option<bool>,
    /// `--traces-output`
    pub(crate) traces: Option<TraceTarget>,
    /// Threads that carry VUs; at least 1.
    pub(crate) workers: Option<usize>,
    pub(crate) demo: bool,
    /// The screen is k6's: no live line of requests.
    pub(crate) no_live: bool,
    /// `--lateness-metric`: the metric that k6 does not have is shown where k6's are.
    pub(crate) lateness: bool,
    /// `--strict`: an invalid run has an exit code of its own.
    pub(crate) strict: bool,
    /// `--no-generator-metrics`
    pub(crate) no_generator_metrics: bool,
    /// `--no-routes`
    pub(crate) no_routes: bool,
    /// `--routes`
    pub(crate) routes: Option<PathBuf>,
    /// `--show-failures`: kinds of failures in the summary.
    pub(crate) show_failures: usize,
    /// Each scenario once, shown request by request.
    pub(crate) once: bool,
    /// `--label`
    pub(crate) labels: BTreeMap<String, String>,
    /// `--no-source`
    pub(crate) no_source: bool,
    /// `--repeat`
    pub(crate) repeat: Option<Repeat>,
    /// `--agents`: the load is made elsewhere.
    pub(crate) lead: Option<Box<LeadSettings>>,
}

/// More workers than this make no sense on any machine there is.
const MOST_WORKERS: usize = 1024;

impl RunSettings {
    pub(crate) fn new(given: &Given, environment: &Environment) -> Outcome<Self> {
        let mode = given.last("summary-mode").unwrap_or("compact");
        let mut summary_mode = match mode {
            "compact" | "" => SummaryMode::Compact,
            "full" => SummaryMode::Full,
            "legacy" => SummaryMode::Legacy,
            "disabled" => SummaryMode::Disabled,
            _ => {
                return Err(Failure::usage(format!("invalid summary mode \"{mode}\""))
                    .hint("use compact, full, legacy or disabled"));
            }
        };
        if given.is_on("no-summary") {
            summary_mode = SummaryMode::Disabled;
        }
        let workers = given.last("workers").map(workers).transpose()?;
        let repeat = given.last("repeat").map(Repeat::parse).transpose()?;
        Ok(Self {
            script: ScriptSettings::new(given, environment, true)?,
            summary_mode,
            summary_export: given
                .last("summary-export")
                .filter(|path| !path.is_empty())
                .map(|path| numbered(repeat, path)),
            new_summary_shape: given.is_on("new-machine-readable-summary"),
            outputs: given.get("out").map(|value| value.texts.clone()),
            ui: ui(given.last("ui")),
            report: given
                .last("report")
                .filter(|path| !path.is_empty())
                .map(|path| numbered(repeat, path)),
            linger: given.switch("linger"),
            traces: traces(given.last("traces-output"))?,
            workers,
            demo: given.is_on("demo"),
            no_live: given.is_on("no-live"),
            lateness: given.is_on("lateness-metric"),
            strict: given.is_on("strict"),
            no_generator_metrics: given.is_on("no-generator-metrics"),
            no_routes: given.is_on("no-routes"),
            routes: given.last("routes").filter(|path| !path.is_empty()).map(PathBuf::from),
            show_failures: show_failures(given.last("show-failures"))?,
            once: given.is_on("once"),
            labels: labels(given.all("label"))?,
            no_source: given.is_on("no-source"),
            repeat,
            lead: LeadSettings::read(given)?.map(Box::new),
        })
    }
}

/// `--workers`
pub(crate) fn workers(text: &str) -> Outcome<usize> {
    let count = text.parse().ok().filter(|count| (1..=MOST_WORKERS).contains(count));
    count.ok_or_else(|| {
        Failure::usage(format!(
            "invalid value \"{text}\" for --workers: expected 1 to {MOST_WORKERS}"
        ))
    })
}

/// A file that each of several runs writes has a name of its own for each.
fn numbered(repeat: Option<Repeat>, path: &str) -> PathBuf {
    repeat.map_or_else(|| PathBuf::from(path), |repeat| repeat.numbered(path.as_ref()))
}

/// `--ui`: an address, or a word that says yes (the usual address) or no.
fn ui(text: Option<&str>) -> Option<String> {
    let text = text?;
    match parse_bool(text) {
        Some(true) => Some(String::new()),
        Some(false) => None,
        None => Some(text.to_owned()),
    }
}

/// `--show-failures`
fn show_failures(text: Option<&str>) -> Outcome<usize> {
    /// More are for the page of a run.
    const MOST: usize = 100;
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(3) };
    text.parse().ok().filter(|count| *count <= MOST).ok_or_else(|| {
        Failure::usage(format!(
            "invalid value \"{text}\" for --show-failures: expected 0 to {MOST}"
        ))
    })
}

/// `--label KEY=VALUE`; of two with the same key the later one holds.
fn labels(texts: &[String]) -> Outcome<BTreeMap<String, String>> {
    let pair = |text: &String| match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Failure::usage(format!("invalid value \"{text}\" for --label"))
            .hint("write a key and a value, such as --label team=search")),
    };
    texts.iter().map(pair).collect()
}

/// `--traces-output`; without the flag there are none.
fn traces(text: Option<&str>) -> Outcome<Option<TraceTarget>> {
    text.map_or(Ok(None), TraceTarget::parse)
        .map_err(|why| Failure::usage(why).hint("use none or otel[=http://host:port][,proto=http]"))
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;
    use crate::flags::{add, global, of_run};

    fn given(line: &[&str], environment: &Environment) -> Given {
        let flags = || global::FLAGS.iter().chain(of_run());
        let command =
            add(Command::new("run").no_binary_name(true), flags()).arg(Arg::new("script"));
        let matches = command.try_get_matches_from(line).unwrap();
        Given::collect(flags(), &matches, environment).unwrap()
    }

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect()
    }

    fn run(line: &[&str], pairs: &[(&str, &str)]) -> Outcome<RunSettings> {
        let environment = environment(pairs);
        RunSettings::new(&given(line, &environment), &environment)
    }

    #[test]
    fn the_script_sees_the_environment_and_the_flags_above_it() {
        let settings = run(
            &["-e", "A=1=2", "--env", "HOME=/x", "-e", "B", "s"],
            &[("HOME", "/h"), ("B", "b")],
        );
        let env = settings.unwrap().script.env;
        assert_eq!((&*env["A"], &*env["HOME"], &*env["B"]), ("1=2", "/x", "b"));
        let settings = run(&["--include-system-env-vars=false", "s"], &[("HOME", "/h")]).unwrap();
        assert!(settings.script.env.is_empty());
    }

    #[test]
    fn wrong_values_are_named_with_what_would_be_right() {
        for (line, message) in [
            (["-e", "1=2"], "invalid environment variable name '1'"),
            (["--summary-mode", "zz"], "invalid summary mode \"zz\""),
            (["--compatibility-mode", "x"], "invalid compatibility mode \"x\""),
            (["--workers", "0"], "invalid value \"0\" for --workers: expected 1 to 1024"),
        ] {
            let failure = run(&line, &[]).unwrap_err();
            assert_eq!((failure.message().as_str(), failure.exit.code()), (message, 255));
        }
    }

    #[test]
    fn old_flags_of_v1_still_work() {
        let settings = run(&["--no-summary", "--no-usage-report"], &[]).unwrap();
        assert_eq!(settings.summary_mode, SummaryMode::Disabled);
        let settings = run(&["--summary-mode=legacy"], &[]).unwrap();
        assert_eq!(settings.summary_mode, SummaryMode::Legacy);
    }

    #[test]
    fn no_color_counts_even_when_empty() {
        let environment = environment(&[("NO_COLOR", "")]);
        assert!(!GlobalSettings::before_flags(&environment).color);
        assert!(GlobalSettings::before_flags(&Environment::default()).color);
    }
}
