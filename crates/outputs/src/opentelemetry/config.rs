//! The settings of `opentelemetry`: defaults < configuration file < environment.

use std::time::Duration;

use url::Url;

use crate::net::{basic, tls::Tls};
use crate::output::OutputError;
use crate::settings::Settings;

/// Where to export to, and what.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) transport: Transport,
    /// With the path of HTTP.
    pub(super) url: Url,
    /// As the banner shows it.
    pub(super) shown: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) tls: Tls,
    /// Of a request.
    pub(super) timeout: Duration,
    pub(super) export_interval: Duration,
    /// Of metrics' names.
    pub(super) prefix: String,
    /// Of the resource: the service's name and version, and what `OTEL_RESOURCE_ATTRIBUTES` says.
    pub(super) attributes: Vec<(String, String)>,
}

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Grpc,
    Http,
}

impl Config {
    pub(super) fn read(settings: &Settings<'_>) -> Result<Self, OutputError> {
        let wrong = |what: String| settings.wrong(what);
        let name = |name: &str| format!("K6_OTEL_{name}");
        let text = |variable: &str, key| settings.text(&name(variable), key);
        let flag = |variable: &str, key| {
            settings.flag(&name(variable), key).map(|flag| flag.unwrap_or(false))
        };
        let protocol =
            text("EXPORTER_PROTOCOL", "exporterProtocol").unwrap_or_else(|| "grpc".into());
        let transport = match &*protocol {
            "grpc" => Transport::Grpc,
            "http/protobuf" => Transport::Http,
            _ => {
                return Err(wrong(format!(
                    "error validating OpenTelemetry output config: unsupported exporter protocol \"{protocol}\", \
                     only \"grpc\" and \"http/protobuf\" are supported"
                )));
            }
        };
        // Read for its errors alone: series are added up as they come.
        settings.duration(&name("FLUSH_INTERVAL"), "flushInterval")?;
        let interval = settings.duration(&name("EXPORT_INTERVAL"), "exportInterval")?;
        let (http_insecure, grpc_insecure) = (
            flag("HTTP_EXPORTER_INSECURE", "httpExporterInsecure")?,
            flag("GRPC_EXPORTER_INSECURE", "grpcExporterInsecure")?,
        );
        let (endpoint, path, is_plain) = match transport {
            Transport::Http => (
                text("HTTP_EXPORTER_ENDPOINT", "httpExporterEndpoint")
                    .unwrap_or_else(|| "localhost:4318".into()),
                text("HTTP_EXPORTER_URL_PATH", "httpExporterURLPath")
                    .unwrap_or_else(|| "/v1/metrics".into()),
                http_insecure,
            ),
            Transport::Grpc => (
                text("GRPC_EXPORTER_ENDPOINT", "grpcExporterEndpoint")
                    .unwrap_or_else(|| "localhost:4317".into()),
                String::new(),
                grpc_insecure,
            ),
        };
        let bare = endpoint.split_once("://").map_or(&*endpoint, |(_, rest)| rest);
        let scheme = if is_plain { "http" } else { "https" };
        let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
        let whole = format!("{scheme}://{bare}{slash}{path}");
        let url = Url::parse(&whole)
            .map_err(|error| wrong(format!("the endpoint \"{endpoint}\": {error}")))?;
        let shown = match transport {
            Transport::Http => format!("http/protobuf, {whole}"),
            Transport::Grpc if is_plain => format!("grpc (insecure), {endpoint}"),
            Transport::Grpc => format!("grpc, {endpoint}"),
        };
        let identity = text("TLS_CLIENT_CERTIFICATE", "tlsClientCertificate")
            .zip(text("TLS_CLIENT_KEY", "tlsClientKey"));
        Ok(Self {
            transport,
            url,
            shown,
            headers: headers(settings, transport)?,
            tls: Tls {
                insecure: flag("TLS_INSECURE_SKIP_VERIFY", "tlsInsecureSkipVerify")?,
                authorities: text("TLS_CERTIFICATE", "tlsCertificate"),
                identity,
                http2: transport == Transport::Grpc,
                ..Tls::default()
            },
            timeout: timeout(settings),
            export_interval: interval.unwrap_or(Duration::from_secs(10)),
            prefix: text("METRIC_PREFIX", "metricPrefix").unwrap_or_default(),
            attributes: attributes(settings)?,
        })
    }
}

/// The standard's milliseconds for a request, or its ten seconds.
fn timeout(settings: &Settings<'_>) -> Duration {
    let text = settings
        .variable("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT")
        .or_else(|| settings.variable("OTEL_EXPORTER_OTLP_TIMEOUT"));
    let millis = text.and_then(|text| text.parse().ok()).filter(|millis| *millis > 0);
    Duration::from_millis(millis.unwrap_or(10_000))
}

fn headers(
    settings: &Settings<'_>,
    transport: Transport,
) -> Result<Vec<(String, String)>, OutputError> {
    let mut headers = Vec::new();
    for variable in ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_METRICS_HEADERS"] {
        let text = settings.variable(variable).unwrap_or_default();
        headers.extend(pairs(text).filter_map(Result::ok));
    }
    for pair in pairs(&settings.text("K6_OTEL_HEADERS", "headers").unwrap_or_default()) {
        headers.push(pair.map_err(|pair| {
            settings.wrong(format!(
                "K6_OTEL_HEADERS: invalid header \"{pair}\", expected format key=value"
            ))
        })?);
    }
    let user = settings.text("K6_OTEL_HTTP_EXPORTER_USERNAME", "httpExporterUsername");
    if let Some(user) = user.filter(|_| transport == Transport::Http) {
        let password = settings.text("K6_OTEL_HTTP_EXPORTER_PASSWORD", "httpExporterPassword");
        headers.push(("Authorization".into(), basic(&user, &password.unwrap_or_default())));
    }
    Ok(headers)
}

fn attributes(settings: &Settings<'_>) -> Result<Vec<(String, String)>, OutputError> {
    let name = settings
        .text("K6_OTEL_SERVICE_NAME", "serviceName")
        .or_else(|| settings.variable("OTEL_SERVICE_NAME").map(String::from));
    let version = settings.text("K6_OTEL_SERVICE_VERSION", "serviceVersion");
    let mut attributes = vec![
        ("service.name".to_owned(), name.unwrap_or_else(|| "k6".into())),
        ("service.version".to_owned(), version.unwrap_or_else(|| env!("CARGO_PKG_VERSION").into())),
    ];
    for pair in pairs(settings.variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default()) {
        let (key, value) = pair.map_err(|pair| {
            settings.wrong(format!("OTEL_RESOURCE_ATTRIBUTES: \"{pair}\" is not key=value"))
        })?;
        if !attributes.iter().any(|(known, _)| *known == key) {
            attributes.push((key, value));
        }
    }
    Ok(attributes)
}

/// `k=v,k2=v2`; what is no pair as an error.
fn pairs(text: &str) -> impl Iterator<Item = Result<(String, String), String>> {
    text.split(',').filter(|pair| !pair.trim().is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').ok_or_else(|| pair.trim().to_owned())?;
        Ok((key.trim().to_owned(), value.trim().to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brunt_metrics::Registry;

    use super::*;
    use crate::output::Context;

    fn read(env: &[(&str, &str)]) -> Result<Config, String> {
        let mut context = Context::new(Arc::new(Registry::new()));
        context.env = env.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let settings = Settings::new("opentelemetry", &context).unwrap();
        Config::read(&settings).map_err(|error| error.to_string())
    }

    #[test]
    fn without_words_it_is_the_local_collector_by_grpc() {
        let config = read(&[]).unwrap();
        assert_eq!(config.url.as_str(), "https://localhost:4317/");
        assert_eq!(config.shown, "grpc, localhost:4317");
        assert_eq!(config.export_interval, Duration::from_secs(10));
        assert_eq!(config.attributes[0], ("service.name".into(), "k6".into()));
        assert!(config.tls.http2);
    }

    #[test]
    fn http_has_an_address_of_its_own() {
        let env = [
            ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf"),
            ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", "collector:80"),
            ("K6_OTEL_HTTP_EXPORTER_URL_PATH", "otlp"),
            ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"),
            ("K6_OTEL_HTTP_EXPORTER_USERNAME", "u"),
            ("K6_OTEL_HTTP_EXPORTER_PASSWORD", "p"),
            ("K6_OTEL_HEADERS", "a=b=c, d=e"),
            ("OTEL_RESOURCE_ATTRIBUTES", "env=test,service.name=no"),
            ("OTEL_SERVICE_NAME", "mine"),
        ];
        let config = read(&env).unwrap();
        assert_eq!(config.shown, "http/protobuf, http://collector:80/otlp");
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let authorization = pair("Authorization", "Basic dTpw");
        assert_eq!(config.headers, [pair("a", "b=c"), pair("d", "e"), authorization]);
        assert_eq!(config.attributes[0], pair("service.name", "mine"));
        assert_eq!(config.attributes[2], pair("env", "test"));
    }

    #[test]
    fn bad_settings_are_named() {
        for (name, value, said) in [
            ("K6_OTEL_EXPORTER_PROTOCOL", "foo", "unsupported exporter protocol \"foo\""),
            ("K6_OTEL_FLUSH_INTERVAL", "x", "K6_OTEL_FLUSH_INTERVAL"),
            ("K6_OTEL_HEADERS", "abc", "invalid header \"abc\""),
            ("K6_OTEL_HTTP_EXPORTER_INSECURE", "maybe", "K6_OTEL_HTTP_EXPORTER_INSECURE"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert!(error.starts_with("could not create the 'opentelemetry' output: "), "{error}");
            assert!(error.contains(said), "{error}");
        }
    }
}
