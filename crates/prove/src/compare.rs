//! A replay, compared with the recording.

use std::collections::{BTreeMap, BTreeSet};

use brunt_correlate::Plan;
use brunt_scribe::Call;
use brunt_traffic::{Body, Exchange, Recording, Resource, Response};

use crate::address::{is_same_page, shown};
use crate::body::{self, Kind};
use crate::lay::{Laid, is_socket, last_of, lay};
use crate::record::Record;
use crate::values;

/// How much a difference says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It may come with another visit.
    Note,
    /// The script does not do what was recorded.
    Fault,
}

/// A difference between a replay and the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How much it says.
    pub weight: Weight,
    /// The call, by its place in the script's calls.
    pub call: Option<usize>,
    /// The end of a sentence that begins with the call.
    pub text: String,
    /// The extraction that it is about.
    pub extraction: Option<usize>,
}

/// The differences of one user's replay, in the order of the calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// All of them.
    pub all: Vec<Finding>,
    /// Pages and JSON that could be compared.
    pub compared: usize,
    /// Pages and JSON whose bodies the recording does not have.
    pub absent: usize,
    /// Extractions and candidates that give another value in the replay than the chosen one.
    pub others: Vec<(usize, usize)>,
}

impl Findings {
    pub(crate) fn add(&mut self, finding: Finding) {
        if !self.all.contains(&finding) {
            self.all.push(finding);
        }
    }

    fn fault(&mut self, call: usize, text: impl Into<String>) {
        let (text, call) = (text.into(), Some(call));
        self.add(Finding { weight: Weight::Fault, call, text, extraction: None });
    }

    fn note(&mut self, call: usize, text: impl Into<String>) {
        let (text, call) = (text.into(), Some(call));
        self.add(Finding { weight: Weight::Note, call, text, extraction: None });
    }

    /// The faults alone.
    pub fn faults(&self) -> impl Iterator<Item = &Finding> {
        self.all.iter().filter(|one| one.weight == Weight::Fault)
    }

    /// The first call with a fault.
    pub fn first_call(&self) -> Option<usize> {
        self.faults().filter_map(|one| one.call).min()
    }

    /// For each call that was not sent because of one before, one line would hide that one: only the first is kept.
    fn sort(&mut self) {
        self.all.sort_by_key(|one| (one.call.is_none(), one.call));
    }
}

/// Compares the records of a run with the recording: the findings of each user, by the user and the iteration.
pub fn compare(
    recording: &Recording,
    plan: &Plan,
    calls: &[Call],
    records: &[Record],
) -> BTreeMap<(u64, u64), Findings> {
    let mut users: BTreeMap<(u64, u64), Vec<&Record>> = BTreeMap::new();
    for record in records {
        users.entry(record.of()).or_default().push(record);
    }
    let one = |records: &Vec<&Record>| {
        let laid = lay(recording, plan, calls, records);
        one_user(recording, plan, calls, &laid)
    };
    users.iter().map(|(user, records)| (*user, one(records))).collect()
}

fn one_user(recording: &Recording, plan: &Plan, calls: &[Call], laid: &Laid) -> Findings {
    let mut findings = Findings::default();
    let values::Renewed { plan: renewed, missing, others } = values::renewed(plan, laid);
    findings.others = others;
    let hosts = hosts(recording, plan);
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for plan in [plan, &renewed] {
        known.extend(plan.extractions.iter().map(|one| one.recorded.as_str()));
        known.extend(plan.inputs.iter().map(|one| one.recorded.as_str()));
        known.extend(plan.made.iter().map(|one| one.recorded.as_str()));
    }
    let unsent = calls.iter().zip(&laid.hops).filter(|(_, hops)| hops.is_empty()).count();
    for (index, call) in calls.iter().enumerate() {
        let Some(recorded) = recording.exchanges.get(call.exchange) else { continue };
        let is_beside = is_beside(recorded, &hosts);
        let mut own = Findings::default();
        if laid.hops[index].is_empty() {
            let more = if unsent > 1 {
                format!("; {unsent} requests of {} are not", calls.len())
            } else {
                String::new()
            };
            let is_first = !findings.all.iter().any(|one| one.text.starts_with("is not sent"));
            if is_first {
                own.fault(index, format!("is not sent{more}"));
            }
        } else {
            let last = last_of(plan, call.exchange);
            let pair = (&recording.exchanges[last], &laid.replay.exchanges[last]);
            let is_known = |word: &str| known.contains(word);
            exchange(pair, index, laid.cut.contains(&last), &is_known, &mut own);
        }
        findings.compared += own.compared;
        findings.absent += own.absent;
        for mut finding in own.all {
            if is_beside {
                finding.weight = Weight::Note;
            }
            findings.add(finding);
        }
    }
    without_effect((recording, plan, calls), laid, &mut findings);
    for index in missing {
        let extraction = &plan.extractions[index];
        let call = calls.iter().position(|call| {
            call.exchange == extraction.exchange
                || last_of(plan, call.exchange) == extraction.exchange
        });
        let source = values::described(extraction.source());
        let text = format!("gives no {}: nothing is found in {source}", extraction.name);
        findings.add(Finding { weight: Weight::Fault, call, text, extraction: Some(index) });
    }
    values::stale((recording, plan, calls), laid, &renewed, &mut findings);
    for (call, name) in &laid.failed {
        // A check that sees what was told already tells no more.
        if findings.faults().any(|one| one.call.is_some() && one.call == *call) {
            continue;
        }
        let text = format!("is followed by the check {name:?}, which did not hold");
        findings.add(Finding { weight: Weight::Fault, call: *call, text, extraction: None });
    }
    for hop in laid.extra.iter().take(3) {
        let path = url::Url::parse(&hop.url).map(|url| shown(&url)).unwrap_or_default();
        let text =
            format!("the script also sends {} {path}, which is not in the recording", hop.method);
        findings.add(Finding { weight: Weight::Note, call: None, text, extraction: None });
    }
    findings.sort();
    findings
}

/// Requests that changed the page from which they were sent in the recording, and did not in the replay: the server showed it again.
fn without_effect(
    (recording, plan, calls): (&Recording, &Plan, &[Call]),
    laid: &Laid,
    findings: &mut Findings,
) {
    let page = |recording: &Recording, exchange: usize| -> Option<String> {
        let response = recording.exchanges.get(exchange)?.response.as_ref()?;
        let text = text_of(response)?;
        (Kind::of(&response.headers.media_type(), &text) == Kind::Page).then_some(text)
    };
    for (index, call) in calls.iter().enumerate() {
        let method = &recording.exchanges[call.exchange].request.method;
        let has_fault = findings.faults().any(|one| one.call == Some(index));
        if matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS")
            || has_fault
            || laid.hops[index].is_empty()
        {
            continue;
        }
        let last = last_of(plan, call.exchange);
        let path = recording.exchanges[last].request.url.path();
        let is_before = |call: &&Call| {
            recording.exchanges[last_of(plan, call.exchange)].request.url.path() == path
        };
        let Some(before) = calls[..index].iter().rev().find(is_before) else { continue };
        let before = last_of(plan, before.exchange);
        let is_same = |recording: &Recording| {
            let (one, other) = (page(recording, before)?, page(recording, last)?);
            crate::page::says_the_same(&one, &other)
        };
        if is_same(recording) == Some(false) && is_same(&laid.replay) == Some(true) {
            findings.fault(index, "gives the page as it was before, and the recorded one changed");
        }
    }
}

/// The servers of the application: those of pages, and those whose values the plan uses.
fn hosts(recording: &Recording, plan: &Plan) -> BTreeSet<String> {
    let used = plan.extractions.iter().map(|one| one.exchange);
    let used = used.chain(plan.substitutions.iter().map(|one| one.exchange));
    let used: BTreeSet<usize> = used.chain(plan.forms.iter().map(|one| one.exchange)).collect();
    let first = recording.exchanges.first().and_then(|one| one.request.url.host_str());
    let counts = |(index, exchange): &(usize, &Exchange)| {
        let is_page = exchange.resource == Some(Resource::Document)
            && exchange.request.headers.get("sec-fetch-dest").is_none_or(|dest| dest != "iframe");
        let is_used = used.contains(index);
        let is_data = exchange.request.method != "GET" && !is_beacon(exchange);
        is_page || is_used || is_data
    };
    let all = recording.exchanges.iter().enumerate().filter(counts);
    let all = all.filter_map(|(_, exchange)| exchange.request.url.host_str()).chain(first);
    all.map(str::to_owned).collect()
}

/// Whether it goes to a server that is not the application's: advertisements, counters.
fn is_beside(exchange: &Exchange, hosts: &BTreeSet<String>) -> bool {
    exchange.request.url.host_str().is_none_or(|host| !hosts.contains(host))
}

fn is_beacon(exchange: &Exchange) -> bool {
    exchange.resource == Some(Resource::Other)
        || exchange.request.headers.get("sec-fetch-mode") == Some("no-cors")
}

fn exchange(
    (recorded, replayed): (&Exchange, &Exchange),
    index: usize,
    is_cut: bool,
    is_known: &dyn Fn(&str) -> bool,
    own: &mut Findings,
) {
    let Some(new) = &replayed.response else {
        let why = replayed.failure.clone().unwrap_or_else(|| "no response came".to_owned());
        if recorded.response.is_some() {
            own.fault(index, format!("gets no response: {why}"));
        }
        return;
    };
    let Some(old) = &recorded.response else {
        own.note(index, format!("gets a response ({}), recorded was none", new.status));
        return;
    };
    if is_socket(recorded) {
        socket((recorded, replayed), (old, new), index, own);
        return;
    }
    if !is_same_status(old.status, new.status) {
        own.fault(index, format!("answers {}, recorded {}", new.status, old.status));
        // An error page has no more to tell, but why.
        if let Some(word) = text_of(new).and_then(|text| crate::errors::new_word(&text, "")) {
            own.note(index, format!("says \"{word}\""));
        }
        return;
    }
    if !is_same_page(&recorded.request.url, &replayed.request.url, is_known) {
        let (to, from) = (shown(&replayed.request.url), shown(&recorded.request.url));
        own.fault(index, format!("leads to {to}, recorded {from}"));
    }
    bodies((old, new), recorded, index, is_cut, own);
}

/// Whether two statuses mean the same to a client that may have had the file, or parts of it.
fn is_same_status(old: u16, new: u16) -> bool {
    let kept = |status: u16| matches!(status, 200 | 206 | 304);
    old == new || kept(old) && kept(new)
}

fn text_of(response: &Response) -> Option<String> {
    let bytes = response.body.read().ok()?;
    Some(brunt_traffic::charset::decode(&bytes, &response.headers).into_owned())
}

fn bodies(
    (old, new): (&Response, &Response),
    recorded: &Exchange,
    index: usize,
    is_cut: bool,
    own: &mut Findings,
) {
    let (media, other) = (old.headers.media_type(), new.headers.media_type());
    if old.status == 304 || new.status == 304 {
        return;
    }
    let is_page = matches!(recorded.resource, None | Some(Resource::Document | Resource::Fetch));
    if matches!(old.body, Body::Absent { .. }) {
        let is_text = media.contains("html") || media.contains("json") || media.contains("xml");
        own.absent += usize::from(is_page && is_text);
        if media != other && !media.is_empty() {
            own.fault(index, format!("is {other}, recorded {media}"));
        }
        return;
    }
    let (Some(old), Some(new)) = (text_of(old), text_of(new)) else {
        own.absent += usize::from(is_page);
        return;
    };
    if media != other && Kind::of(&media, &old) == Kind::of(&other, &new) {
        let sort = |media: &str| media.split('/').next().unwrap_or_default().to_owned();
        if Kind::of(&media, &old) == Kind::Opaque
            && !media.is_empty()
            && sort(&media) != sort(&other)
            && !media.contains("script")
        {
            own.note(index, format!("is {other}, recorded {media}"));
        }
    }
    if media == "text/event-stream" {
        if media != other {
            own.fault(index, format!("is {other}, recorded {media}"));
        }
        return;
    }
    if is_cut && Kind::of(&media, &old) != Kind::Opaque {
        own.absent += usize::from(is_page);
        own.note(index, "has a body that is too long to be compared");
        return;
    }
    for difference in body::compare((&media, &old), (&other, &new)) {
        if difference.is_fault {
            own.fault(index, difference.text);
        } else {
            own.note(index, difference.text);
        }
    }
    own.compared += usize::from(Kind::of(&media, &old) != Kind::Opaque && !old.trim().is_empty());
}

fn socket(
    (recorded, replayed): (&Exchange, &Exchange),
    (old, new): (&Response, &Response),
    index: usize,
    own: &mut Findings,
) {
    use brunt_traffic::Side;
    if old.status != new.status {
        own.fault(index, format!("answers {}, recorded {}", new.status, old.status));
        return;
    }
    let from = |exchange: &Exchange, side: Side| -> Vec<String> {
        let texts = exchange.messages.iter().filter(|one| one.from == side && one.is_text);
        texts.map(|one| String::from_utf8_lossy(&one.data).into_owned()).collect()
    };
    let (before, after) = (from(recorded, Side::Server), from(replayed, Side::Server));
    if !before.is_empty() && after.is_empty() {
        own.fault(index, format!("gets no message over the WebSocket, recorded {}", before.len()));
    }
    let (sent, resent) = (from(recorded, Side::Client).len(), from(replayed, Side::Client).len());
    if resent < sent {
        own.fault(index, format!("sends {resent} messages over the WebSocket, recorded {sent}"));
    }
    let known = before.join("\n");
    if let Some(word) = after.iter().find_map(|text| crate::errors::new_word(text, &known)) {
        own.fault(index, body::says(word));
    }
    own.compared += usize::from(!before.is_empty());
}

#[cfg(test)]
mod tests;
