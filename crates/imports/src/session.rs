//! The outcome of reading requests: a recording, its plan, and notes.

use std::path::Path;
use std::time::Duration;

use brunt_correlate::Plan;
use brunt_traffic::{Exchange, Recording, Response};

use crate::draft::{Draft, Ledger};

/// Requests of a source, ready for the script's writer.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// The requests, a millisecond or two apart: no pause is meant.
    pub recording: Recording,
    /// Where their variable values come from.
    pub plan: Plan,
    /// For the user, a line each: what was not translated, what has no effect, what needs a value.
    pub notes: Vec<String>,
}

/// Where a source is read: things that its text refers to.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Relative paths in the source begin here.
    pub folder: &'a Path,
    /// The value of a variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Between the begins of two requests of a source that tells no times; less than any pause.
const APART: Duration = Duration::from_millis(2);

impl Session {
    /// When the next request is sent.
    pub(crate) fn next_sent(&self) -> Duration {
        APART.saturating_mul(u32::try_from(self.recording.exchanges.len()).unwrap_or(u32::MAX))
    }

    /// Adds a request. The reason why it can't be built is the error.
    pub(crate) fn push(
        &mut self,
        draft: &Draft,
        ledger: &mut Ledger,
        response: Option<Response>,
    ) -> Result<(), String> {
        let index = self.recording.exchanges.len();
        let (request, substitutions) = draft.build(index, ledger)?;
        self.plan.folded.push(None);
        self.plan.substitutions.extend(substitutions);
        let sent = self.next_sent();
        self.recording.exchanges.push(Exchange {
            number: index,
            sent,
            done: sent + APART / 2,
            request,
            response,
            failure: None,
            resource: None,
            messages: Vec::new(),
            events: Vec::new(),
        });
        Ok(())
    }

    /// Takes over what the requests used.
    pub(crate) fn finish(mut self, ledger: Ledger) -> Self {
        self.plan.inputs = ledger.inputs;
        self.plan.secrets = ledger.secrets;
        self.plan.made = ledger.made;
        self.notes.extend(ledger.notes);
        self
    }
}
