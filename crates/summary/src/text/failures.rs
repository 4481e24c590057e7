//! The section FAILURES: the most frequent kinds of failed requests, each with a line that asks the same. k6 has none such.

use brunt_metrics::summary::{FailureSummary, Summary};

use super::{Writer, put};
use crate::escape;

/// The longest example, in characters; the end of a longer one is left out.
const EXAMPLE_MAX: usize = 1000;

/// Writes the kinds below the title, which the caller wrote.
pub(super) fn lines(
    writer: &Writer<'_>,
    summary: &Summary,
    most: usize,
    margin: &str,
    out: &mut String,
) {
    for kind in summary.failures.iter().take(most) {
        let what = writer.palette.bad(&format!("✗ {}", escape::plain(&told(kind))));
        put(out, format_args!("{margin}{what}\n"));
        if let Some(example) = &kind.example {
            let shown = escape::plain_up_to(example, EXAMPLE_MAX);
            put(out, format_args!("{margin}  {}\n", writer.palette.plain(&shown)));
        }
    }
    if summary.failures.len() > most {
        let more = summary.failures.len() - most;
        let kinds = if more == 1 { "kind" } else { "kinds" };
        let all = summary.failures.len().min(100);
        put(
            out,
            format_args!("{margin}… and {more} more {kinds}; --show-failures {all} shows them\n"),
        );
    }
}

/// `12 × HTTP status 503: GET http://host/users/{id}`, with the code of an error.
fn told(kind: &FailureSummary) -> String {
    let FailureSummary { code, message, method, route, count, .. } = kind;
    let is_status = message.starts_with("HTTP status ");
    let code = if is_status || code == "0" { String::new() } else { format!(" ({code})") };
    let name = if method.is_empty() { route.clone() } else { format!("{method} {route}") };
    format!("{count} × {message}{code}: {name}")
}
