//! The settings of `influxdb`: defaults < configuration file < environment < argument.

use std::time::Duration;

use brunt_duration::wait;

use url::Url;

use super::line::{FieldKind, Precision};
use crate::output::OutputError;
use crate::settings::Settings;

/// Where to write to, and how.
#[derive(Debug, PartialEq)]
pub(super) struct Config {
    /// `http`, `https` or `udp`; without name, password and query. Its path is a prefix.
    pub(super) address: Url,
    pub(super) version: Version,
    pub(super) database: String,
    pub(super) user: Option<(String, String)>,
    pub(super) proxy: Option<String>,
    pub(super) insecure: bool,
    /// Of a datagram, in bytes.
    pub(super) payload_size: usize,
    pub(super) push_interval: Duration,
    pub(super) concurrent_writes: usize,
    pub(super) precision: Precision,
    pub(super) retention: String,
    pub(super) consistency: String,
    pub(super) tags_as_fields: Vec<(String, FieldKind)>,
}

/// Which server.
#[derive(Debug, PartialEq)]
pub(super) enum Version {
    One,
    Two { organization: String, bucket: String, token: String },
}

impl Config {
    /// `arg` is an address with the database as its path, or the name of a database.
    pub(super) fn read(arg: &str, settings: &Settings<'_>) -> Result<Self, OutputError> {
        let wrong = |what: String| settings.wrong(what);
        let text = |name: &str, key| settings.text(&format!("K6_INFLUXDB_{name}"), key);
        let address = text("ADDR", "addr").unwrap_or_else(|| "http://localhost:8086".into());
        let user = text("USERNAME", "username");
        let mut config = Self {
            address: parse_address(&address).map_err(wrong)?,
            version: Version::One,
            database: text("DB", "db").unwrap_or_else(|| "k6".into()),
            user: user.map(|user| (user, text("PASSWORD", "password").unwrap_or_default())),
            proxy: text("PROXY", "proxy"),
            insecure: settings.flag("K6_INFLUXDB_INSECURE", "insecure")?.unwrap_or(false),
            payload_size: settings.count("K6_INFLUXDB_PAYLOAD_SIZE", "payloadSize")?.unwrap_or(512),
            push_interval: settings
                .duration("K6_INFLUXDB_PUSH_INTERVAL", "pushInterval")?
                .unwrap_or(Duration::from_secs(1)),
            concurrent_writes: settings
                .count("K6_INFLUXDB_CONCURRENT_WRITES", "concurrentWrites")?
                .unwrap_or(4),
            precision: Precision::Nanoseconds,
            retention: text("RETENTION", "retention").unwrap_or_default(),
            consistency: text("CONSISTENCY", "consistency").unwrap_or_default(),
            tags_as_fields: Vec::new(),
        };
        let tags = text("TAGS_AS_FIELDS", "tagsAsFields").unwrap_or_else(|| "vu,iter,url".into());
        for tag in tags.split(',').filter(|tag| !tag.is_empty()) {
            config.tags_as_fields.push(parse_field(tag).map_err(wrong)?);
        }
        if let Some(precision) = text("PRECISION", "precision") {
            config.precision = Precision::parse(&precision).map_err(wrong)?;
        }
        config.read_argument(arg).map_err(wrong)?;
        config.read_version(&text);
        if config.concurrent_writes == 0 {
            return Err(wrong("concurrentWrites must be a positive number".into()));
        }
        Ok(config)
    }

    fn read_argument(&mut self, arg: &str) -> Result<(), String> {
        if arg.is_empty() {
            return Ok(());
        }
        if arg.starts_with(':') {
            return Err(format!("parse {arg:?}: missing protocol scheme"));
        }
        if !arg.contains("://") {
            return self.read_database(arg);
        }
        let url = parse_address(arg)?;
        if !url.username().is_empty() {
            let decode = |text: &str| {
                url::form_urlencoded::parse(text.replace('+', "%2B").as_bytes())
                    .next()
                    .map(|(text, _)| text.into_owned())
                    .unwrap_or_default()
            };
            self.user = Some((decode(url.username()), decode(url.password().unwrap_or_default())));
        }
        let database = url.path().trim_matches('/');
        if !database.is_empty() {
            database.clone_into(&mut self.database);
        }
        self.read_query(url.query_pairs())?;
        self.address = url;
        self.address.set_path("");
        self.address.set_query(None);
        // Both can't fail: the address has a host.
        let _ = self.address.set_username("");
        let _ = self.address.set_password(None);
        Ok(())
    }

    /// The name of a database, and settings after `?`. A text with a colon looks like an address, but is none: to
    /// Go, letters before it are a scheme (and no database is named), anything else is wrong.
    fn read_database(&mut self, arg: &str) -> Result<(), String> {
        let (path, query) = arg.split_once('?').unwrap_or((arg, ""));
        let first = path.split('/').next().unwrap_or_default();
        match first.split_once(':') {
            None if path.is_empty() => {}
            None => path.trim_matches('/').clone_into(&mut self.database),
            Some((scheme, _)) if scheme.starts_with(|c: char| c.is_ascii_alphabetic()) => {}
            Some(_) => {
                return Err(format!(
                    "\"{arg}\" is not an address: it must start with http://, https:// or udp://"
                ));
            }
        }
        self.read_query(url::form_urlencoded::parse(query.as_bytes()))
    }

    fn read_query(&mut self, pairs: url::form_urlencoded::Parse<'_>) -> Result<(), String> {
        let mut fields = Vec::new();
        for (key, value) in pairs {
            match &*key {
                "insecure" => {
                    self.insecure = match &*value {
                        "" | "true" => true,
                        "false" => false,
                        _ => return Err(format!("insecure must be true or false, not {value}")),
                    }
                }
                "payload_size" => self.payload_size = count(&key, &value)?,
                "precision" => self.precision = Precision::parse(&value)?,
                "retention" => self.retention = value.into_owned(),
                "consistency" => self.consistency = value.into_owned(),
                "pushInterval" if value.is_empty() => {}
                "pushInterval" => {
                    self.push_interval = wait::parse_millis(&value)
                        .ok()
                        .filter(|interval| !interval.is_zero())
                        .ok_or_else(|| {
                            format!("pushInterval: \"{value}\" is not a duration such as 1s")
                        })?;
                }
                "concurrentWrites" => self.concurrent_writes = count(&key, &value)?,
                "tagsAsFields" => fields.push(parse_field(&value)?),
                _ => return Err(format!("unknown query parameter: {key}")),
            }
        }
        if !fields.is_empty() {
            self.tags_as_fields = fields;
        }
        Ok(())
    }

    /// A token makes it InfluxDB 2; the bucket is the database then, if nothing else is said.
    fn read_version(&mut self, text: &impl Fn(&str, &'static str) -> Option<String>) {
        let Some(token) = text("TOKEN", "token") else { return };
        self.version = Version::Two {
            organization: text("ORGANIZATION", "organization").unwrap_or_default(),
            bucket: text("BUCKET", "bucket").unwrap_or_else(|| self.database.clone()),
            token,
        };
    }
}

fn parse_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("the address \"{text}\": {error}"))?;
    if !matches!(url.scheme(), "http" | "https" | "udp")
        || url.host_str().unwrap_or_default().is_empty()
    {
        return Err(format!(
            "unsupported protocol scheme in \"{text}\", the address must start with http://, https:// \
             or udp://"
        ));
    }
    Ok(url)
}

/// `vu` or `vu:int`.
fn parse_field(text: &str) -> Result<(String, FieldKind), String> {
    let (name, kind) = text.split_once(':').unwrap_or((text, "string"));
    let kind = match kind {
        "string" => FieldKind::Text,
        "int" => FieldKind::Whole,
        "float" => FieldKind::Float,
        "bool" => FieldKind::Truth,
        _ => {
            return Err(format!(
                "an invalid type ({kind}) is specified for an InfluxDB field ({name})"
            ));
        }
    };
    Ok((name.to_owned(), kind))
}

fn count(key: &str, value: &str) -> Result<usize, String> {
    value
        .parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| format!("{key} must be a positive number, not \"{value}\""))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brunt_metrics::Registry;

    use super::*;
    use crate::output::Context;

    fn read(arg: &str, env: &[(&str, &str)]) -> Result<Config, String> {
        let mut context = Context::new(Arc::new(Registry::new()));
        context.env = env.iter().map(|(k, v)| (format!("K6_INFLUXDB_{k}"), (*v).into())).collect();
        let settings = Settings::new("influxdb", &context).unwrap();
        Config::read(arg, &settings).map_err(|error| error.to_string())
    }

    #[test]
    fn an_argument_without_scheme_is_a_database_with_settings() {
        let config = read("/db?precision=ms", &[]).unwrap();
        assert_eq!((&*config.database, config.precision), ("db", Precision::parse("ms").unwrap()));
        assert_eq!(
            read("localhost:8086/db", &[]).unwrap().database,
            read("", &[]).unwrap().database
        );
        for wrong in ["127.0.0.1:8086/db", ":", "http://x/db?insecure=1"] {
            assert!(read(wrong, &[]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn without_words_it_is_the_local_server() {
        let config = read("", &[]).unwrap();
        assert_eq!(config.address.as_str(), "http://localhost:8086/");
        assert_eq!((&*config.database, config.concurrent_writes), ("k6", 4));
        let names: Vec<_> = config.tags_as_fields.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["vu", "iter", "url"]);
    }

    #[test]
    fn the_argument_wins_over_the_environment() {
        let env =
            [("ADDR", "http://env:1"), ("DB", "env"), ("USERNAME", "who"), ("RETENTION", "r")];
        let config = read("", &env).unwrap();
        assert_eq!((config.address.as_str(), &*config.database), ("http://env:1/", "env"));
        assert_eq!(config.user, Some(("who".into(), String::new())));
        let arg = "https://u%40:p@arg:2/pre/db?precision=ms&pushInterval=2s&concurrentWrites=9\
                   &tagsAsFields=a:int&tagsAsFields=b&insecure=true&payload_size=7";
        let config = read(arg, &env).unwrap();
        assert_eq!((config.address.as_str(), &*config.database), ("https://arg:2/", "pre/db"));
        assert_eq!(config.user, Some(("u@".into(), "p".into())));
        assert_eq!((&*config.retention, config.insecure, config.payload_size), ("r", true, 7));
        assert_eq!(config.push_interval, Duration::from_secs(2));
        assert_eq!(config.concurrent_writes, 9);
        assert_eq!(
            config.tags_as_fields,
            [("a".into(), FieldKind::Whole), ("b".into(), FieldKind::Text)]
        );
        assert_eq!(read("mine", &env).unwrap().database, "mine");
    }

    #[test]
    fn a_token_makes_it_version_two() {
        let env = [("TOKEN", "t"), ("ORGANIZATION", "o"), ("BUCKET", "b")];
        let two = |bucket: &str, organization: &str| Version::Two {
            organization: organization.into(),
            bucket: bucket.into(),
            token: "t".into(),
        };
        assert_eq!(read("http://x:1", &env).unwrap().version, two("b", "o"));
        assert_eq!(read("http://x:1/mine", &env[..1]).unwrap().version, two("mine", ""));
    }

    #[test]
    fn bad_settings_are_named() {
        for (arg, env, said) in [
            ("http://a/b?bar=1", &[][..], "unknown query parameter: bar"),
            ("http://a/b?concurrentWrites=0", &[], "must be a positive number"),
            ("http://a/b?pushInterval=x", &[], "\"x\" is not a duration"),
            ("ftp://a/b", &[], "must start with http://"),
            ("::bad", &[], "parse \"::bad\": missing protocol scheme"),
            ("", &[("ADDR", "foo")], "the address \"foo\""),
            ("", &[("TAGS_AS_FIELDS", "a:foo")], "an invalid type (foo)"),
            ("", &[("PRECISION", "zz")], "\"zz\""),
            ("", &[("CONCURRENT_WRITES", "0")], "K6_INFLUXDB_CONCURRENT_WRITES"),
            ("", &[("INSECURE", "x")], "K6_INFLUXDB_INSECURE"),
        ] {
            let error = read(arg, env).unwrap_err();
            assert!(error.starts_with("could not create the 'influxdb' output: "), "{error}");
            assert!(error.contains(said), "{error}");
        }
    }
}
