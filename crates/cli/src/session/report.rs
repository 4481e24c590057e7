//! The report about a script that was written, and about its proof.

use std::fmt::Write as _;
use std::path::Path;

use brunt_correlate::Plan;
use brunt_scribe::{Content, Script};
use brunt_traffic::Recording;

use super::child::Pace;
use super::proof::{Fault, Run, Verdict};

/// The most lines of one kind that are shown.
const LINES_MAX: usize = 12;

/// All that it tells about.
pub(super) struct Told<'a> {
    pub(super) recording: &'a Recording,
    pub(super) plan: &'a Plan,
    pub(super) script: &'a Script,
    pub(super) verdict: Option<&'a Verdict>,
}

/// Writes with colours, or without.
struct Page {
    text: String,
    color: bool,
}

impl Page {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A row of the head: a word, and what it is.
    fn row(&mut self, name: &str, text: &str) {
        let name = self.paint("1", &format!("{name:<8}"));
        self.line(&format!("{name} {text}"));
    }

    /// Lines of one kind, cut if they are many.
    fn list(&mut self, lines: &[String]) {
        for line in lines.iter().take(LINES_MAX) {
            self.line(&format!("  {line}"));
        }
        let more = lines.len().saturating_sub(LINES_MAX);
        if more > 0 {
            self.line(&format!("  … and {more} more"));
        }
    }
}

impl Told<'_> {
    /// The report.
    pub(super) fn text(&self, out: &Path, color: bool) -> String {
        let mut page = Page { text: String::new(), color };
        self.files(&mut page, out);
        self.values(&mut page);
        if !self.script.notes.is_empty() {
            page.row("Notes", "");
            page.list(&self.script.notes);
        }
        self.suspects(&mut page);
        if let Some(verdict) = self.verdict {
            self.proof(&mut page, verdict);
        }
        page.text
    }

    fn files(&self, page: &mut Page, out: &Path) {
        let requests = count(self.script.calls.len(), "request");
        let steps = match self.recording.steps.len() {
            0 => String::new(),
            steps => format!(", {}", count(steps, "step")),
        };
        let path = out.join(super::files::SCRIPT);
        page.row("Script", &format!("{} ({requests}{steps})", path.display()));
        let others: Vec<String> = (self.script.files.iter().skip(1))
            .map(|(path, content)| match content {
                Content::Secret(_) => format!("{} (secret, mode 0600)", path.display()),
                _ => path.display().to_string(),
            })
            .collect();
        if !others.is_empty() {
            let more = others.len().saturating_sub(6);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let shown = others.iter().take(6).map(String::as_str).collect::<Vec<_>>().join(", ");
            page.row("Files", &(shown + &more));
        }
    }

    fn values(&self, page: &mut Page) {
        let plan = self.plan;
        let mut parts = vec![format!("{} taken from responses", plan.extractions.len())];
        for (number, what) in [
            (plan.forms.len(), "forms filled from their pages"),
            (plan.made.len(), "made anew"),
            (plan.inputs.len(), "typed by the user"),
            (plan.secrets.len(), "secret"),
        ] {
            if number > 0 {
                parts.push(format!("{number} {what}"));
            }
        }
        page.row("Values", &parts.join(", "));
    }

    fn suspects(&self, page: &mut Page) {
        if self.plan.suspects.is_empty() {
            return;
        }
        let suspects = self.plan.suspects.iter().map(|one| {
            let line = self
                .line_of(one.exchange)
                .map_or(String::new(), |line| format!("script.js:{line} "));
            let request = &self.recording.exchanges[one.exchange].request;
            format!(
                "{line}{} {}: {}: {}",
                request.method,
                brunt_prove::shown(&request.url),
                one.name,
                one.why
            )
        });
        let suspects: Vec<String> = suspects.collect();
        let name = page.paint("33", "Suspects");
        page.line(&format!("{name} look like tokens, and no response gave them:"));
        page.list(&suspects);
    }

    /// The line of the call that sends an exchange, or leads to it.
    fn line_of(&self, exchange: usize) -> Option<u32> {
        let first = self.plan.folded.get(exchange).copied().flatten().unwrap_or(exchange);
        self.script.calls.iter().find(|call| call.exchange == first).map(|call| call.line)
    }

    fn proof(&self, page: &mut Page, verdict: &Verdict) {
        for run in &verdict.runs {
            self.run(page, run);
        }
        if !verdict.changed.is_empty() {
            let names = verdict.changed.join(", ");
            page.line(&format!("  another source than the likeliest is used for: {names}"));
        }
        if verdict.pace == Some(Pace::AsRecorded) {
            page.line("  with the recorded pauses: without them it goes otherwise");
        }
        if verdict.is_proven() {
            let word = page.paint("1;32", "proven");
            let compared: usize = verdict.runs.iter().map(|run| run.compared).max().unwrap_or(0);
            page.line(&format!(
                "{word}: one user and two at once do what was recorded ({} compared)",
                count(compared, "response")
            ));
            return;
        }
        let word = page.paint("1;31", "not proven");
        let why = why(verdict);
        page.line(&format!("{word}{why}"));
    }

    fn run(&self, page: &mut Page, run: &Run) {
        let who = if run.users == 1 { "one user" } else { "two users at once" };
        if run.faults.is_empty() {
            let mark = page.paint("32", "✓");
            page.line(&format!(
                "{mark} {who}: {} as recorded",
                count(self.script.calls.len(), "request")
            ));
        } else {
            let mark = page.paint("31", "✗");
            page.line(&format!("{mark} {who}: {}", count(run.faults.len(), "fault")));
            let faults: Vec<String> = run.faults.iter().map(shown).collect();
            page.list(&faults);
        }
        if !run.notes.is_empty() && run.users == 1 {
            page.line(&format!("  {}:", count(run.notes.len(), "harmless difference")));
            let notes: Vec<String> =
                run.notes.iter().take(4).map(|note| format!("  {}", shown(note))).collect();
            page.list(&notes);
        }
    }
}

fn shown(fault: &Fault) -> String {
    match fault.line {
        Some(line) => format!("script.js:{line}: {}", fault.text),
        None => fault.text.clone(),
    }
}

/// The reason in half a sentence.
fn why(verdict: &Verdict) -> String {
    if verdict.is_interrupted {
        return ": a signal ended the replay".to_owned();
    }
    let Some(run) = verdict.runs.iter().find(|run| !run.faults.is_empty()) else {
        let absent = verdict.runs.iter().map(|run| run.absent).max().unwrap_or(0);
        let mut why = String::new();
        // Writing to a String can't fail.
        let _ = write!(
            why,
            ": statuses alone agree; {} could not be compared, since the recording lacks bodies or they are too long",
            count(absent, "response")
        );
        return why;
    };
    let first = run.faults.first().map(shown).unwrap_or_default();
    if run.users > 1 {
        format!(", two users at once disturb each other: {first}")
    } else {
        format!(": {first}")
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
