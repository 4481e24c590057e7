//! The verdict in words on stderr: a block on a terminal, a line of the log for each finding elsewhere.

use brunt_verdict::Verdict;

use crate::Context;

/// Says all findings; nothing if there are none.
pub(crate) fn tell(context: &Context, verdict: &Verdict) {
    if context.screen.stderr_is_terminal() {
        context.screen.stderr(&verdict.text(context.global.color));
        return;
    }
    for finding in &verdict.findings {
        log::warn!(finding = finding.name.as_str(), verdict = finding.level.text(); "{}", finding.line());
    }
}
