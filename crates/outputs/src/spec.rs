//! The argument of `--out`: `TYPE` or `TYPE=ARG`.

use crate::output::OutputError;

/// The types that can be used, by the names that are current.
const KNOWN: [(&str, OutputKind); 8] = [
    ("csv", OutputKind::Csv),
    ("experimental-prometheus-rw", OutputKind::Prometheus),
    ("influxdb", OutputKind::Influxdb),
    ("json", OutputKind::Json),
    ("opentelemetry", OutputKind::Opentelemetry),
    ("run", OutputKind::Run),
    ("statsd", OutputKind::Statsd),
    ("web-dashboard", OutputKind::WebDashboard),
];

/// Types that scripts and guides name and that are not here: why, and what to use.
const ABSENT: [(&str, &str); 3] = [
    (
        "cloud",
        "Brunt has no cloud service; use json, csv, influxdb, opentelemetry or \
         experimental-prometheus-rw",
    ),
    (
        "datadog",
        "k6 removed it in v0.34.0; use statsd with K6_STATSD_ENABLE_TAGS=true, or opentelemetry",
    ),
    (
        "kafka",
        "k6 removed it in v0.34.0 and has it as the extension xk6-output-kafka; Brunt does not have it: \
         use opentelemetry and a collector that writes to Kafka",
    ),
];

/// A type of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A JSON object per line.
    Json,
    /// A table.
    Csv,
    /// Line protocol, over HTTP or UDP.
    Influxdb,
    /// OTLP, over gRPC or HTTP.
    Opentelemetry,
    /// Remote write.
    Prometheus,
    /// A run file: ours.
    Run,
    /// Datagrams, with or without tags.
    Statsd,
    /// A page of our own, while the test runs and after it.
    WebDashboard,
}

/// One `--out`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSpec {
    /// Its type.
    pub kind: OutputKind,
    /// The text after the `=`; empty without one.
    pub arg: String,
}

impl OutputKind {
    /// The names of all types.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|(name, _)| *name)
    }
}

impl OutputSpec {
    /// Reads `json`, `json=out.json.gz`, `csv=fileName=out.csv,saveInterval=2s`, …
    ///
    /// # Errors
    /// [`OutputError::Absent`] for a type that others have and we don't, [`OutputError::Unknown`] for
    /// any other.
    pub fn parse(text: &str) -> Result<Self, OutputError> {
        let (name, arg) = text.split_once('=').unwrap_or((text, ""));
        let current = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        let kind = match (current, name) {
            (Some(kind), _) => kind,
            (None, old_name) => Self::of_old_name(old_name)?,
        };
        Ok(Self { kind, arg: arg.to_owned() })
    }

    fn of_old_name(name: &str) -> Result<OutputKind, OutputError> {
        Ok(match name {
            "xk6-influxdb" => OutputKind::Influxdb,
            "experimental-opentelemetry" => {
                log::warn!(
                    "the output experimental-opentelemetry is called opentelemetry now; the old name \
                     still works"
                );
                OutputKind::Opentelemetry
            }
            _ => {
                return Err(match ABSENT.iter().find(|(absent, _)| *absent == name) {
                    Some((name, instead)) => OutputError::Absent { name, instead },
                    None => {
                        OutputError::Unknown { name: name.to_owned(), known: Self::known_for(name) }
                    }
                });
            }
        })
    }

    fn known_for(name: &str) -> String {
        let near = brunt_spelling::question(name, OutputKind::names());
        let all: Vec<_> = OutputKind::names().collect();
        let all = format!("available types are: {}", all.join(", "));
        near.map_or(all.clone(), |question| format!("{question} {all}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_ends_at_the_first_equals_sign() {
        let spec = OutputSpec::parse("csv=fileName=a.csv,saveInterval=2s").unwrap();
        assert_eq!((spec.kind, &*spec.arg), (OutputKind::Csv, "fileName=a.csv,saveInterval=2s"));
        let spec = OutputSpec::parse("json").unwrap();
        assert_eq!((spec.kind, &*spec.arg), (OutputKind::Json, ""));
    }

    #[test]
    fn other_types_are_refused_by_name() {
        let said = |text| OutputSpec::parse(text).unwrap_err().to_string();
        assert!(said("kafka=x").starts_with("could not create the 'kafka' output: "));
        assert!(said("datadog").contains("K6_STATSD_ENABLE_TAGS=true"));
        let list = "available types are: csv, experimental-prometheus-rw, influxdb, json, opentelemetry, run, statsd, \
                    web-dashboard";
        assert_eq!(said("nope"), format!("invalid output type 'nope', {list}"));
        assert!(
            said("jsn").starts_with("invalid output type 'jsn', did you mean \"json\"? available")
        );
        assert_eq!(said(""), format!("invalid output type '', {list}"));
    }
}
