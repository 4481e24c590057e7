//! Thresholds that are refused.

use crate::metric::Kind;

/// Why a threshold is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdError {
    /// The expression has no operator.
    #[error(
        "malformed threshold \"{0}\": write it as aggregation, operator, number, such as p(95)<500"
    )]
    Malformed(String),
    /// The left side is none.
    #[error(
        "malformed threshold \"{source_text}\": \"{left}\" is not an aggregation; use value, count, rate, \
         avg, min, med, max or p(N) with N from 0 to 100"
    )]
    Aggregation {
        /// The whole expression.
        source_text: String,
        /// Its left side.
        left: String,
    },
    /// The right side is no number.
    #[error("malformed threshold \"{source_text}\": \"{right}\" is not a number")]
    Number {
        /// The whole expression.
        source_text: String,
        /// Its right side.
        right: String,
    },
    /// The braces don't close.
    #[error("malformed threshold name \"{0}\": the braces around its tags don't match")]
    Braces(String),
    /// A tag in the braces is no pair.
    #[error("malformed threshold name \"{name}\": \"{pair}\" is not a tag; write {{key:value}}")]
    Tag {
        /// The whole name.
        name: String,
        /// The text between two commas.
        pair: String,
    },
    /// There is no such metric.
    #[error(
        "threshold on \"{name}\": there is no metric named \"{metric}\"; custom metrics must be made \
         in the init code"
    )]
    UnknownMetric {
        /// The name in the options.
        name: String,
        /// The metric in it.
        metric: String,
    },
    /// The metric has no such number.
    #[error(
        "threshold \"{source_text}\" on \"{name}\": a {kind} has no {aggregation}; it has {allowed}"
    )]
    Unsupported {
        /// The whole expression.
        source_text: String,
        /// The name in the options.
        name: String,
        /// Of the metric.
        kind: Kind,
        /// The aggregation that was asked for.
        aggregation: String,
        /// The aggregations of the metric.
        allowed: &'static str,
    },
    /// A key that k6 doesn't have makes no sense here.
    #[error("threshold \"{source_text}\": {key} {reason}")]
    Timing {
        /// The whole expression.
        source_text: String,
        /// The key: `window`, `after`, `for`, `exitCode`, `name`.
        key: &'static str,
        /// Why not.
        reason: String,
    },
}
