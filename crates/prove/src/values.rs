//! Values that a plan takes from responses, and values that a request sends as they were recorded.

use std::borrow::Cow;
use std::collections::BTreeSet;

use brunt_correlate::{Change, Finder, Piece, Plan, Reply, Source, find};
use brunt_scribe::Call;
use brunt_traffic::{Exchange, Recording, Resource};
use serde_json::Value;

use crate::compare::{Finding, Findings, Weight};
use crate::lay::{Laid, chain_of};

/// Shorter texts stand in pages by chance.
const TOKEN_LEAST: usize = 8;

/// The values that a replay gave.
pub(crate) struct Renewed {
    /// The plan with these values in the place of the recorded ones.
    pub(crate) plan: Plan,
    /// Extractions that found none.
    pub(crate) missing: Vec<usize>,
    /// Extractions and candidates that give another value than the chosen one.
    pub(crate) others: Vec<(usize, usize)>,
}

/// Applies the plan to the responses of a replay.
pub(crate) fn renewed(plan: &Plan, laid: &Laid) -> Renewed {
    let mut renewed = Renewed { plan: plan.clone(), missing: Vec::new(), others: Vec::new() };
    for index in 0..plan.extractions.len() {
        let extraction = &plan.extractions[index];
        let is_other = |candidate: &usize| *candidate != extraction.chosen;
        let candidates = (0..extraction.candidates.len()).filter(is_other);
        let Some(reply) = Reply::recorded(&laid.replay, extraction.exchange) else { continue };
        // The script reads the rest; if it finds nothing there, it says so by a check.
        if laid.cut.contains(&extraction.exchange) {
            renewed.others.extend(candidates.map(|candidate| (index, candidate)));
            continue;
        }
        let known = &renewed.plan;
        let text = |source: &Source| find(source, &reply, &|pieces| known.recorded(pieces));
        let found = text(extraction.source())
            .filter(|text| !text.is_empty() || extraction.recorded.is_empty());
        let others: Vec<(usize, usize)> = candidates
            .filter(|candidate| {
                let other = text(&extraction.candidates[*candidate]);
                other.is_some() && other != found
            })
            .map(|candidate| (index, candidate))
            .collect();
        renewed.others.extend(others);
        match found {
            Some(text) => renewed.plan.extractions[index].recorded = text,
            None => renewed.missing.push(index),
        }
    }
    renewed
}

/// A source for a message: where the value is looked for. Without values.
pub(crate) fn described(source: &Source) -> String {
    let mut out = finder(&source.finder);
    if source.changes.iter().any(|change| matches!(change, Change::Json(_))) {
        out.push_str(", as JSON");
    }
    out
}

fn pieces(pieces: &[Piece]) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Literal(text) => text.clone(),
        _ => "…".to_owned(),
    };
    pieces.iter().map(text).collect()
}

fn finder(finder: &Finder) -> String {
    let inside = |inside: &Option<Box<Finder>>| {
        inside.as_ref().map_or(String::new(), |inside| format!("{} in ", self::finder(inside)))
    };
    match finder {
        Finder::Field { selector, .. } => format!("the field {}", pieces(selector)),
        Finder::Attribute { selector, attribute, .. } => {
            format!("the attribute {attribute} of {}", pieces(selector))
        }
        Finder::Text { selector, .. } => format!("the text of {}", pieces(selector)),
        Finder::Json(_) => "its JSON".to_owned(),
        Finder::Update { id, inside: inner } => format!("{}the update {id}", inside(inner)),
        Finder::Header(name) => format!("the header {name}"),
        Finder::Cookie(name) => format!("the cookie {name}"),
        Finder::Url => "its URL".to_owned(),
        Finder::Between { .. } => "its text".to_owned(),
        Finder::Message { nth, .. } => format!("message {} of the WebSocket", nth + 1),
        Finder::Event { nth, .. } => format!("event {} of the stream", nth + 1),
    }
}

/// Whether a text looks like a token: long, and no word of a language.
pub(crate) fn is_token(text: &str) -> bool {
    let length = text.chars().count();
    if !(TOKEN_LEAST..=64_000).contains(&length) || text.contains(char::is_whitespace) {
        return false;
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let upper = text.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = text.bytes().filter(u8::is_ascii_lowercase).count();
    let letters = upper + lower;
    let is_address = text.contains("://") || text.starts_with('/') || text.contains('@');
    !is_address && (digits >= 2 && letters >= 2 || length >= 16 && upper >= 4 && lower >= 4)
}

/// Requests that send a value of the recording where the replay has another.
pub(crate) fn stale(
    (recording, plan, calls): (&Recording, &Plan, &[Call]),
    laid: &Laid,
    renewed: &Plan,
    findings: &mut Findings,
) {
    let current: BTreeSet<&str> =
        renewed.extractions.iter().map(|one| one.recorded.as_str()).collect();
    for (index, call) in calls.iter().enumerate() {
        if laid.hops[index].is_empty() {
            continue;
        }
        let sent = texts_of(&laid.replay.exchanges[call.exchange], &laid.hops[index][0]);
        let mut told = BTreeSet::new();
        for (at, extraction) in plan.extractions.iter().enumerate() {
            let old = extraction.recorded.as_str();
            let is_renewed = extraction.exchange < call.exchange
                && renewed.extractions[at].recorded != old
                && is_token(old)
                && !current.contains(old);
            if is_renewed && has(&sent, old) && told.insert(&extraction.name) {
                let text = format!(
                    "sends the recorded {}, and the server gave another one",
                    extraction.name
                );
                findings.add(Finding {
                    weight: Weight::Fault,
                    call: Some(index),
                    text,
                    extraction: Some(at),
                });
            }
        }
        literals((recording, plan), laid, (index, call), &sent, findings);
    }
}

/// Values of a request that are as recorded, that an earlier recorded response gave, and that no response of the replay gives.
fn literals(
    (recording, plan): (&Recording, &Plan),
    laid: &Laid,
    (index, call): (usize, &Call),
    sent: &[String],
    findings: &mut Findings,
) {
    // A server looks at the path of a picture or a style, and not at what it was given for.
    let is_file = matches!(
        recording.exchanges[call.exchange].resource,
        Some(
            Resource::Image
                | Resource::Stylesheet
                | Resource::Script
                | Resource::Font
                | Resource::Media
        )
    );
    let weight = if is_file { Weight::Note } else { Weight::Fault };
    let planned = |value: &str| plan.extractions.iter().any(|one| one.recorded == value);
    for (name, value) in values_of(&recording.exchanges[call.exchange]) {
        if !is_token(&value) || planned(&value) || !has(sent, &value) {
            continue;
        }
        let gives = |exchange: &Exchange| {
            let body = exchange.response.as_ref().and_then(|response| response.body.in_memory());
            body.is_some_and(|body| holds(body, &value))
        };
        let earlier = |recording: &Recording| {
            let last = call.exchange;
            recording.exchanges[..last].iter().position(gives)
        };
        let Some(source) = earlier(recording) else { continue };
        let was_replayed = laid.replay.exchanges[source].response.as_ref();
        if was_replayed.is_some_and(|response| response.body.size() != Some(0))
            && earlier(&laid.replay).is_none()
        {
            let from = crate::address::shown(&recording.exchanges[source].request.url);
            let text = format!("sends {name} as recorded, and {from} gives another value now");
            findings.add(Finding { weight, call: Some(index), text, extraction: None });
        }
    }
}

/// The texts of a request in which a value may be: URL, headers but cookies, body; as sent and decoded.
fn texts_of(exchange: &Exchange, hop: &crate::record::Hop) -> Vec<String> {
    let mut texts = vec![hop.url.clone()];
    let headers = exchange.request.headers.iter();
    texts.extend(headers.filter(|(name, _)| !is_kept(name)).map(|(_, value)| value.to_owned()));
    texts.push(String::from_utf8_lossy(&hop.request_body).into_owned());
    let decoded: Vec<String> = texts.iter().filter_map(|text| decode(text)).collect();
    texts.extend(decoded);
    texts
}

/// Headers in which clients put what they know by themselves.
fn is_kept(name: &str) -> bool {
    ["cookie", "user-agent", "accept", "content-type", "content-length", "host"]
        .iter()
        .any(|own| name.eq_ignore_ascii_case(own))
}

fn has(texts: &[String], value: &str) -> bool {
    texts.iter().any(|text| text.contains(value))
}

/// Percent-decoded, with `+` as a blank kept; `None` if there is nothing to decode.
fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            out.push(byte);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// Whether a body has a value, as it is or as HTML and JSON write it.
fn holds(body: &[u8], value: &str) -> bool {
    let text = String::from_utf8_lossy(body);
    if text.contains(value) {
        return true;
    }
    let escaped: [Cow<'_, str>; 3] = [
        value.replace('&', "&amp;").into(),
        value.replace('+', "&#43;").replace('=', "&#61;").into(),
        value.replace('/', "\\/").into(),
    ];
    escaped.iter().any(|escaped| text.contains(&**escaped))
        || text.contains(&value.replace('+', "&#43;"))
}

/// Names and texts of the values that a request sends.
fn values_of(exchange: &Exchange) -> Vec<(String, String)> {
    let request = &exchange.request;
    let owned =
        |(name, value): (Cow<'_, str>, Cow<'_, str>)| (name.into_owned(), value.into_owned());
    let mut values: Vec<(String, String)> = request.url.query_pairs().map(owned).collect();
    for segment in request.url.path_segments().into_iter().flatten() {
        // `page;jsessionid=…` has a value of its own.
        for part in segment.split(';') {
            let (name, value) = part.split_once('=').unwrap_or(("a segment of its path", part));
            values.push((name.to_owned(), value.to_owned()));
        }
    }
    for (name, value) in request.headers.iter().filter(|(name, _)| !is_kept(name)) {
        let is_ours = name.starts_with("x-")
            || name.starts_with("X-")
            || name.eq_ignore_ascii_case("authorization");
        if is_ours {
            let value = value.strip_prefix("Bearer ").unwrap_or(value);
            values.push((name.to_owned(), value.to_owned()));
        }
    }
    let Some(body) = request.body.in_memory().filter(|body| body.len() <= 1 << 20) else {
        return values;
    };
    let media = request.headers.media_type();
    if media == "application/x-www-form-urlencoded" {
        values.extend(url::form_urlencoded::parse(body).map(owned));
    } else if let Ok(json) = serde_json::from_slice(body) {
        leaves(&json, "", &mut values);
    } else if media == "multipart/form-data" {
        let parts = brunt_traffic::multipart::of(&request.headers, body).unwrap_or_default();
        let texts = parts.into_iter().filter(|part| part.file_name.is_none());
        values.extend(
            texts.map(|part| (part.name, String::from_utf8_lossy(&body[part.range]).into_owned())),
        );
    }
    values
}

fn leaves(json: &Value, name: &str, out: &mut Vec<(String, String)>) {
    match json {
        Value::Object(map) => map.iter().for_each(|(name, inner)| leaves(inner, name, out)),
        Value::Array(list) => list.iter().for_each(|inner| leaves(inner, name, out)),
        Value::String(text) => out.push((name.to_owned(), text.clone())),
        _ => {}
    }
}

/// Extractions and other candidates of theirs that may mend the faults, the likeliest first: those of extractions that the findings
/// name, then those of values that the first call with a fault sends. A candidate that gave the same value in the replay is none.
pub fn to_change(plan: &Plan, calls: &[Call], findings: &Findings) -> Vec<(usize, usize)> {
    let mut wanted: Vec<usize> = Vec::new();
    let faults = findings.faults().filter(|one| one.call == findings.first_call());
    wanted.extend(faults.filter_map(|one| one.extraction));
    if let Some(call) = findings.first_call().and_then(|index| calls.get(index)) {
        let chain = chain_of(plan, call.exchange);
        let places = plan.substitutions.iter().filter(|one| chain.contains(&one.exchange));
        for piece in places.flat_map(|one| &one.pieces) {
            if let Piece::Value { extraction, .. } = piece {
                wanted.push(*extraction);
            }
        }
    }
    let mut known = BTreeSet::new();
    wanted.retain(|index| known.insert(*index));
    let others =
        |index: usize| findings.others.iter().filter(move |(own, _)| *own == index).copied();
    wanted.into_iter().flat_map(others).collect()
}
