//! Faults of options, and their places.

use std::fmt;

use brunt_metrics::ThresholdError;

/// A place that options come from; a later one is stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The JSON file of `--config`.
    ConfigFile,
    /// The script's `options` export, or an archive's metadata.
    Script,
    /// `K6_*` and `BRUNT_*` variables.
    Environment,
    /// Flags.
    CommandLine,
}

impl Layer {
    /// Its name in k6's messages.
    pub(crate) fn k6_name(self) -> &'static str {
        match self {
            Self::ConfigFile => "config file",
            Self::Script => "script",
            Self::Environment => "env",
            Self::CommandLine => "cli",
        }
    }

    fn place(self) -> &'static str {
        match self {
            Self::ConfigFile => "in the config file",
            Self::Script => "in the script",
            Self::Environment => "in the environment",
            Self::CommandLine => "on the command line",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ConfigFile => "config file",
            Self::Script => "script",
            Self::Environment => "environment",
            Self::CommandLine => "command line",
        })
    }
}

/// One wrong value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The key's path from `options` on, such as `scenarios.browse.stages[1].target`; the variable or
    /// the flag if the value was given there.
    pub path: String,
    /// The expected value and the given one.
    pub reason: String,
    /// k6 sees it only when it sets the test up, and counts it as no fault of the configuration.
    pub is_late: bool,
}

impl Fault {
    pub(crate) fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into(), is_late: false }
    }

    pub(crate) fn late(self) -> Self {
        Self { is_late: true, ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}

/// Why options cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A value that cannot be read.
    #[error("invalid option {}: {fault}", layer.place())]
    Value {
        /// Where it was given.
        layer: Layer,
        /// The fault.
        fault: Fault,
    },
    /// The config file is not JSON.
    #[error("the config file is not valid JSON: {reason}")]
    NotJson {
        /// The message of the parser.
        reason: String,
        /// From 1; 0 if it is not known.
        line: u32,
        /// From 1; 0 if it is not known.
        column: u32,
    },
    /// Two shortcuts that exclude each other.
    #[error("{first} and {second} cannot be used together: they are two ways to say what to run")]
    Conflict {
        /// Where they were given.
        layer: Layer,
        /// A top-level key.
        first: &'static str,
        /// A top-level key.
        second: &'static str,
    },
    /// A value that can be read, but makes no sense.
    #[error("invalid options: {fault}")]
    Invalid {
        /// Where it was given, if that is known.
        layer: Option<Layer>,
        /// The fault.
        fault: Fault,
    },
    /// A threshold that cannot be read, or cannot be judged.
    #[error("thresholds.{metric}{}: {source}", index.map(|index| format!("[{index}]")).unwrap_or_default())]
    Threshold {
        /// The key under `thresholds`.
        metric: String,
        /// Which entry, from 0; all of them if there is none.
        index: Option<usize>,
        /// Its fault.
        #[source]
        source: Box<ThresholdError>,
        /// The word that was perhaps meant.
        hint: Option<String>,
        /// Where it was given, if that is known.
        layer: Option<Layer>,
    },
    /// More than one of the others, in the order in which they were found.
    #[error("{} options are wrong: {}", .0.len(), .0.iter().map(Self::short).collect::<Vec<_>>().join("; "))]
    Several(Vec<OptionsError>),
}

impl OptionsError {
    /// All of them as one; nothing if there is none.
    pub fn all(errors: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut flat: Vec<Self> = errors.into_iter().flat_map(Self::into_each).collect();
        if flat.len() > 1 { Some(Self::Several(flat)) } else { flat.pop() }
    }

    /// One by one.
    pub fn into_each(self) -> Vec<Self> {
        match self {
            Self::Several(all) => all,
            one => vec![one],
        }
    }

    /// One by one.
    pub fn each(&self) -> &[Self] {
        match self {
            Self::Several(all) => all,
            one => std::slice::from_ref(one),
        }
    }

    /// The message where it is one of several.
    pub fn short(&self) -> String {
        match self {
            Self::Value { fault, .. } | Self::Invalid { fault, .. } => fault.to_string(),
            other => other.to_string(),
        }
    }

    /// The path of the (first) guilty key, to point at it in the script.
    pub fn path(&self) -> Option<String> {
        match self {
            Self::Value { fault, .. } | Self::Invalid { fault, .. } => Some(fault.path.clone()),
            Self::NotJson { .. } => None,
            Self::Conflict { first, .. } => Some((*first).into()),
            Self::Threshold { metric, index: Some(index), .. } => {
                Some(format!("thresholds.{metric}[{index}]"))
            }
            Self::Threshold { metric, .. } => Some(format!("thresholds.{metric}")),
            Self::Several(all) => all.first().and_then(Self::path),
        }
    }

    /// Whether it is a fault of the configuration to k6; the others are found when the test is set up. Of several, one
    /// is enough, unless a flag that cannot be read is among them, which comes first.
    pub fn is_of_configuration(&self) -> bool {
        match self {
            Self::Value { fault, .. } | Self::Invalid { fault, .. } => !fault.is_late,
            Self::NotJson { .. } | Self::Conflict { .. } | Self::Threshold { .. } => true,
            Self::Several(all) => {
                let is_first = |error: &Self| error.is_unreadable_flag();
                !all.iter().any(is_first) && all.iter().any(Self::is_of_configuration)
            }
        }
    }

    fn is_unreadable_flag(&self) -> bool {
        matches!(self, Self::Value { layer: Layer::CommandLine, fault } if fault.is_late)
    }

    /// Where the guilty value was given, if that is known.
    pub fn layer(&self) -> Option<Layer> {
        match self {
            Self::Value { layer, .. } | Self::Conflict { layer, .. } => Some(*layer),
            Self::NotJson { .. } => Some(Layer::ConfigFile),
            Self::Invalid { layer, .. } | Self::Threshold { layer, .. } => *layer,
            Self::Several(all) => all.first().and_then(Self::layer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(layer: Layer, path: &str) -> OptionsError {
        OptionsError::Value { layer, fault: Fault::new(path, "no") }
    }

    #[test]
    fn several_are_one_error_that_tells_each() {
        assert_eq!(OptionsError::all([]), None);
        let one = wrong(Layer::Script, "vus");
        assert_eq!(OptionsError::all([one.clone()]), Some(one.clone()));
        let two = OptionsError::all([one.clone(), wrong(Layer::Script, "rps")]).unwrap();
        let three = OptionsError::all([wrong(Layer::ConfigFile, "dns"), two]).unwrap();
        assert_eq!(three.to_string(), "3 options are wrong: dns: no; vus: no; rps: no");
        assert_eq!((three.layer(), three.path()), (Some(Layer::ConfigFile), Some("dns".into())));
    }
}
