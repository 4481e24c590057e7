//! Kinds of failures: (code, message, route), read from the tags that samples carry anyway.

use std::sync::Arc;

use brunt_metrics::{Series, Sink, builtin};
use rustc_hash::FxHashMap;

use crate::exchange::address;

/// Kinds that are told apart; more are one kind, `other`.
pub(crate) const KINDS_MAX: usize = 1000;
/// The longest text of a kind, in bytes; its beginning is kept.
const TEXT_MAX: usize = 2048;

/// The beginning of a text.
fn bounded(text: &str) -> String {
    text[..text.floor_char_boundary(TEXT_MAX)].to_owned()
}

/// The message of what there was no room for.
pub(crate) const OTHERS: &str = "(others)";

/// A kind of failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// `http`, `grpc`, `exception`.
    pub(crate) source: &'static str,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) route: String,
    /// In the order of appearance, over all cores (exceptions alone).
    pub(crate) place: u64,
    pub(crate) count: u64,
    /// Nanoseconds since the start.
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// All kinds so far.
#[derive(Default)]
pub(crate) struct Failures {
    kinds: Vec<Kind>,
    by_key: FxHashMap<(&'static str, String, String, String), u32>,
    /// By series; none for one that never fails.
    by_series: FxHashMap<u32, u32>,
    /// How often there was no room for a kind.
    folded: u64,
}

impl Failures {
    /// The kind of failure that a series tells, and how often it happened. `id`: its number, if it has one to itself.
    pub(crate) fn of(
        &mut self,
        id: Option<u32>,
        series: &Arc<Series>,
        sink: &Sink,
    ) -> Option<(u32, u64)> {
        let tags = &series.tags;
        let (kind, count) = match (series.metric, sink) {
            (builtin::HTTP_REQ_FAILED, Sink::Rate { hits, .. }) if *hits > 0 => ("http", *hits),
            (builtin::GRPC_REQ_DURATION, Sink::Trend(trend))
                if tags.get("status").is_some_and(|status| status != "0") =>
            {
                ("grpc", trend.count())
            }
            _ => return None,
        };
        if let Some(kind) = id.and_then(|id| self.by_series.get(&id)) {
            return Some((*kind, count));
        }
        let tag = |key: &str| tags.get(key).filter(|value| !value.is_empty());
        let status = tag("status").unwrap_or("0");
        let code = tag("error_code").unwrap_or(status);
        let message = match (tag("error"), kind) {
            (Some(error), _) => error.to_owned(),
            (None, "grpc") => format!("gRPC status {status}"),
            (None, _) if status == "0" => "no response".to_owned(),
            (None, _) => format!("HTTP status {status}"),
        };
        let name = tags.route().or_else(|| tag("name")).or_else(|| tag("url"));
        let name = address(name.unwrap_or_default());
        let route = [tag("method").unwrap_or_default(), &name].join(" ").trim().to_owned();
        let number = self.kind(kind, code, &message, &route, u64::MAX);
        if let Some(id) = id {
            self.by_series.insert(id, number);
        }
        Some((number, count))
    }

    pub(crate) fn exception(&mut self, text: &str, place: u64) -> u32 {
        let number = self.kind("exception", "exception", text, "", place);
        let known = &mut self.kinds[number as usize].place;
        *known = place.min(*known);
        number
    }

    fn kind(
        &mut self,
        kind: &'static str,
        code: &str,
        message: &str,
        route: &str,
        place: u64,
    ) -> u32 {
        let key = (kind, bounded(code), bounded(message), bounded(route));
        if let Some(number) = self.by_key.get(&key) {
            return *number;
        }
        if self.kinds.len() >= KINDS_MAX && message != OTHERS {
            self.folded += 1;
            if self.kinds.len() == KINDS_MAX {
                log::warn!(
                    "the run file tells {KINDS_MAX} kinds of failures apart; more are counted together"
                );
            }
            return self.kind(kind, "other", OTHERS, "", i64::MAX as u64);
        }
        let number = self.kinds.len() as u32;
        let (kind, code, message, route) = key.clone();
        self.kinds.push(Kind {
            source: kind,
            code,
            message,
            route,
            place,
            count: 0,
            first: u64::MAX,
            last: 0,
        });
        self.by_key.insert(key, number);
        number
    }

    /// Counts failures of a kind at a moment.
    pub(crate) fn count(&mut self, kind: u32, count: u64, at: u64) {
        let kind = &mut self.kinds[kind as usize];
        kind.count += count;
        kind.first = kind.first.min(at);
        kind.last = kind.last.max(at);
    }

    /// How often a kind had no room.
    pub(crate) fn folded(&self) -> u64 {
        self.folded
    }

    /// Those with these numbers, to be written.
    pub(crate) fn get(&self, kind: u32) -> &Kind {
        &self.kinds[kind as usize]
    }

    /// The kind of an exchange, if it has been counted already.
    pub(crate) fn find(&self, code: &str, message: &str, route: &str) -> Option<u32> {
        let key = ("http", bounded(code), bounded(message), bounded(route));
        self.by_key.get(&key).copied()
    }
}
