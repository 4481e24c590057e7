//! The proof: the script runs as one user, then as two at once, and each run is compared with the recording.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use brunt_correlate::Plan;
use brunt_prove::{Findings, Record};
use brunt_scribe::{Call, Script};
use brunt_traffic::Recording;
use serde_json::Value;

use super::child::{Ended, Pace, Runs};
use super::files::SCRIPT;
use super::{Wish, files};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

/// So often another candidate is tried.
const TRIES_MAX: usize = 8;

/// No further candidate is tried after this time.
const TRIES_TIME: Duration = Duration::from_mins(5);

/// A run takes no longer than this, and than three times the recorded time and a minute.
const RUN_MAX: Duration = Duration::from_mins(15);

/// A fault of a run, for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// In `script.js`, from 1.
    pub(super) line: Option<u32>,
    /// The call.
    pub(super) call: Option<usize>,
    pub(super) text: String,
}

/// One run of the script.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    pub(super) users: u32,
    /// The faults, in the order of the calls; those of the first user that has any.
    pub(super) faults: Vec<Fault>,
    /// Differences that are no faults.
    pub(super) notes: Vec<Fault>,
    /// Pages and JSON that were compared.
    pub(super) compared: usize,
    /// Pages and JSON whose bodies are not in the recording, or too long.
    pub(super) absent: usize,
    /// No server answered at all.
    is_unreachable: bool,
    findings: Findings,
}

impl Run {
    /// Better runs come further, with fewer faults.
    fn rank(&self) -> (bool, usize, std::cmp::Reverse<usize>) {
        let first = self.faults.iter().filter_map(|fault| fault.call).min().unwrap_or(usize::MAX);
        (self.faults.is_empty(), first, std::cmp::Reverse(self.faults.len()))
    }
}

/// The outcome of the proof.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) runs: Vec<Run>,
    /// Names of extractions that got another source than the likeliest.
    pub(super) changed: Vec<String>,
    /// The pauses of the last runs.
    pub(super) pace: Option<Pace>,
    /// A signal ended it.
    pub(super) is_interrupted: bool,
}

impl Verdict {
    /// Both runs were as recorded.
    pub(super) fn is_proven(&self) -> bool {
        !self.is_interrupted
            && self.runs.len() == 2
            && self.runs.iter().all(|run| run.faults.is_empty() && run.absent == 0)
    }
}

/// All that a proof needs.
pub(super) struct Proof<'a> {
    context: &'a Context,
    recording: &'a Recording,
    wish: &'a Wish,
    runs: Runs,
    pace: Pace,
}

impl<'a> Proof<'a> {
    /// Makes ready to start runs.
    pub(super) fn new(
        context: &'a Context,
        recording: &'a Recording,
        wish: &'a Wish,
    ) -> Outcome<Self> {
        let runs = Runs::new().map_err(|error| unstarted(&error))?;
        Ok(Self { context, recording, wish, runs, pace: Pace::Fast })
    }

    /// Proves the script. Where another candidate of the plan goes better, plan, script and files are changed to it.
    pub(super) fn run(&mut self, plan: &mut Plan, script: &mut Script) -> Outcome<Verdict> {
        let mut verdict = Verdict::default();
        self.say(&format!("replaying as one user; real requests go to {}", self.hosts(script)));
        let mut best = self.replay(plan, script, 1)?;
        if !best.faults.is_empty() && !best.is_unreachable {
            // A value that is not found has another source; other faults may be of a session that was too fast.
            let is_named = best.findings.faults().any(|finding| finding.extraction.is_some());
            if is_named {
                self.try_others(plan, script, &mut best, &mut verdict)?;
            }
            self.try_pace(plan, script, &mut best)?;
            if !is_named {
                self.try_others(plan, script, &mut best, &mut verdict)?;
            }
        }
        verdict.pace = Some(self.pace);
        let goes_on = best.faults.is_empty();
        verdict.runs.push(best);
        if goes_on && !self.runs.is_interrupted() {
            self.say("replaying as two users at the same time");
            verdict.runs.push(self.replay(plan, script, 2)?);
        }
        verdict.is_interrupted = self.runs.is_interrupted();
        Ok(verdict)
    }

    /// Runs it with the recorded pauses, if there are faults without them.
    fn try_pace(&mut self, plan: &Plan, script: &Script, best: &mut Run) -> Outcome<()> {
        /// Sessions without longer pauses run as they were recorded, more or less.
        const PAUSES_LEAST: Duration = Duration::from_secs(2);
        if best.faults.is_empty() || self.runs.is_interrupted() || self.pauses() < PAUSES_LEAST {
            return Ok(());
        }
        self.say(&format!(
            "replaying with the recorded pauses ({} s), in which tokens may expire",
            self.pauses().as_secs()
        ));
        self.pace = Pace::AsRecorded;
        let run = self.replay(plan, script, 1)?;
        if run.rank() > best.rank() {
            *best = run;
        } else {
            self.pace = Pace::Fast;
        }
        Ok(())
    }

    /// All times of the session in which no request was under way.
    fn pauses(&self) -> Duration {
        let mut end = Duration::ZERO;
        let mut all = Duration::ZERO;
        for exchange in &self.recording.exchanges {
            all += exchange.sent.saturating_sub(end);
            end = end.max(exchange.done);
        }
        all
    }

    /// Tries other candidates of the extractions that may be at fault; the best stays.
    fn try_others(
        &mut self,
        plan: &mut Plan,
        script: &mut Script,
        best: &mut Run,
        verdict: &mut Verdict,
    ) -> Outcome<()> {
        let begin = Instant::now();
        let mut tried: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut is_written = true;
        for _ in 0..TRIES_MAX {
            if best.faults.is_empty() || begin.elapsed() > TRIES_TIME || self.runs.is_interrupted()
            {
                break;
            }
            let next = brunt_prove::to_change(plan, &script.calls, &best.findings)
                .into_iter()
                .find(|candidate| !tried.contains(candidate));
            let Some((extraction, chosen)) = next else { break };
            tried.insert((extraction, chosen));
            let name = plan.extractions[extraction].name.clone();
            self.say(&format!("trying another source for {name}"));
            let mut other = plan.clone();
            other.extractions[extraction].chosen = chosen;
            let other_script = brunt_scribe::write(self.recording, &other, &self.wish.scribe);
            files::write(&self.wish.out, &other_script)?;
            is_written = false;
            let run = self.replay(&other, &other_script, 1)?;
            if run.rank() > best.rank() {
                (*plan, *script, *best) = (other, other_script, run);
                is_written = true;
                verdict.changed.push(name);
            }
        }
        if !is_written {
            files::write(&self.wish.out, script)?;
        }
        Ok(())
    }

    /// One run, compared.
    fn replay(&mut self, plan: &Plan, script: &Script, users: u32) -> Outcome<Run> {
        let limit = self.limit();
        let path = self.wish.out.join(SCRIPT);
        let ended =
            self.runs.run(&path, (users, self.pace), limit).map_err(|error| unstarted(&error))?;
        let records = brunt_prove::read(&ended.log);
        Ok(judge(self.recording, plan, &script.calls, (&records, &ended), (users, limit)))
    }

    fn limit(&self) -> Duration {
        let end = self.recording.exchanges.iter().map(|one| one.done).max().unwrap_or_default();
        (Duration::from_mins(1) + end * 3).min(RUN_MAX)
    }

    /// The servers of the script.
    fn hosts(&self, script: &Script) -> String {
        let calls = script.calls.iter();
        let urls = calls.filter_map(|call| self.recording.exchanges.get(call.exchange));
        let mut hosts: Vec<String> = Vec::new();
        for url in urls.map(|exchange| &exchange.request.url) {
            let host = url[url::Position::BeforeHost..url::Position::AfterPort].to_owned();
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let more = hosts.len().saturating_sub(3);
        hosts.truncate(3);
        let more = if more > 0 { format!(" and {more} others") } else { String::new() };
        hosts.join(", ") + &more
    }

    fn say(&self, text: &str) {
        if !self.context.global.quiet {
            self.context.screen.stderr(&format!("{text}\n"));
        }
    }
}

fn unstarted(error: &std::io::Error) -> Failure {
    let told = format!("the script can't be replayed: {error}");
    Failure::new(Exit::Other, anyhow::Error::msg(told))
}

/// The faults of a run.
fn judge(
    recording: &Recording,
    plan: &Plan,
    calls: &[Call],
    (records, ended): (&[Record], &Ended),
    (users, limit): (u32, Duration),
) -> Run {
    let mut run = Run { users, ..Run::default() };
    let bare = |text: String| Fault { line: None, call: None, text };
    if calls.is_empty() {
        run.faults.push(bare("the script sends no request".to_owned()));
        return run;
    }
    if ended.is_late {
        run.faults.push(bare(format!("the replay was stopped after {} seconds", limit.as_secs())));
    }
    let logged = errors(&ended.stderr);
    let all = brunt_prove::compare(recording, plan, calls, records);
    run.is_unreachable = unreachable(records, &mut run.faults);
    let fault = |finding: &brunt_prove::Finding| {
        let Some(call) = finding.call.and_then(|index| calls.get(index)) else {
            return bare(finding.text.clone());
        };
        let request = &recording.exchanges[call.exchange].request;
        let text =
            format!("{} {} {}", request.method, brunt_prove::shown(&request.url), finding.text);
        Fault { line: Some(call.line), call: finding.call, text }
    };
    // Of two users the one that fails first tells most.
    let worst = all.values().min_by_key(|one| one.first_call().unwrap_or(usize::MAX));
    if let Some(worst) = worst {
        if !run.is_unreachable {
            run.faults.extend(worst.faults().map(fault));
        }
        let is_note = |one: &&brunt_prove::Finding| one.weight == brunt_prove::Weight::Note;
        run.notes = worst.all.iter().filter(is_note).map(fault).collect();
        (run.compared, run.absent) = (worst.compared, worst.absent);
        run.findings = worst.clone();
    }
    let ran = all.keys().map(|(vu, _)| vu).collect::<BTreeSet<_>>().len();
    if ran < users as usize || all.len() < users as usize {
        let text = if ran == 0 {
            "the script sent no request".to_owned()
        } else {
            format!("{ran} of {users} users sent requests")
        };
        run.faults.push(bare(text));
    }
    if !run.is_unreachable {
        run.faults.extend(logged);
    }
    if run.faults.is_empty() && ended.code != Some(0) {
        let code = ended.code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
        run.faults.push(bare(format!("the replay ended with {code}")));
    }
    // Errors of the log come of the calls before them.
    run.faults.sort_by_key(|fault| fault.call.map_or((1, 0, fault.line), |call| (0, call, None)));
    run
}

/// Whether no server answered at all: that is one fault, and no other tells more.
fn unreachable(records: &[Record], faults: &mut Vec<Fault>) -> bool {
    let hops = || {
        records.iter().filter_map(|record| match record {
            Record::Hop(hop) => Some(hop),
            _ => None,
        })
    };
    let Some(first) = hops().next() else { return false };
    if hops().any(|hop| hop.status != 0) {
        return false;
    }
    let server = url::Url::parse(&first.url)
        .map(|url| url[..url::Position::BeforePath].to_owned())
        .unwrap_or_default();
    let why = first.failure.clone().unwrap_or_default();
    let text = format!("no connection to {server}: {why}");
    faults.push(Fault { line: None, call: None, text });
    true
}

/// Errors that the script logged: exceptions, promises that were rejected.
fn errors(stderr: &str) -> Vec<Fault> {
    /// More of them tell no more.
    const MOST: usize = 3;
    let lines = stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_error = |line: &Value| matches!(line["level"].as_str(), Some("error" | "fatal"));
    let mut found: Vec<Fault> = Vec::new();
    for line in lines.filter(is_error) {
        let message = line["msg"].as_str().unwrap_or_default();
        let whole = format!("{message} {}", line["error"].as_str().unwrap_or_default());
        let first = message.lines().next().unwrap_or_default().to_owned();
        let fault =
            Fault { line: line_of(&whole), call: None, text: format!("the script says: {first}") };
        if !found.iter().any(|known| known.text == fault.text) {
            found.push(fault);
        }
    }
    found.truncate(MOST);
    found
}

/// The line in `script.js:12:7`.
fn line_of(text: &str) -> Option<u32> {
    let behind = &text[text.find("script.js:")? + "script.js:".len()..];
    behind.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}
