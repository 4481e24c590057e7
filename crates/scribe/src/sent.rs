//! The body of a call.

use crate::code::Expr;

/// The body of a call.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// The argument; none if there is no body.
    pub(crate) content: Option<Expr>,
    /// The expression of `Content-Type`, unless k6 sets it.
    pub(crate) content_type: Option<String>,
}
