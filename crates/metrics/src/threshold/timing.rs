//! When a threshold is looked at, over which stretch of time, and how long it may be broken.

use std::fmt::{self, Write as _};
use std::time::Duration;

use brunt_duration::wait;

/// The keys of a threshold that k6 doesn't have. A threshold with none of them is judged as k6 judges it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Look at the values of the last so long, each second, instead of at all values so far.
    pub window: Option<Duration>,
    /// Don't look before this time of the scenarios is over.
    pub after: Option<Duration>,
    /// It is broken only if it stays so for this long. Scripts call it `for`.
    pub hold: Option<Duration>,
    /// The meaning of a look that finds no value.
    pub on_no_data: Option<NoData>,
    /// The exit code of a run that it fails, 1 to 125.
    pub exit_code: Option<u8>,
    /// Its name for people.
    pub name: Option<String>,
}

/// The meaning of a look that finds no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoData {
    /// The threshold is broken.
    Fail,
    /// The threshold holds.
    Pass,
    /// The look does not count.
    Ignore,
}

/// A word behind an expression that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct TimingError {
    /// Its key, such as `window`.
    pub key: String,
    /// The expected value and the given one.
    pub reason: String,
}

impl NoData {
    /// All of them by name.
    pub const ALL: [(&'static str, Self); 3] =
        [("fail", Self::Fail), ("pass", Self::Pass), ("ignore", Self::Ignore)];

    /// Reads `fail`, `pass` or `ignore`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(name, _)| *name == text).map(|(_, one)| one)
    }

    /// `fail`, `pass` or `ignore`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Pass => "pass",
            Self::Ignore => "ignore",
        }
    }
}

impl Timing {
    /// Looks come once a second, a little early or late: a time counts as passed this much before its end.
    pub const SLACK: Duration = Duration::from_millis(250);

    /// The shortest window: thresholds are looked at once a second.
    pub const WINDOW_MIN: Duration = Duration::from_secs(1);

    /// Whether none of the keys is there.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the threshold is looked at each second, and once broken stays broken. The others count as they are when
    /// the test ends, as in k6.
    pub fn is_in_time(&self) -> bool {
        self.window.is_some() || self.hold.is_some()
    }

    /// The meaning of a look: whether the threshold holds; none if the look does not count. `holds` says it of the values,
    /// or of there being none where that `counts`, as for a counter.
    pub fn meaning(&self, is_empty: bool, counts: bool, holds: bool) -> Option<bool> {
        match self.on_no_data.filter(|_| is_empty) {
            Some(NoData::Fail) => Some(false),
            Some(NoData::Pass) => Some(true),
            Some(NoData::Ignore) => None,
            None => (!is_empty || counts).then_some(holds),
        }
    }

    /// Sets what a word `key=value` says.
    ///
    /// # Errors
    /// The key is unknown, the value is none of its kind, or the key has a value already.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), TimingError> {
        let wrong = |reason: String| TimingError { key: key.to_owned(), reason };
        let time = || wait::parse(value).map_err(|error| wrong(format!("{error}, got {value:?}")));
        let is_twice = match key {
            "window" => self.window.replace(time()?).is_some(),
            "after" => self.after.replace(time()?).is_some(),
            "for" => self.hold.replace(time()?).is_some(),
            "onNoData" => {
                let read = NoData::parse(value).ok_or_else(|| {
                    wrong(format!("expected fail, pass or ignore, got {value:?}"))
                })?;
                self.on_no_data.replace(read).is_some()
            }
            "exitCode" => {
                let code = value.parse().ok().and_then(Self::exit_code);
                let code = code.ok_or_else(|| wrong(Self::not_an_exit_code(value)))?;
                self.exit_code.replace(code).is_some()
            }
            "name" => self.name.replace(value.to_owned()).is_some(),
            _ => return Err(wrong("there is no such key".to_owned())),
        };
        if is_twice { Err(wrong("it is there twice".to_owned())) } else { Ok(()) }
    }

    /// The number as an exit code of a threshold, if it may be one.
    pub fn exit_code(number: i64) -> Option<u8> {
        u8::try_from(number).ok().filter(|code| (1..=125).contains(code))
    }

    /// Says why `given` is no exit code.
    pub fn not_an_exit_code(given: impl fmt::Display) -> String {
        format!("expected an exit code from 1 to 125, got {given}")
    }

    /// Parts an expression from the words behind it: `p(95)<200 window=30s name="slow start"`.
    ///
    /// # Errors
    /// A word that can't be read.
    pub fn split(text: &str) -> Result<(&str, Self), TimingError> {
        let (expression, words) = Self::words(text);
        let mut timing = Self::default();
        for (key, value) in words {
            timing.set(key, value)?;
        }
        Ok((expression, timing))
    }

    /// The expression and the words `key=value` behind it, not yet read.
    ///
    /// The words are looked for from the end, as the expression may have blanks of its own: `p(95) <= 200 window=30s`. A
    /// word begins with letters and an equals sign that no other follows.
    pub fn words(text: &str) -> (&str, Vec<(&str, &str)>) {
        let mut words = Vec::new();
        let mut rest = text.trim();
        while let Some((before, key, value)) = last_word(rest) {
            words.push((key, value));
            rest = before;
        }
        words.reverse();
        (rest, words)
    }

    /// The words behind an expression, each with a blank before it.
    fn written(&self) -> String {
        let mut out = String::new();
        for (key, time) in [("window", self.window), ("after", self.after), ("for", self.hold)] {
            if let Some(time) = time {
                let _ = write!(out, " {key}={}", wait::format(time));
            }
        }
        if let Some(no_data) = self.on_no_data {
            let _ = write!(out, " onNoData={}", no_data.name());
        }
        if let Some(code) = self.exit_code {
            let _ = write!(out, " exitCode={code}");
        }
        if let Some(name) = &self.name {
            let quote = name.is_empty() || name.contains(char::is_whitespace);
            let quote = if quote { "\"" } else { "" };
            let _ = write!(out, " name={quote}{name}{quote}");
        }
        out
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.written())
    }
}

/// The text before the last word, and the word's key and value.
fn last_word(text: &str) -> Option<(&str, &str, &str)> {
    let quoted = text.strip_suffix('"').and_then(|inner| {
        let (head, value) = inner.rsplit_once('"')?;
        Some((head.strip_suffix('=')?, value))
    });
    let (head, value) = if let Some(found) = quoted {
        found
    } else {
        let start = text.rfind(char::is_whitespace)? + 1;
        let (key, value) = text[start..].split_once('=')?;
        (&text[..start + key.len()], value)
    };
    let start = head.rfind(char::is_whitespace)? + 1;
    let key = &head[start..];
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphabetic());
    (is_key && !value.starts_with('=')).then(|| (head[..start].trim_end(), key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn words_are_told_from_the_expression_before_them() {
        for (text, expression, count) in [
            ("p(95)<200", "p(95)<200", 0),
            ("p(95) <= 200", "p(95) <= 200", 0),
            ("rate==1", "rate==1", 0),
            ("rate ==1", "rate ==1", 0),
            ("rate == 1 window=5s", "rate == 1", 1),
            ("p(95)<200  window=30s for=10s ", "p(95)<200", 2),
            ("avg<1 name=\"slow start\" after=1m", "avg<1", 2),
        ] {
            let (found, words) = Timing::words(text);
            assert_eq!((found, words.len()), (expression, count), "{text}");
        }
    }

    #[test]
    fn words_are_read_and_written_back() {
        let text =
            "avg<1 window=30s after=1m0s for=10s onNoData=fail exitCode=7 name=\"slow start\"";
        let (expression, timing) = Timing::split(text).unwrap();
        assert_eq!(
            (timing.window, timing.after, timing.hold),
            (Some(seconds(30)), Some(seconds(60)), Some(seconds(10)))
        );
        assert_eq!((timing.on_no_data, timing.exit_code), (Some(NoData::Fail), Some(7)));
        assert_eq!(timing.name.as_deref(), Some("slow start"));
        assert_eq!(format!("{expression}{timing}"), text);
    }

    #[test]
    fn a_word_that_means_nothing_says_why() {
        let said = |text: &str| Timing::split(text).unwrap_err().to_string();
        insta::assert_snapshot!(
            ["avg<1 windw=3s", "avg<1 window=3", "avg<1 exitCode=126", "avg<1 onNoData=no", "avg<1 for=1s for=2s"]
                .map(said).join("\n"),
            @r#"
        windw: there is no such key
        window: the unit is missing: write it like 500ms, 1m30s or 2h, got "3"
        exitCode: expected an exit code from 1 to 125, got 126
        onNoData: expected fail, pass or ignore, got "no"
        for: it is there twice
        "#
        );
    }
}
