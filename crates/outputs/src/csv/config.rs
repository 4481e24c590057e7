//! The settings of `csv`: defaults < configuration file < environment < argument.

use std::collections::BTreeMap;
use std::time::Duration;

use brunt_duration::wait;

use serde_json::Value;

use crate::output::OutputError;

/// How the column `timestamp` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeFormat {
    Unix,
    UnixMilli,
    UnixMicro,
    UnixNano,
    Rfc3339,
    Rfc3339Nano,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    /// `-` or nothing is the standard output.
    pub(super) file_name: String,
    pub(super) save_interval: Duration,
    pub(super) time_format: TimeFormat,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            file_name: "file.csv".into(),
            save_interval: Duration::from_secs(1),
            time_format: TimeFormat::Unix,
        }
    }
}

impl Config {
    /// `arg` is a file name, or `fileName=…,saveInterval=…,timeFormat=…`, or nothing. `file` is what the
    /// configuration file says under `collectors`.
    pub(super) fn read(
        arg: &str,
        env: &BTreeMap<String, String>,
        file: Option<&Value>,
    ) -> Result<Self, OutputError> {
        let mut config = Self::default();
        if let Some(file) = file {
            let wrong = |why| setting(format!("\"collectors\" in the configuration file: {why}"));
            let Value::Object(file) = file else {
                return Err(wrong("\"csv\" is not an object".to_owned()));
            };
            for (key, value) in file {
                match value {
                    Value::Null => {}
                    Value::String(text) => config.set(key, text).map_err(wrong)?,
                    _ => return Err(wrong(format!("\"{key}\" is not text"))),
                }
            }
        }
        for (variable, key) in [
            ("K6_CSV_FILENAME", "fileName"),
            ("K6_CSV_SAVE_INTERVAL", "saveInterval"),
            ("K6_CSV_TIME_FORMAT", "timeFormat"),
        ] {
            if let Some(value) = env.get(variable).filter(|value| !value.is_empty()) {
                config.set(key, value).map_err(|why| setting(format!("{variable}: {why}")))?;
            }
        }
        if !arg.is_empty() && !arg.contains('=') {
            arg.clone_into(&mut config.file_name);
            return Ok(config);
        }
        for pair in arg.split(',').filter(|_| !arg.is_empty()) {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| setting(format!("\"{pair}\" in \"{arg}\" is not key=value")))?;
            config.set(key, value).map_err(setting)?;
        }
        Ok(config)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "fileName" | "file_name" => value.clone_into(&mut self.file_name),
            "saveInterval" | "save_interval" => {
                self.save_interval = wait::parse_millis(value)
                    .ok()
                    .filter(|interval| !interval.is_zero())
                    .ok_or_else(|| format!("\"{value}\" is not a duration such as 1s or 500ms"))?;
            }
            "timeFormat" | "time_format" => {
                self.time_format = match value {
                    "unix" => TimeFormat::Unix,
                    "unix_milli" => TimeFormat::UnixMilli,
                    "unix_micro" => TimeFormat::UnixMicro,
                    "unix_nano" => TimeFormat::UnixNano,
                    "rfc3339" => TimeFormat::Rfc3339,
                    "rfc3339_nano" => TimeFormat::Rfc3339Nano,
                    _ => {
                        return Err(format!(
                            "\"{value}\" is not a time format; use unix, unix_milli, unix_micro, \
                             unix_nano, rfc3339 or rfc3339_nano"
                        ));
                    }
                };
            }
            _ => {
                return Err(format!(
                    "unknown key \"{key}\"; use fileName, saveInterval or timeFormat"
                ));
            }
        }
        Ok(())
    }
}

fn setting(what: String) -> OutputError {
    OutputError::Setting { output: "csv", what }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    #[test]
    fn the_argument_wins_over_the_environment_and_that_over_the_defaults() {
        let env = env(&[("K6_CSV_FILENAME", "env.csv"), ("K6_CSV_TIME_FORMAT", "unix_nano")]);
        let config = Config::read("", &env, None).unwrap();
        assert_eq!((&*config.file_name, config.time_format), ("env.csv", TimeFormat::UnixNano));
        assert_eq!(config.save_interval, Duration::from_secs(1));
        let config = Config::read("arg.csv", &env, None).unwrap();
        assert_eq!((&*config.file_name, config.time_format), ("arg.csv", TimeFormat::UnixNano));
        let config = Config::read("timeFormat=rfc3339,saveInterval=2s", &env, None).unwrap();
        assert_eq!((&*config.file_name, config.time_format), ("env.csv", TimeFormat::Rfc3339));
        assert_eq!(config.save_interval, Duration::from_secs(2));
    }

    #[test]
    fn the_configuration_file_counts_least() {
        let file = serde_json::json!({ "file_name": "file", "time_format": "rfc3339" });
        let env = env(&[("K6_CSV_FILENAME", "env.csv")]);
        let config = Config::read("", &env, Some(&file)).unwrap();
        assert_eq!((&*config.file_name, config.time_format), ("env.csv", TimeFormat::Rfc3339));
        let said = Config::read("", &env, Some(&serde_json::json!({ "x": "1" }))).unwrap_err();
        assert!(said.to_string().contains("in the configuration file: unknown key \"x\""));
    }

    #[test]
    fn bad_settings_are_named() {
        let said = |arg, pairs| Config::read(arg, &env(pairs), None).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                said("foo=1", &[]),
                said("fileName=x,y", &[]),
                said("timeFormat=zz", &[]),
                said("", &[("K6_CSV_TIME_FORMAT", ""), ("K6_CSV_SAVE_INTERVAL", "zz")]),
            ]
            .join("\n"),
            @r#"
        could not create the 'csv' output: unknown key "foo"; use fileName, saveInterval or timeFormat
        could not create the 'csv' output: "y" in "fileName=x,y" is not key=value
        could not create the 'csv' output: "zz" is not a time format; use unix, unix_milli, unix_micro, unix_nano, rfc3339 or rfc3339_nano
        could not create the 'csv' output: K6_CSV_SAVE_INTERVAL: "zz" is not a duration such as 1s or 500ms
        "#
        );
    }
}
