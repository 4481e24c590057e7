//! The settings of an output: defaults < configuration file < environment < argument.

use std::collections::BTreeMap;
use std::time::Duration;

use brunt_duration::wait;

use serde_json::{Map, Value};

use crate::output::{Context, OutputError};

/// Where the settings of one output stand.
pub(crate) struct Settings<'a> {
    output: &'static str,
    env: &'a BTreeMap<String, String>,
    file: Option<&'a Map<String, Value>>,
}

impl<'a> Settings<'a> {
    /// `output` is its type, the key under `collectors` too.
    ///
    /// # Errors
    /// If the value under `collectors` is no object.
    pub(crate) fn new(output: &'static str, context: &'a Context) -> Result<Self, OutputError> {
        let file = match context.collectors.get(output) {
            None | Some(Value::Null) => None,
            Some(Value::Object(file)) => Some(file),
            Some(_) => {
                let what = format!("\"{output}\" under \"collectors\" is not an object");
                return Err(OutputError::Setting { output, what });
            }
        };
        Ok(Self { output, env: &context.env, file })
    }

    /// A refusal that names this output.
    pub(crate) fn wrong(&self, what: impl Into<String>) -> OutputError {
        OutputError::Setting { output: self.output, what: what.into() }
    }

    /// A variable that other programs read, too.
    pub(crate) fn variable(&self, name: &str) -> Option<&'a str> {
        self.env.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// All variables with this prefix: what follows it, and the value.
    pub(crate) fn prefixed(&self, prefix: &str) -> Vec<(&'a str, &'a str)> {
        let after = |(name, value): (&'a String, &'a String)| {
            Some((name.strip_prefix(prefix)?, value.as_str()))
        };
        self.env.iter().filter_map(after).collect()
    }

    /// The variable's value, or else the configuration file's; an empty one is none.
    pub(crate) fn text(&self, variable: &str, key: &str) -> Option<String> {
        if let Some(text) = self.variable(variable) {
            return Some(text.to_owned());
        }
        let text = match self.file?.get(key)? {
            Value::Null | Value::Object(_) => return None,
            Value::String(text) => text.clone(),
            Value::Array(values) => {
                let texts = values.iter().map(|value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                texts.collect::<Vec<_>>().join(",")
            }
            other => other.to_string(),
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// A duration, which must not be zero.
    pub(crate) fn duration(
        &self,
        variable: &str,
        key: &str,
    ) -> Result<Option<Duration>, OutputError> {
        self.read(variable, key, "a duration such as 1s or 500ms", |text| {
            wait::parse_millis(text).ok().filter(|duration| !duration.is_zero())
        })
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, variable: &str, key: &str) -> Result<Option<bool>, OutputError> {
        self.read(variable, key, "true or false", |text| text.parse().ok())
    }

    /// A number of something, at least 1.
    pub(crate) fn count(&self, variable: &str, key: &str) -> Result<Option<usize>, OutputError> {
        self.read(variable, key, "a positive number", |text| {
            text.parse().ok().filter(|count| *count > 0)
        })
    }

    fn read<T>(
        &self,
        variable: &str,
        key: &str,
        kind: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, OutputError> {
        let Some(text) = self.text(variable, key) else { return Ok(None) };
        let value = parse(&text);
        if value.is_none() {
            return Err(self.wrong(format!("{variable}: \"{text}\" is not {kind}")));
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brunt_metrics::Registry;

    use super::*;

    fn context(env: &[(&str, &str)], file: Value) -> Context {
        let mut context = Context::new(Arc::new(Registry::new()));
        context.env = env.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        context.collectors.insert("influxdb".into(), file);
        context
    }

    #[test]
    fn the_environment_wins_over_the_configuration_file() {
        let file =
            serde_json::json!({ "a": "file", "b": 3, "c": ["x", "y"], "d": null, "e": true });
        let context = context(&[("A", "env"), ("B", "")], file);
        let settings = Settings::new("influxdb", &context).unwrap();
        assert_eq!(settings.text("A", "a").unwrap(), "env");
        assert_eq!(settings.text("Z", "a").unwrap(), "file");
        assert_eq!(settings.count("B", "b").unwrap(), Some(3));
        assert_eq!(settings.text("C", "c").unwrap(), "x,y");
        assert_eq!(settings.text("D", "d"), None);
        assert_eq!(settings.flag("E", "e").unwrap(), Some(true));
    }

    #[test]
    fn what_is_no_such_value_is_named_with_its_variable() {
        let context = context(&[("A", "often"), ("B", "0")], Value::Null);
        let settings = Settings::new("influxdb", &context).unwrap();
        assert_eq!(
            settings.duration("A", "a").unwrap_err().to_string(),
            "could not create the 'influxdb' output: A: \"often\" is not a duration such as 1s or 500ms"
        );
        assert!(settings.count("B", "b").is_err());
        assert!(settings.flag("A", "a").is_err());
    }

    #[test]
    fn collectors_are_objects() {
        let context = context(&[], Value::Bool(true));
        assert!(Settings::new("influxdb", &context).is_err());
    }
}
