//! The parts of a run that a user sees.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::{Value, json};

/// The outcome of a run, without times, sizes, ports and folders.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// The exit code; −1 if it had to be killed.
    pub exit: i64,
    /// `level: message` of each console line.
    pub console: Vec<String>,
    /// Uncaught exceptions, with their stack traces.
    pub exceptions: Vec<String>,
    /// Passes and fails of each check.
    pub checks: BTreeMap<String, (u64, u64)>,
    /// The number of samples of each metric, but for those that depend on the clock.
    pub metrics: BTreeMap<String, u64>,
    /// The lines of stdout, if the script prints its own summary.
    pub stdout: Option<Vec<String>>,
    /// Why this is not what k6 1.8 answers: written by hand.
    pub why: Option<String>,
}

impl Observation {
    /// Reads the form that [`Self::print`] writes.
    ///
    /// # Errors
    /// If it is no JSON of that shape.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let value: Value = serde_json::from_str(text)?;
        let lines = |name: &str| -> Option<Vec<String>> {
            let lines = value.get(name)?.as_array()?;
            Some(lines.iter().filter_map(|line| line.as_str().map(str::to_owned)).collect())
        };
        let counts = |name: &str| value.get(name).and_then(Value::as_object).into_iter().flatten();
        let pair = |value: &Value| Some((value.get(0)?.as_u64()?, value.get(1)?.as_u64()?));
        Ok(Self {
            exit: value["exit"].as_i64().context("no exit code")?,
            console: lines("console").unwrap_or_default(),
            exceptions: lines("exceptions").unwrap_or_default(),
            checks: counts("checks")
                .filter_map(|(name, value)| Some((name.clone(), pair(value)?)))
                .collect(),
            metrics: counts("metrics")
                .filter_map(|(name, value)| Some((name.clone(), value.as_u64()?)))
                .collect(),
            stdout: lines("stdout"),
            why: value["why"].as_str().map(str::to_owned),
        })
    }

    /// Indented JSON with a line feed at its end. Empty members are left out.
    pub fn print(&self) -> String {
        let mut value = json!({ "exit": self.exit });
        let mut put = |name: &str, part: Value, empty: bool| {
            if !empty {
                value[name] = part;
            }
        };
        put("console", json!(self.console), self.console.is_empty());
        put("exceptions", json!(self.exceptions), self.exceptions.is_empty());
        put("checks", json!(self.checks), self.checks.is_empty());
        put("metrics", json!(self.metrics), self.metrics.is_empty());
        put("stdout", json!(self.stdout), self.stdout.is_none());
        put("why", json!(self.why), self.why.is_none());
        format!("{value:#}\n")
    }

    /// The differences of `seen` from this recorded answer, one line each; empty if there are none.
    pub fn differences(&self, seen: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.exit != seen.exit {
            found.push(format!("exit: k6 {} | here {}", self.exit, seen.exit));
        }
        compare_lines(&mut found, "console", &self.console, &seen.console);
        compare_lines(&mut found, "exceptions", &self.exceptions, &seen.exceptions);
        compare_maps(&mut found, "check", &self.checks, &seen.checks);
        compare_maps(&mut found, "metric", &self.metrics, &seen.metrics);
        if let (Some(expected), Some(seen)) = (&self.stdout, &seen.stdout) {
            compare_lines(&mut found, "stdout", expected, seen);
        }
        found
    }
}

fn compare_lines(found: &mut Vec<String>, what: &str, expected: &[String], seen: &[String]) {
    for index in 0..expected.len().max(seen.len()) {
        let (expected, seen) = (expected.get(index), seen.get(index));
        if expected != seen {
            found.push(format!("{what}[{index}]: k6 {expected:?}\n{:>12} {seen:?}", "| here"));
        }
    }
}

fn compare_maps<V: PartialEq + std::fmt::Debug>(
    found: &mut Vec<String>,
    what: &str,
    expected: &BTreeMap<String, V>,
    seen: &BTreeMap<String, V>,
) {
    let mut names: Vec<_> = expected.keys().chain(seen.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let (expected, seen) = (expected.get(name), seen.get(name));
        if expected != seen {
            found.push(format!("{what} {name}: k6 {expected:?} | here {seen:?}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back_and_differs_in_nothing() {
        let observation = Observation {
            exit: 99,
            console: vec!["info: a".into()],
            exceptions: vec!["Error: b".into()],
            checks: [("ok".to_owned(), (1, 2))].into(),
            metrics: [("checks".to_owned(), 3)].into(),
            stdout: Some(vec![]),
            why: Some("2.2 answers so".into()),
        };
        let read = Observation::parse(&observation.print()).unwrap();
        assert_eq!(read, observation);
        assert_eq!(read.differences(&observation), Vec::<String>::new());
        assert_eq!(observation.differences(&Observation::default()).len(), 5);
    }
}
