//! The settings of `web-dashboard`: defaults < environment < argument.

use std::time::Duration;

use brunt_duration::wait;

use crate::output::{Context, OutputError};

/// k6's port.
const PORT: u16 = 5665;

/// Tags that make lines of their own, at most.
const TAGS_MAX: usize = 16;

/// Where the page is, and what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    /// Empty means every address of this machine.
    pub(super) host: String,
    /// None: no server.
    pub(super) port: Option<u16>,
    pub(super) period: Duration,
    /// Shows the page in the user's browser.
    pub(super) open: bool,
    /// Where the page goes at the end.
    pub(super) export: Option<String>,
    /// Where events go, a line each.
    pub(super) record: Option<String>,
    /// Each value of these tags is a submetric.
    pub(super) tags: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            host: String::new(),
            port: Some(PORT),
            period: Duration::from_secs(10),
            open: false,
            export: None,
            record: None,
            tags: vec!["group".to_owned()],
        }
    }
}

/// The settings of an argument and of the variables.
const KEYS: [&str; 9] =
    ["host", "port", "period", "open", "export", "report", "record", "tag", "tags"];

impl Config {
    /// `arg` is a query: `port=0&period=1s&export=report.html`.
    pub(super) fn read(arg: &str, context: &Context) -> Result<Self, OutputError> {
        let wrong = |what| OutputError::Setting { output: "web-dashboard", what };
        let mut config = Self::default();
        for key in KEYS {
            let variable = format!("K6_WEB_DASHBOARD_{}", key.to_uppercase());
            if let Some(value) = context.env.get(&variable).filter(|value| !value.is_empty()) {
                let lists: Vec<_> = if key.starts_with("tag") {
                    value.split(',').map(str::trim).collect()
                } else {
                    vec![value.as_str()]
                };
                config.set(key, &lists).map_err(|why| wrong(format!("{variable}: {why}")))?;
            }
        }
        let pairs: Vec<_> = url::form_urlencoded::parse(arg.as_bytes()).collect();
        for key in KEYS {
            let of_key = pairs.iter().filter(|(name, _)| name == key);
            let values: Vec<&str> = of_key.map(|(_, value)| &**value).collect();
            if !values.is_empty() {
                config.set(key, &values).map_err(|why| wrong(format!("{key}: {why}")))?;
            }
        }
        if let Some((unknown, _)) = pairs.iter().find(|(name, _)| !KEYS.contains(&&**name)) {
            log::warn!(
                "the output web-dashboard has no setting \"{unknown}\"; it has {}",
                KEYS.join(", ")
            );
        }
        Ok(config)
    }

    fn set(&mut self, key: &str, values: &[&str]) -> Result<(), String> {
        let Some(value) = values.last() else { return Ok(()) };
        match key {
            "host" => (*value).clone_into(&mut self.host),
            "port" => {
                self.port = match value.parse::<i64>() {
                    Ok(..0) => None,
                    Ok(port) => Some(u16::try_from(port).map_err(|_| no_port(value))?),
                    Err(_) => return Err(no_port(value)),
                }
            }
            "period" => {
                self.period = wait::parse(value)
                    .ok()
                    .filter(|period| *period >= Duration::from_millis(100))
                    .ok_or_else(|| {
                        format!("\"{value}\" is not a duration such as 10s, at least 100ms")
                    })?;
            }
            // A bare key in an address means yes.
            "open" => {
                self.open = match *value {
                    "" | "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
                    "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
                    other => return Err(format!("\"{other}\" is not true or false")),
                }
            }
            "export" | "report" => {
                self.export = Some((*value).to_owned()).filter(|p| !p.is_empty());
            }
            "record" => self.record = Some((*value).to_owned()).filter(|p| !p.is_empty()),
            _ => {
                let tags = values.iter().filter(|tag| !tag.is_empty());
                self.tags = tags.map(|tag| (*tag).to_owned()).collect();
                if self.tags.len() > TAGS_MAX {
                    return Err(format!("{TAGS_MAX} tags at most"));
                }
            }
        }
        Ok(())
    }
}

fn no_port(value: &str) -> String {
    format!("\"{value}\" is not a port: 0 to 65535, or -1 for no server")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::context;

    fn read(arg: &str, env: &[(&str, &str)]) -> Result<Config, String> {
        Config::read(arg, &context(env)).map_err(|error| error.to_string())
    }

    #[test]
    fn without_words_it_is_k6s_port_and_ten_seconds() {
        assert_eq!(read("", &[]).unwrap(), Config::default());
    }

    #[test]
    fn the_argument_wins_over_variables() {
        let env = [
            ("K6_WEB_DASHBOARD_PORT", "1"),
            ("K6_WEB_DASHBOARD_HOST", "localhost"),
            ("K6_WEB_DASHBOARD_TAGS", "a,b"),
            ("K6_WEB_DASHBOARD_EXPORT", "e.html"),
        ];
        let config = read("port=-1&period=2s&open&record=r.ndjson.gz&tag=x&tag=y", &env).unwrap();
        let expected = Config {
            host: "localhost".into(),
            port: None,
            period: Duration::from_secs(2),
            open: true,
            export: Some("e.html".into()),
            record: Some("r.ndjson.gz".into()),
            tags: vec!["x".into(), "y".into()],
        };
        assert_eq!(config, expected);
        assert_eq!(read("", &env).unwrap().tags, ["a", "b"]);
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (arg, said) in [
            ("port=x", "port: \"x\" is not a port"),
            ("port=70000", "port: \"70000\" is not a port"),
            ("period=abc", "period: \"abc\" is not a duration"),
            ("period=1d", "period: \"1d\" is not a duration"),
            ("period=1000", "period: \"1000\" is not a duration"),
            ("period=0", "period: \"0\" is not a duration"),
            ("open=maybe", "open: \"maybe\" is not true or false"),
        ] {
            assert!(read(arg, &[]).unwrap_err().contains(said), "{arg}");
        }
        assert!(
            read("", &[("K6_WEB_DASHBOARD_PORT", "y")])
                .unwrap_err()
                .contains("K6_WEB_DASHBOARD_PORT: ")
        );
    }
}
