//! The way of outputs that tell totals: one telling at a time, and at the end the last one counts.

use super::Sender;
use crate::output::Written;

/// Sends the totals of all series again and again. A telling that fails, or that is left out because the server is still busy
/// with the one before, loses nothing: the next one tells it, too.
pub(crate) struct Totals {
    /// As messages name the output.
    output: &'static str,
    /// None once it is finished.
    sender: Option<Sender>,
    is_behind: bool,
    trouble: Option<String>,
}

impl Totals {
    pub(crate) fn new(output: &'static str, sender: Sender) -> Self {
        Self { output, sender: Some(sender), is_behind: false, trouble: None }
    }

    /// None once it is finished.
    pub(crate) fn sender(&self) -> Option<&Sender> {
        self.sender.as_ref()
    }

    /// Whether the last telling is through. The first time that it isn't, `late` is logged.
    pub(crate) fn is_free(&mut self, late: &str) -> bool {
        let is_free = self.sender.as_ref().is_none_or(Sender::is_idle);
        if !is_free && !self.is_behind {
            self.is_behind = true;
            let output = self.output;
            log::warn!(output; "{late}");
        }
        is_free
    }

    /// The series that were lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.sender.as_ref().map_or(0, Sender::lost)
    }

    /// Waits for the last telling, which was of `told` series. `lost_before`: those that were lost before it, which it tells
    /// once more. `left_out`: those that the output had no room for.
    pub(crate) fn finish(&mut self, told: u64, lost_before: u64, left_out: u64) -> Written {
        let Some(sender) = self.sender.take() else { return Written::default() };
        let sent = sender.finish();
        self.trouble = sent.trouble;
        let lost = sent.lost.saturating_sub(lost_before);
        Written { samples: told.saturating_sub(lost), lost: lost + left_out }
    }

    /// The first failure, once it is finished.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.clone()
    }
}
