//! The values of flags from the command line, and from the environment where no flag was written.

use std::collections::HashMap;

use clap::{ArgMatches, parser::ValueSource};

use super::{Fate, Flag, Takes};
use crate::{
    environment::Environment,
    failure::{Failure, Outcome},
};

/// The values of all flags that were given, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    flags: HashMap<&'static str, Value>,
}

/// The value of a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    /// One text for each time it was written.
    pub(crate) texts: Vec<String>,
    /// `--vus`, or `K6_VUS`: for messages.
    pub(crate) said_as: String,
    /// The effect of the flag.
    pub(crate) fate: Fate,
    /// It stood on the command line, not in the environment.
    pub(crate) on_command_line: bool,
}

impl Given {
    /// Collects the values of `flags`. Options are taken from the command line alone: the
    /// environment is a layer of its own, below.
    ///
    /// # Errors
    /// A switch whose value is neither true nor false.
    pub(crate) fn collect(
        flags: impl Iterator<Item = &'static Flag>,
        matches: &ArgMatches,
        environment: &Environment,
    ) -> Outcome<Self> {
        let mut given = Self::default();
        for flag in flags {
            let Some(value) = read(flag, matches, environment) else {
                continue;
            };
            if flag.takes == Takes::Nothing {
                for text in &value.texts {
                    // To k6 these two are options of the configuration, and the others are not.
                    let is_option =
                        matches!(flag.long, "linger" | "no-usage-report") && !value.on_command_line;
                    let strict = |_: &bool| !is_option || matches!(&**text, "true" | "false");
                    parse_bool(text).filter(strict).ok_or_else(|| {
                        let name = &value.said_as;
                        let problem =
                            format!("invalid value \"{text}\" for {name}: expected true or false");
                        if is_option { Failure::config(problem) } else { Failure::usage(problem) }
                    })?;
                }
            }
            given.flags.insert(flag.long, value);
        }
        Ok(given)
    }

    /// The value of the flag, if it has one.
    pub(crate) fn get(&self, long: &str) -> Option<&Value> {
        self.flags.get(long)
    }

    /// The last value of a flag.
    pub(crate) fn last(&self, long: &str) -> Option<&str> {
        self.get(long)?.texts.last().map(String::as_str)
    }

    /// All values of a flag.
    pub(crate) fn all(&self, long: &str) -> &[String] {
        self.get(long).map_or(&[], |value| &value.texts)
    }

    /// A switch, if it was given.
    pub(crate) fn switch(&self, long: &str) -> Option<bool> {
        // `collect` has refused what is no boolean.
        self.last(long).and_then(parse_bool)
    }

    /// A switch that is off if it was not given.
    pub(crate) fn is_on(&self, long: &str) -> bool {
        self.switch(long).unwrap_or(false)
    }

    /// The flags that set options: (option, texts).
    pub(crate) fn options(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.flags.values().filter_map(|value| match value.fate {
            Fate::Option(option) => Some((option, value)),
            _ => None,
        })
    }
}

/// Where k6 takes an empty variable for a value, and a wrong one; elsewhere it is as if it were not there.
const EMPTY_IS_WRONG: [&str; 7] = [
    "config",
    "include-system-env-vars",
    "log-output",
    "new-machine-readable-summary",
    "no-thresholds",
    "secret-source",
    "traces-output",
];

fn read(flag: &Flag, matches: &ArgMatches, environment: &Environment) -> Option<Value> {
    let written = matches.value_source(flag.long) == Some(ValueSource::CommandLine);
    if written {
        let texts = matches.get_many::<String>(flag.long)?.cloned().collect();
        let said_as = format!("--{}", flag.long);
        return Some(Value { texts, said_as, fate: flag.fate, on_command_line: true });
    }
    if matches!(flag.fate, Fate::Option(_)) {
        return None;
    }
    let name = flag.env?;
    let empty = || {
        let whole = format!("K6_{name}");
        let text = environment.get(&whole).filter(|_| EMPTY_IS_WRONG.contains(&flag.long))?;
        Some((whole, text))
    };
    let (said_as, text) = environment.setting(name).or_else(empty)?;
    let texts = match flag.long {
        // k6 looks only whether these are there.
        "no-color" | "profiling-enabled" => vec!["true".to_owned()],
        _ => vec![text.to_owned()],
    };
    Some(Value { texts, said_as, fate: flag.fate, on_command_line: false })
}

/// The words that Go takes for a boolean.
pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::{
        super::{add, global, of_run},
        *,
    };

    fn parse(line: &str, environment: &[(&str, &str)]) -> Outcome<Given> {
        let flags = || global::FLAGS.iter().chain(of_run());
        let command =
            add(Command::new("run").no_binary_name(true), flags()).arg(clap::Arg::new("script"));
        let matches = command.try_get_matches_from(line.split_whitespace()).unwrap();
        let environment: Environment =
            environment.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        Given::collect(flags(), &matches, &environment)
    }

    #[test]
    fn all_spellings_of_a_flag_work_and_the_last_wins() {
        for line in ["--vus 5 s.js", "s.js --vus=5", "-u5 s.js", "-u=5 s.js", "-u 1 s.js -u 5"] {
            assert_eq!(parse(line, &[]).unwrap().last("vus"), Some("5"), "{line}");
        }
        assert_eq!(parse("--max-redirects -1 s", &[]).unwrap().last("max-redirects"), Some("-1"));
        let all = parse("-e A=1 s.js -e B=2", &[]).unwrap();
        assert_eq!(all.all("env"), ["A=1", "B=2"]);
    }

    #[test]
    fn switches_take_a_value_only_after_an_equals_sign() {
        let given = parse("-qv --throw=false s.js", &[]).unwrap();
        assert_eq!(given.switch("quiet"), Some(true));
        assert_eq!(given.switch("verbose"), Some(true));
        assert_eq!(given.switch("throw"), Some(false));
        assert_eq!(given.switch("linger"), None);
        let error = parse("--throw=maybe s.js", &[]).unwrap_err();
        assert_eq!(error.message(), "invalid value \"maybe\" for --throw: expected true or false");
    }

    #[test]
    fn a_flag_beats_its_variable_and_options_are_left_to_their_layer() {
        let environment = [("K6_SUMMARY_MODE", "full"), ("K6_VUS", "9"), ("BRUNT_LINGER", "true")];
        let given = parse("s.js", &environment).unwrap();
        assert_eq!(given.last("summary-mode"), Some("full"));
        assert_eq!(given.get("vus"), None);
        assert!(given.is_on("linger"));
        let given = parse("s.js --summary-mode compact", &environment).unwrap();
        assert_eq!(given.last("summary-mode"), Some("compact"));
    }
}
