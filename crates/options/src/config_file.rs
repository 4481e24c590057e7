//! The config file: options, and a few settings around the run.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::error::{Fault, Layer, OptionsError};
use crate::json::{Json, Notes};
use crate::options::{Options, Parsed};
use crate::value::record;

record! {
    /// The settings that only a config file has.
    pub(crate) struct Extra {
        /// Outputs.
        out: Vec<String> = "out",
        /// Stay after the test.
        linger: bool = "linger",
        /// Send no usage report.
        no_usage_report: bool = "noUsageReport",
        /// Show the test on a page.
        web_dashboard: bool = "webDashboard",
        /// Upload no archive.
        no_archive_upload: bool = "noArchiveUpload",
        /// Settings of outputs.
        collectors: Map<String, Value> = "collectors",
        /// Feature flags.
        features: Vec<String> = "features",
    }
}

/// The content of a config file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConfigFile {
    /// Its options, and the keys that mean nothing.
    pub parsed: Parsed,
    /// Outputs, as after `--out`.
    pub out: Option<Vec<String>>,
    /// Show the test on a page, as `--out web-dashboard` does.
    pub web_dashboard: Option<bool>,
    /// Stay after the test until a signal comes.
    pub linger: Option<bool>,
    /// Send no usage report (we never do).
    pub no_usage_report: Option<bool>,
    /// Feature flags.
    pub features: Option<Vec<String>>,
    /// Output type to that output's own settings.
    pub collectors: BTreeMap<String, Value>,
}

impl ConfigFile {
    /// Reads the text of a config file.
    ///
    /// # Errors
    /// [`OptionsError::NotJson`] if it is not JSON, [`OptionsError::Value`] for a wrong value.
    pub fn parse(text: &str) -> Result<Self, OptionsError> {
        let layer = Layer::ConfigFile;
        let json: Value = serde_json::from_str(text).map_err(|error| OptionsError::NotJson {
            reason: error.to_string(),
            line: u32::try_from(error.line()).unwrap_or(0),
            column: u32::try_from(error.column()).unwrap_or(0),
        })?;
        if json.is_null() {
            return Ok(Self::default());
        }
        let Value::Object(all) = json else {
            let fault = Fault::new("the file", "expected an object of options");
            return Err(OptionsError::Value { layer, fault });
        };
        let (own, options): (Map<_, _>, Map<_, _>) =
            all.into_iter().partition(|(name, _)| Extra::key(name).is_some());
        let (extra, faults) = Extra::from_object(&Value::Object(own));
        let (parsed, errors) = Options::read_json(&Value::Object(options), layer);
        let of_extra = faults.into_iter().map(|fault| OptionsError::Value { layer, fault });
        if let Some(error) = OptionsError::all(of_extra.chain(errors)) {
            return Err(error);
        }
        Ok(Self {
            parsed,
            out: extra.out,
            web_dashboard: extra.web_dashboard,
            linger: extra.linger,
            no_usage_report: extra.no_usage_report,
            features: extra.features,
            collectors: extra.collectors.unwrap_or_default().into_iter().collect(),
        })
    }
}

impl Extra {
    fn from_object(value: &Value) -> (Self, Vec<Fault>) {
        let notes = Notes::default();
        let root = Json::root(value, &notes);
        let mut extra = Self::default();
        for (name, value) in root.kept(root.entries()).into_iter().flatten() {
            root.kept(extra.read_key(Self::key(name).unwrap_or_default(), &value));
        }
        (extra, notes.faults.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_options_and_more() {
        let file = r#"{"vus":3,"out":["json=a"],"linger":true,"collectors":{"x":{"a":1}},"foo":1}"#;
        let file = ConfigFile::parse(file).unwrap();
        assert_eq!(file.parsed.options.vus, Some(3));
        assert_eq!(file.parsed.unknown, ["foo"]);
        assert_eq!((file.out, file.linger), (Some(vec!["json=a".into()]), Some(true)));
        assert_eq!(file.collectors["x"], serde_json::json!({ "a": 1 }));
    }

    #[test]
    fn wrong_files_are_refused() {
        assert!(matches!(ConfigFile::parse("{"), Err(OptionsError::NotJson { line: 1, .. })));
        assert!(ConfigFile::parse("[]").is_err());
        let fault = ConfigFile::parse(r#"{"out":"json"}"#).unwrap_err().to_string();
        insta::assert_snapshot!(fault, @r#"invalid option in the config file: out: expected a list, got "json""#);
    }
}
