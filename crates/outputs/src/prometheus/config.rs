//! The settings of `experimental-prometheus-rw`: defaults < configuration file < environment.

use std::time::Duration;

use url::Url;

use super::Stat;
use super::sigv4::Keys;
use crate::net::{basic, tls::Tls};
use crate::output::OutputError;
use crate::settings::Settings;

/// Where to push to, and what.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) url: Url,
    pub(super) headers: Vec<(String, String)>,
    pub(super) authorization: Option<Authorization>,
    pub(super) tls: Tls,
    pub(super) push_interval: Duration,
    /// Of a request.
    pub(super) timeout: Duration,
    pub(super) native_histograms: bool,
    pub(super) trend_stats: Vec<Stat>,
    pub(super) stale_markers: bool,
}

/// How requests show who we are.
#[derive(Debug)]
pub(super) enum Authorization {
    /// The header's value.
    Header(String),
    SigV4(Keys),
}

impl Config {
    pub(super) fn read(settings: &Settings<'_>) -> Result<Self, OutputError> {
        let wrong = |what: String| settings.wrong(what);
        let name = |name: &str| format!("K6_PROMETHEUS_RW_{name}");
        let text = |variable: &str, key| settings.text(&name(variable), key);
        let flag = |variable: &str, key| {
            settings.flag(&name(variable), key).map(|flag| flag.unwrap_or(false))
        };
        let url = text("SERVER_URL", "url")
            .unwrap_or_else(|| "http://localhost:9090/api/v1/write".into());
        let url = Url::parse(&url)
            .map_err(|error| wrong(format!("K6_PROMETHEUS_RW_SERVER_URL: \"{url}\": {error}")))?;
        let mut headers = Vec::new();
        for pair in text("HTTP_HEADERS", "headers").unwrap_or_default().split(',') {
            if pair.is_empty() {
                continue;
            }
            let (key, value) = pair.split_once(':').ok_or_else(|| {
                wrong(format!(
                    "the provided header ({pair}) does not respect the expected format <header key>:<value>"
                ))
            })?;
            headers.push((key.trim().to_owned(), value.trim().to_owned()));
        }
        for (key, value) in settings.prefixed("K6_PROMETHEUS_RW_HEADERS_") {
            headers.push((key.to_owned(), value.to_owned()));
        }
        let identity = text("CLIENT_CERTIFICATE", "clientCertificate")
            .zip(text("CLIENT_CERTIFICATE_KEY", "clientCertificateKey"));
        let tls = Tls {
            insecure: flag("INSECURE_SKIP_TLS_VERIFY", "insecureSkipTLSVerify")?,
            identity,
            only_13: text("TLS_MINIMUM_VERSION", "tlsMinVersion").is_none_or(|text| text != "1.2"),
            ..Tls::default()
        };
        let native = flag("TREND_AS_NATIVE_HISTOGRAM", "trendAsNativeHistogram")?;
        let features = settings.variable("K6_FEATURES").unwrap_or_default();
        let stats = text("TREND_STATS", "trendStats").unwrap_or_else(|| "p(99)".into());
        let interval = settings.duration(&name("PUSH_INTERVAL"), "pushInterval")?;
        Ok(Self {
            authorization: authorization(settings, &url)?,
            url,
            headers,
            tls,
            push_interval: interval.unwrap_or(Duration::from_secs(5)),
            timeout: Duration::from_secs(5),
            native_histograms: native
                || features.split(',').any(|feature| feature.trim() == "native-histograms"),
            trend_stats: stats
                .split(',')
                .filter(|stat| !stat.is_empty())
                .map(Stat::parse)
                .collect::<Result<_, _>>()
                .map_err(wrong)?,
            stale_markers: flag("STALE_MARKERS", "staleMarkers")?,
        })
    }
}

fn authorization(settings: &Settings<'_>, url: &Url) -> Result<Option<Authorization>, OutputError> {
    let text = |name: &str, key| settings.text(&format!("K6_PROMETHEUS_RW_{name}"), key);
    let keys = [
        text("SIGV4_REGION", "sigV4Region"),
        text("SIGV4_ACCESS_KEY", "sigV4AccessKey"),
        text("SIGV4_SECRET_KEY", "sigV4SecretKey"),
    ];
    match keys {
        [Some(region), Some(access), Some(secret)] => {
            return Ok(Some(Authorization::SigV4(Keys { region, access, secret })));
        }
        [None, None, None] => {}
        _ => {
            return Err(settings.wrong(
                "sigv4 seems to be partially configured. All of K6_PROMETHEUS_RW_SIGV4_REGION, \
                 K6_PROMETHEUS_RW_SIGV4_ACCESS_KEY, K6_PROMETHEUS_RW_SIGV4_SECRET_KEY must all be set. \
                 Unset all to bypass sigv4",
            ));
        }
    }
    if let Some(token) = text("BEARER_TOKEN", "bearerToken") {
        return Ok(Some(Authorization::Header(format!("Bearer {token}"))));
    }
    let user = text("USERNAME", "username").or_else(|| Some(url.username().to_owned()));
    let password = text("PASSWORD", "password").or_else(|| url.password().map(String::from));
    Ok(user
        .filter(|user| !user.is_empty())
        .map(|user| Authorization::Header(basic(&user, &password.unwrap_or_default()))))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brunt_metrics::Registry;

    use super::*;
    use crate::output::Context;

    fn read(env: &[(&str, &str)]) -> Result<Config, String> {
        let mut context = Context::new(Arc::new(Registry::new()));
        let name = |name: &str| format!("K6_PROMETHEUS_RW_{name}");
        context.env = env.iter().map(|(k, v)| (name(k), (*v).into())).collect();
        let settings = Settings::new("experimental-prometheus-rw", &context).unwrap();
        Config::read(&settings).map_err(|error| error.to_string())
    }

    #[test]
    fn without_words_it_is_the_local_server_each_five_seconds() {
        let config = read(&[]).unwrap();
        assert_eq!(config.url.as_str(), "http://localhost:9090/api/v1/write");
        assert_eq!(config.push_interval, Duration::from_secs(5));
        assert_eq!(config.trend_stats, [Stat::parse("p(99)").unwrap()]);
        assert!(config.tls.only_13 && !config.native_histograms && !config.stale_markers);
    }

    #[test]
    fn headers_come_from_two_kinds_of_variables() {
        let config = read(&[("HTTP_HEADERS", "A:b,C: d:e"), ("HEADERS_X-Scope", "t")]).unwrap();
        let expected = [("A", "b"), ("C", "d:e"), ("X-Scope", "t")];
        assert_eq!(config.headers, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
    }

    #[test]
    fn who_we_are_is_a_token_or_a_name_or_a_signature() {
        let header = |env: &[(&str, &str)]| match read(env).unwrap().authorization {
            Some(Authorization::Header(value)) => value,
            other => panic!("{other:?}"),
        };
        assert_eq!(header(&[("USERNAME", "u"), ("PASSWORD", "p")]), "Basic dTpw");
        assert_eq!(header(&[("USERNAME", "u"), ("BEARER_TOKEN", "t")]), "Bearer t");
        assert_eq!(header(&[("SERVER_URL", "http://u:p@x/")]), "Basic dTpw");
        let all = [("SIGV4_REGION", "r"), ("SIGV4_ACCESS_KEY", "a"), ("SIGV4_SECRET_KEY", "s")];
        assert!(matches!(read(&all).unwrap().authorization, Some(Authorization::SigV4(_))));
        assert!(read(&all[..2]).unwrap_err().contains("partially configured"));
    }

    #[test]
    fn bad_settings_are_named() {
        for (name, value, said) in [
            ("SERVER_URL", "foo", "K6_PROMETHEUS_RW_SERVER_URL"),
            ("PUSH_INTERVAL", "x", "K6_PROMETHEUS_RW_PUSH_INTERVAL"),
            ("TREND_STATS", "foo", "invalid trend stat 'foo'"),
            ("TREND_STATS", "p(1000)", "'p(1000)'"),
            ("HTTP_HEADERS", "abc", "the provided header (abc)"),
            ("INSECURE_SKIP_TLS_VERIFY", "x", "K6_PROMETHEUS_RW_INSECURE_SKIP_TLS_VERIFY"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert!(
                error.starts_with("could not create the 'experimental-prometheus-rw' output: ")
            );
            assert!(error.contains(said), "{error}");
        }
    }
}
