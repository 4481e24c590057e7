//! Flags as Go's `flag` package reads them: `-name value`, `-name=value`, either with two dashes.
//!
//! A switch takes its value only behind `=`. Flags end at the first other word, or at `--`. Errors are
//! told in Go's words, because scripts around vegeta look for them.

use std::fmt::Write as _;

use brunt_duration as duration;

use crate::page::{self, wrapped};

/// The beginning of the message about an unknown flag; its name follows.
pub(crate) const UNDEFINED: &str = "flag provided but not defined: -";

/// The flags of one command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlagSet {
    /// The command, such as `attack`.
    pub(crate) command: &'static str,
    /// The words that may follow the flags, such as `[FILE...]`.
    pub(crate) files: &'static str,
    /// One sentence about the command.
    pub(crate) about: &'static str,
    /// Calls of it, most used first.
    pub(crate) examples: &'static [&'static str],
    /// In the order of the help page.
    pub(crate) flags: &'static [Flag],
}

/// One flag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flag {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    /// As the user would write it.
    pub(crate) default: &'static str,
    pub(crate) help: &'static str,
}

/// The value of a flag.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Takes {
    /// Nothing, or `=true`, `=false`.
    Switch,
    Int,
    Uint,
    /// Nanoseconds in an `i64`.
    Duration,
    Text,
    /// A text that `check` accepts; its error ends the message otherwise.
    Checked {
        kind: &'static str,
        check: fn(&str) -> Result<(), String>,
    },
    /// The same, and each occurrence counts.
    Many {
        kind: &'static str,
        check: fn(&str) -> Result<(), String>,
    },
}

impl Flag {
    pub(crate) const fn new(
        name: &'static str,
        takes: Takes,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self { name, takes, default, help }
    }

    /// The value's name in help.
    fn kind(&self) -> &'static str {
        match self.takes {
            Takes::Switch => "",
            Takes::Int => "int",
            Takes::Uint => "uint",
            Takes::Duration => "duration",
            Takes::Text => "string",
            Takes::Checked { kind, .. } | Takes::Many { kind, .. } => kind,
        }
    }

    fn check(&self, value: &str) -> Result<(), String> {
        let plain = |ok: bool| if ok { Ok(()) } else { Err("parse error".to_owned()) };
        match self.takes {
            Takes::Switch => plain(switch(value).is_some()),
            Takes::Int => int(value).map(|_| ()),
            Takes::Uint => uint(value).map(|_| ()),
            Takes::Duration => plain(duration::parse(value).is_ok()),
            Takes::Text => Ok(()),
            Takes::Checked { check, .. } | Takes::Many { check, .. } => check(value),
        }
    }
}

/// Why there are no values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FlagError {
    /// The user asked for help: print it on stdout, exit 0.
    Help,
    /// The command line is wrong: print this on stderr, exit 2.
    Wrong(String),
}

/// The values that were written, checked.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    flags: &'static [Flag],
    /// Each flag that was written, with its values; at most as long as the command line.
    written: Vec<(&'static str, String)>,
    /// The words behind the flags.
    pub(crate) files: Vec<String>,
}

impl FlagSet {
    /// Reads the words behind the command.
    ///
    /// # Errors
    /// They are wrong, or ask for help.
    pub(crate) fn parse(&self, words: &[String]) -> Result<Values, FlagError> {
        let mut written = Vec::new();
        let mut rest = words;
        while let [word, behind @ ..] = rest {
            if word == "--" {
                rest = behind;
                break;
            }
            let Some(text) = word.strip_prefix('-').filter(|text| !text.is_empty()) else { break };
            let text = text.strip_prefix('-').unwrap_or(text);
            if text.is_empty() || text.starts_with(['-', '=']) {
                return Err(FlagError::Wrong(format!("bad flag syntax: {word}")));
            }
            rest = behind;
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            let Some(flag) = self.flags.iter().find(|flag| flag.name == name) else {
                return Err(match name {
                    "h" | "help" => FlagError::Help,
                    _ => FlagError::Wrong(format!("{UNDEFINED}{name}")),
                });
            };
            let is_switch = matches!(flag.takes, Takes::Switch);
            let value = match (value, rest) {
                (Some(value), _) => value,
                (None, _) if is_switch => "true",
                (None, [value, behind @ ..]) => {
                    rest = behind;
                    value
                }
                (None, []) => {
                    return Err(FlagError::Wrong(format!("flag needs an argument: -{name}")));
                }
            };
            flag.check(value).map_err(|why| {
                let kind = if is_switch { "invalid boolean value" } else { "invalid value" };
                let what = if is_switch { "" } else { "flag " };
                FlagError::Wrong(format!("{kind} {value:?} for {what}-{name}: {why}"))
            })?;
            written.push((flag.name, value.to_owned()));
        }
        Ok(Values { flags: self.flags, written, files: rest.to_vec() })
    }

    /// The page of help, as wide as the terminal.
    pub(crate) fn help(&self) -> String {
        self.page(page::width())
    }

    /// The page of help in lines of at most `width` columns, where words allow.
    fn page(&self, width: usize) -> String {
        let Self { command, files, about, .. } = self;
        let gap = if files.is_empty() { "" } else { " " };
        let mut page = wrapped(about, "", width);
        let _ = write!(page, "\nUsage: brunt {command} [flags]{gap}{files}\n\nExamples:\n");
        for example in self.examples {
            let _ = writeln!(page, "  {example}");
        }
        page.push_str("\nFlags:\n");
        for flag in self.flags {
            let kind = flag.kind();
            let gap = if kind.is_empty() { "" } else { " " };
            let default = match (flag.takes, flag.default) {
                (_, "") => String::new(),
                (Takes::Uint, UINT_MAX) => " (default: no limit)".to_owned(),
                (Takes::Text, default) => format!(" (default {default:?})"),
                (_, default) => format!(" (default {default})"),
            };
            let _ = writeln!(page, "  -{}{gap}{kind}", flag.name);
            page.push_str(&wrapped(&format!("{}{default}", flag.help), "        ", width));
        }
        page.push('\n');
        let globals = format!(
            "Global options go before the command: brunt -q {command}. `brunt --help` lists them, and tells of -cpus, which \
             limits the cores."
        );
        page.push_str(&wrapped(&globals, "", width));
        page::fitted(&page, width)
    }
}

/// The default of a limit: there is no limit.
const UINT_MAX: &str = "18446744073709551615";

impl Values {
    /// The last value that was written, or the default.
    pub(crate) fn text(&self, name: &str) -> &str {
        let written = self.written.iter().rev().find(|(written, _)| *written == name);
        written.map_or_else(|| self.default_of(name), |(_, value)| value)
    }

    /// Whether it was written.
    pub(crate) fn is_written(&self, name: &str) -> bool {
        self.written.iter().any(|(written, _)| *written == name)
    }

    /// Every value that was written, in order.
    pub(crate) fn texts(&self, name: &str) -> Vec<&str> {
        let of_flag = self.written.iter().filter(|(written, _)| *written == name);
        of_flag.map(|(_, value)| value.as_str()).collect()
    }

    pub(crate) fn switch(&self, name: &str) -> bool {
        switch(self.text(name)).expect("it was checked when it was read")
    }

    pub(crate) fn int(&self, name: &str) -> i64 {
        int(self.text(name)).expect("it was checked when it was read")
    }

    pub(crate) fn uint(&self, name: &str) -> u64 {
        uint(self.text(name)).expect("it was checked when it was read")
    }

    /// Nanoseconds.
    pub(crate) fn duration(&self, name: &str) -> i64 {
        duration::parse(self.text(name)).expect("it was checked when it was read")
    }

    fn default_of(&self, name: &str) -> &'static str {
        let flag = self.flags.iter().find(|flag| flag.name == name);
        flag.expect("only flags of the table are asked for").default
    }
}

/// A boolean of Go.
fn switch(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn int(text: &str) -> Result<i64, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude = i128::from(uint(digits)?);
    let value = if negative { -magnitude } else { magnitude };
    i64::try_from(value).map_err(|_| "value out of range".to_owned())
}

/// Digits in the base that their prefix says, as in Go's source; `_` may stand between them.
fn uint(text: &str) -> Result<u64, String> {
    let (base, digits) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &text[2..]),
        [b'0', b'o' | b'O', ..] => (8, &text[2..]),
        [b'0', b'b' | b'B', ..] => (2, &text[2..]),
        [b'0', _, ..] => (8, &text[1..]),
        _ => (10, text),
    };
    let underscores = digits.contains('_') && base != 10;
    let digits = if underscores { digits.replace('_', "") } else { digits.to_owned() };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return Err("parse error".to_owned());
    }
    u64::from_str_radix(&digits, base).map_err(|_| "value out of range".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(text: &str) -> Result<(), String> {
        if text.len().is_multiple_of(2) { Ok(()) } else { Err(format!("{text} is odd")) }
    }

    const SET: FlagSet = FlagSet {
        command: "x",
        files: "[FILE...]",
        about: "Tries flags.",
        examples: &["brunt x -lazy"],
        flags: &[
            Flag::new("lazy", Takes::Switch, "false", "Read targets lazily"),
            Flag::new("keepalive", Takes::Switch, "true", "Keep connections"),
            Flag::new("redirects", Takes::Int, "10", "Follow N"),
            Flag::new("workers", Takes::Uint, "10", "Start with N"),
            Flag::new("every", Takes::Duration, "0s", "Report each time"),
            Flag::new("output", Takes::Text, "stdout", "Write here"),
            Flag::new("pair", Takes::Checked { kind: "pair", check: even }, "", "An even text"),
            Flag::new("header", Takes::Many { kind: "value", check: even }, "", "A header"),
        ],
    };

    fn parsed(line: &str) -> Result<Values, FlagError> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        SET.parse(&words)
    }

    #[test]
    fn one_dash_and_two_and_both_ways_to_give_a_value() {
        for line in ["-redirects 5", "-redirects=5", "--redirects 5", "--redirects=5"] {
            assert_eq!(parsed(line).unwrap().int("redirects"), 5, "{line}");
        }
        let values = parsed("-redirects -1 -every=1m30s -output= -redirects=0x10").unwrap();
        assert_eq!(values.int("redirects"), 16);
        assert_eq!(values.duration("every"), 90_000_000_000);
        assert_eq!(values.text("output"), "");
        assert_eq!(values.uint("workers"), 10);
    }

    #[test]
    fn a_switch_never_takes_the_next_word() {
        let values = parsed("-lazy -keepalive=f false").unwrap();
        assert!(values.switch("lazy") && !values.switch("keepalive"));
        assert_eq!(values.files, ["false"]);
        assert!(!parsed("-lazy=0").unwrap().switch("lazy"));
    }

    #[test]
    fn flags_end_at_the_first_other_word() {
        assert_eq!(parsed("-lazy a -lazy").unwrap().files, ["a", "-lazy"]);
        assert_eq!(parsed("-lazy -- -lazy").unwrap().files, ["-lazy"]);
        assert_eq!(parsed("- -lazy").unwrap().files, ["-", "-lazy"]);
        assert!(parsed("").unwrap().files.is_empty());
    }

    #[test]
    fn repeated_flags_are_kept_in_order() {
        let values = parsed("-header aa -header=bb -header cc").unwrap();
        assert_eq!(values.texts("header"), ["aa", "bb", "cc"]);
        assert!(values.texts("output").is_empty());
    }

    #[test]
    fn what_is_wrong_is_told_in_gos_words() {
        for (line, said) in [
            ("-nope", "flag provided but not defined: -nope"),
            ("--nope=3", "flag provided but not defined: -nope"),
            ("-redirects", "flag needs an argument: -redirects"),
            ("-redirects x", "invalid value \"x\" for flag -redirects: parse error"),
            (
                "-workers 99999999999999999999",
                "invalid value \"99999999999999999999\" for flag -workers: value out of range",
            ),
            ("-workers -1", "invalid value \"-1\" for flag -workers: parse error"),
            ("-every 5", "invalid value \"5\" for flag -every: parse error"),
            ("-lazy=maybe", "invalid boolean value \"maybe\" for -lazy: parse error"),
            ("-pair abc", "invalid value \"abc\" for flag -pair: abc is odd"),
            ("---x", "bad flag syntax: ---x"),
            ("-=x", "bad flag syntax: -=x"),
        ] {
            assert_eq!(parsed(line).unwrap_err(), FlagError::Wrong(said.to_owned()), "{line}");
        }
        for line in ["-h", "-help", "--help", "-lazy --h"] {
            assert_eq!(parsed(line).unwrap_err(), FlagError::Help, "{line}");
        }
    }

    #[test]
    fn help_shows_kinds_and_defaults_in_lines_that_fit() {
        let page = SET.page(80);
        let head = "Tries flags.\n\nUsage: brunt x [flags] [FILE...]\n\nExamples:\n  brunt x -lazy\n\nFlags:\n";
        assert!(page.starts_with(head), "{page}");
        for part in [
            "  -lazy\n        Read targets lazily (default false)\n",
            "  -keepalive\n        Keep connections (default true)\n",
            "  -redirects int\n        Follow N (default 10)\n",
            "  -every duration\n        Report each time (default 0s)\n",
            "  -output string\n        Write here (default \"stdout\")\n",
            "  -header value\n        A header\n",
        ] {
            assert!(page.contains(part), "{page}");
        }
        let page = SET.page(20);
        assert!(page.contains("        Read targets\n        lazily\n"), "{page}");
    }
}
