//! The exceptions that ended iterations: a chapter that is there only if there were any.

use brunt_metrics::summary::Exceptions;

use super::{Writer, put};

/// Different exceptions that are shown; the others are in the log.
const SHOWN_MAX: usize = 10;

/// The characters of a message that are shown.
const MESSAGE_MAX: usize = 200;

/// One line for each exception, the first that came in front, and one for where it came from.
pub(super) fn lines(writer: &Writer<'_>, exceptions: &Exceptions, margin: &str, out: &mut String) {
    let shown = exceptions.told.iter().take(SHOWN_MAX);
    for exception in shown {
        // The text of an exception must not steer the terminal.
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let mut message: String =
            exception.message().chars().map(visible).take(MESSAGE_MAX).collect();
        if exception.message().chars().nth(MESSAGE_MAX).is_some() {
            message.push('…');
        }
        let line = writer.palette.bad(&format!("✗ {}× {message}", exception.count));
        put(out, format_args!("{margin}{line}\n"));
        if let Some(place) = exception.place() {
            let place: String = place.chars().map(visible).collect();
            put(out, format_args!("{margin}  {}\n", writer.palette.extra(&place)));
        }
    }
    let rest: u64 = exceptions.told.iter().skip(SHOWN_MAX).map(|exception| exception.count).sum();
    let rest = rest + exceptions.others;
    if rest > 0 {
        let line = writer.palette.bad(&format!("✗ {rest}× others"));
        put(out, format_args!("{margin}{line}\n"));
    }
}
