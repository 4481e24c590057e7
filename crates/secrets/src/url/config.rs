//! The settings of a `url` source: `key=value` parts, a JSON file (`config=FILE`, or its path alone), or the environment.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use brunt_duration::parse_wait;
use serde_json::Value;

use crate::spec::{SpecError, read};

/// Whom to ask, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// With `{key}` where the name goes.
    pub(crate) template: String,
    pub(crate) method: String,
    pub(crate) headers: Vec<(String, String)>,
    /// Where in a JSON answer the value is; the whole answer, if not told.
    pub(crate) path: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) retries: u32,
    pub(crate) backoff: Duration,
    pub(crate) per_minute: u32,
    pub(crate) burst: u32,
}

impl Default for Config {
    /// k6's defaults.
    fn default() -> Self {
        Self {
            template: String::new(),
            method: "GET".to_owned(),
            headers: Vec::new(),
            path: None,
            timeout: Duration::from_secs(30),
            retries: 3,
            backoff: Duration::from_secs(1),
            per_minute: 300,
            burst: 10,
        }
    }
}

const ENV: &str = "K6_SECRET_SOURCE_URL_";

/// The environment's names of the settings.
const VARIABLES: [(&str, &str); 8] = [
    ("URL_TEMPLATE", "urlTemplate"),
    ("METHOD", "method"),
    ("RESPONSE_PATH", "responsePath"),
    ("TIMEOUT", "timeout"),
    ("MAX_RETRIES", "maxRetries"),
    ("RETRY_BACKOFF", "retryBackoff"),
    ("REQUESTS_PER_MINUTE_LIMIT", "requestsPerMinuteLimit"),
    ("REQUESTS_BURST", "requestsBurst"),
];

pub(crate) fn parse(parts: &[&str], env: &BTreeMap<String, String>) -> Result<Config, SpecError> {
    let mut config = Config::default();
    for (variable, key) in VARIABLES {
        if let Some(value) = env.get(&format!("{ENV}{variable}")) {
            config.set(key, value)?;
        }
    }
    for (variable, value) in env {
        let name = variable.strip_prefix(ENV).and_then(|rest| rest.strip_prefix("HEADER_"));
        if let Some(name) = name {
            // A variable's name can have no hyphen, and a header's hardly has an underscore.
            config.headers.push((name.replace('_', "-"), value.clone()));
        }
    }
    for part in parts.iter().filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("config", path)) => config.read(Path::new(path))?,
            Some((key, value)) => config.set(key, value)?,
            None => config.read(Path::new(part))?,
        }
    }
    if config.template.is_empty() {
        return Err(wrong("urlTemplate is required"));
    }
    if !config.template.contains("{key}") {
        return Err(wrong("urlTemplate must contain {key} placeholder"));
    }
    Ok(config)
}

fn wrong(why: impl Into<String>) -> SpecError {
    SpecError::Url(why.into())
}

impl Config {
    fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        let number = || {
            value
                .parse::<u32>()
                .map_err(|_| wrong(format!("invalid {key}: {value:?} is not a number")))
        };
        let time = || match parse_wait(value) {
            Ok(Duration::ZERO) => Err(wrong(format!("{key} must be greater than 0"))),
            read => read.map_err(|error| wrong(format!("invalid {key}: {error}"))),
        };
        match key {
            "urlTemplate" => value.clone_into(&mut self.template),
            "method" => value.clone_into(&mut self.method),
            "responsePath" => self.path = (!value.is_empty()).then(|| value.to_owned()),
            "timeout" => self.timeout = time()?,
            "retryBackoff" => self.backoff = time()?,
            "maxRetries" => self.retries = number()?,
            "requestsPerMinuteLimit" => self.per_minute = number()?,
            "requestsBurst" => self.burst = number()?,
            _ => {
                let Some(name) = key.strip_prefix("headers.") else {
                    return Err(wrong(format!("unknown configuration key: {key:?}")));
                };
                self.headers.push((name.to_owned(), value.to_owned()));
            }
        }
        Ok(())
    }

    /// A JSON file; unknown members are passed over, as in k6.
    fn read(&mut self, path: &Path) -> Result<(), SpecError> {
        let text =
            read(path).map_err(|source| SpecError::File { path: path.to_owned(), source })?;
        let json: Value = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("{}: {error}", path.display())))?;
        let Value::Object(members) = json else {
            return Err(wrong(format!("{}: it is not an object", path.display())));
        };
        for (key, value) in &members {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Object(headers) if key == "headers" => {
                    for (name, value) in headers {
                        let value = value.as_str().unwrap_or_default();
                        self.headers.push((name.clone(), value.to_owned()));
                    }
                    continue;
                }
                other => other.to_string(),
            };
            if VARIABLES.iter().any(|(_, known)| known == key) {
                self.set(key, &text)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_over_a_file_and_a_file_over_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.json");
        let json = r#"{"urlTemplate":"http://f/{key}","headers":{"A":"1"},"timeout":"2s","maxRetries":0,"other":1}"#;
        std::fs::write(&path, json).unwrap();
        let env = [("METHOD", "POST"), ("TIMEOUT", "9s"), ("HEADER_AUTHORIZATION", "Bearer x")];
        let env = env.map(|(name, value)| (format!("{ENV}{name}"), value.to_owned()));
        let env = BTreeMap::from(env);
        let named = format!("config={}", path.display());
        let config = parse(&[&named, "maxRetries=7"], &env).unwrap();
        assert_eq!(config.template, "http://f/{key}");
        assert_eq!((config.method.as_str(), config.retries), ("POST", 7));
        assert_eq!(config.timeout, Duration::from_secs(2));
        let headers = [("AUTHORIZATION", "Bearer x"), ("A", "1")];
        assert_eq!(config.headers, headers.map(|(n, v)| (n.to_owned(), v.to_owned())));
    }

    #[test]
    fn times_are_read_as_in_go() {
        let read = |text| {
            let timeout = format!("timeout={text}");
            let config = parse(&["urlTemplate=http://h/{key}", &timeout], &BTreeMap::new());
            config.map(|config| config.timeout).map_err(|error| error.to_string())
        };
        assert_eq!(read("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(read("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(read("+.25s"), Ok(Duration::from_millis(250)));
        assert!(read("0s").unwrap_err().contains("timeout must be greater than 0"));
        for text in ["", "x", "5", "5d", "1.5d", "-1s", "1s2", "1..5s"] {
            let error = read(text).unwrap_err();
            assert!(error.contains("invalid timeout: time: "), "{error}");
        }
    }
}
