//! What `--out` says: `TYPE` or `TYPE=ARG`.

use crate::output::OutputError;

/// The types that work, as messages list them.
const KNOWN: &str = "csv, json";

/// Types of k6 that are not here yet.
const LATER: [&str; 10] = [
    "cloud",
    "datadog",
    "experimental-opentelemetry",
    "experimental-prometheus-rw",
    "influxdb",
    "kafka",
    "opentelemetry",
    "statsd",
    "web-dashboard",
    "xk6-influxdb",
];

/// A type of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A JSON object per line.
    Json,
    /// A table.
    Csv,
}

/// One `--out`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSpec {
    /// Its type.
    pub kind: OutputKind,
    /// What stands behind the `=`; empty if nothing does.
    pub arg: String,
}

impl OutputSpec {
    /// Reads `json`, `json=out.json.gz`, `csv=fileName=out.csv,saveInterval=2s`, …
    ///
    /// # Errors
    /// [`OutputError::NotYet`] for a type that k6 has and we don't, [`OutputError::Unknown`] for any
    /// other.
    pub fn parse(text: &str) -> Result<Self, OutputError> {
        let (name, arg) = text.split_once('=').unwrap_or((text, ""));
        let kind = match name {
            "json" => OutputKind::Json,
            "csv" => OutputKind::Csv,
            _ if LATER.contains(&name) => {
                return Err(OutputError::NotYet { name: name.to_owned(), known: KNOWN });
            }
            _ => {
                return Err(OutputError::Unknown { name: name.to_owned(), known: KNOWN });
            }
        };
        Ok(Self { kind, arg: arg.to_owned() })
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
        assert_eq!(
            said("influxdb=http://localhost:8086/k6"),
            "the output \"influxdb\" is not supported yet; supported are: csv, json"
        );
        assert_eq!(said("nope"), "unknown output type \"nope\"; supported are: csv, json");
        assert_eq!(said(""), "unknown output type \"\"; supported are: csv, json");
    }
}
