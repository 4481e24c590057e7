//! Kinds of failed requests: (code, message, route), read from the tags that samples carry anyway.

use rustc_hash::FxHashMap;

use crate::metric::builtin;
use crate::series::Series;
use crate::sink::Sink;
use crate::summary::FailureSummary;

/// Kinds that are told apart; the requests of more count in `http_req_failed` alone.
const KINDS_MAX: usize = 1000;
/// The longest text of a kind, in bytes; its beginning is kept.
const TEXT_MAX: usize = 2048;

/// All kinds so far.
#[derive(Debug, Default)]
pub(super) struct Failures {
    kinds: Vec<FailureSummary>,
    by_name: FxHashMap<[String; 4], u32>,
}

impl Failures {
    /// Counts the failures of a series. Asked for each delta, and nearly always nothing is to be done.
    pub(super) fn absorb(&mut self, series: &Series, sink: &Sink) {
        if series.metric != builtin::HTTP_REQ_FAILED {
            return;
        }
        if let Sink::Rate { hits, .. } = sink
            && *hits > 0
            && let Some(kind) = self.kind(series)
        {
            self.kinds[kind as usize].count += hits;
        }
    }

    fn kind(&mut self, series: &Series) -> Option<u32> {
        let tags = &series.tags;
        let tag = |key: &str| tags.get(key).filter(|value| !value.is_empty());
        let status = tag("status").unwrap_or("0");
        let code = tag("error_code").unwrap_or(status);
        let message = match tag("error") {
            Some(error) => error.to_owned(),
            None if status == "0" => "no response".to_owned(),
            None => format!("HTTP status {status}"),
        };
        let route = tags.route().or_else(|| tag("name")).or_else(|| tag("url")).unwrap_or_default();
        let bounded = |text: &str| text[..text.floor_char_boundary(TEXT_MAX)].to_owned();
        let method = tag("method").unwrap_or_default();
        let name = [bounded(code), bounded(&message), bounded(method), bounded(route)];
        if let Some(kind) = self.by_name.get(&name) {
            return Some(*kind);
        }
        if self.kinds.len() >= KINDS_MAX {
            return None;
        }
        let kind = self.kinds.len() as u32;
        let [code, message, method, route] = name.clone();
        self.kinds.push(FailureSummary {
            code,
            message,
            method,
            route,
            ..FailureSummary::default()
        });
        self.by_name.insert(name, kind);
        Some(kind)
    }

    /// All kinds, the most frequent first.
    pub(super) fn summary(&self) -> Vec<FailureSummary> {
        let mut all = self.kinds.clone();
        all.sort_by(|one, other| {
            let name = |kind: &FailureSummary| (kind.route.clone(), kind.code.clone());
            other.count.cmp(&one.count).then_with(|| name(one).cmp(&name(other)))
        });
        all
    }
}
