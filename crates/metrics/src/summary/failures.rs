//! The requests that failed, kind by kind.

/// A kind of failure: a code, a message and a route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureSummary {
    /// k6's number of the error, or the status; `0` if neither is known.
    pub code: String,
    /// Why it failed: `HTTP status 503`, `dial: connection refused`.
    pub message: String,
    /// `GET`; empty if no tag says so.
    pub method: String,
    /// The route, or the name or URL where requests are not told apart by route.
    pub route: String,
    /// How often.
    pub count: u64,
    /// A line for a shell that asks the same as one of them. The ledger knows none: who keeps exchanges fills it in.
    pub example: Option<String>,
}
