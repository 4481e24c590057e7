//! What is wrong with options, and where.

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
    /// What k6 calls it in messages.
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
    /// What was expected and what was given.
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
        /// What is wrong.
        fault: Fault,
    },
    /// The config file is not JSON.
    #[error("the config file is not valid JSON: {0}")]
    NotJson(String),
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
    /// Values that can be read, but make no sense. Never empty.
    #[error("invalid options: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Fault>),
    /// A threshold that cannot be read.
    #[error("thresholds.{metric}[{index}]: {source}")]
    Threshold {
        /// The key under `thresholds`.
        metric: String,
        /// Which entry, from 0.
        index: usize,
        /// What is wrong with it.
        #[source]
        source: Box<ThresholdError>,
    },
}

impl OptionsError {
    /// The path of the (first) guilty key, to point at it in the script.
    pub fn path(&self) -> Option<String> {
        match self {
            Self::Value { fault, .. } => Some(fault.path.clone()),
            Self::NotJson(_) => None,
            Self::Conflict { first, .. } => Some((*first).into()),
            Self::Invalid(faults) => faults.first().map(|fault| fault.path.clone()),
            Self::Threshold { metric, index, .. } => Some(format!("thresholds.{metric}[{index}]")),
        }
    }

    /// Whether it is a fault of the configuration to k6; the others are found when the test is set up.
    pub fn is_of_configuration(&self) -> bool {
        match self {
            Self::Value { fault, .. } => !fault.is_late,
            Self::Invalid(faults) => faults.iter().any(|fault| !fault.is_late),
            Self::NotJson(_) | Self::Conflict { .. } | Self::Threshold { .. } => true,
        }
    }

    /// Where the guilty value was given, if that is known.
    pub fn layer(&self) -> Option<Layer> {
        match self {
            Self::Value { layer, .. } | Self::Conflict { layer, .. } => Some(*layer),
            Self::NotJson(_) => Some(Layer::ConfigFile),
            Self::Invalid(_) | Self::Threshold { .. } => None,
        }
    }
}
