//! Which request of a replay repeats which exchange.
//!
//! The script's calls are in the order in which an iteration makes them. A request that starts belongs to the first call that has
//! none and whose method and URL it has, but for parts that the plan replaces; inside a batch requests may start in any order.
//! A request to which a redirect leads belongs to the call before.

use std::borrow::Cow;
use std::collections::BTreeSet;

use brunt_correlate::{Place, Plan};
use brunt_scribe::Call;
use brunt_traffic::{Body, Exchange, Message, Recording, Request, Response, Side};
use bytes::Bytes;
use url::Url;

use crate::record::{Hop, Record};

/// A request may start this many calls before its turn: batches are no longer.
const AHEAD: usize = 64;

/// One user's replay, laid beside the recording.
pub(crate) struct Laid {
    /// The exchanges of the recording as they were in the replay, at the same places. One that was not sent has no response.
    pub(crate) replay: Recording,
    /// For each call: its requests, redirects followed; empty if it was not sent.
    pub(crate) hops: Vec<Vec<Hop>>,
    /// Requests of no call.
    pub(crate) extra: Vec<Hop>,
    /// Checks that did not hold: the call before each, and the name.
    pub(crate) failed: Vec<(Option<usize>, String)>,
    /// Exchanges whose bodies are not here as a whole.
    pub(crate) cut: BTreeSet<usize>,
}

/// The last exchange of the chain of redirects that begins with this one.
pub(crate) fn last_of(plan: &Plan, exchange: usize) -> usize {
    let folded = plan.folded.iter().enumerate();
    let chain = folded.filter(|(_, first)| **first == Some(exchange)).map(|(index, _)| index);
    chain.max().unwrap_or(exchange)
}

/// The exchanges of the chain that begins with this one.
pub(crate) fn chain_of(plan: &Plan, exchange: usize) -> Vec<usize> {
    let folded = plan.folded.iter().enumerate();
    let chain = folded.filter(|(_, first)| **first == Some(exchange)).map(|(index, _)| index);
    std::iter::once(exchange).chain(chain.filter(|index| *index != exchange)).collect()
}

/// Whether it opened a WebSocket.
pub(crate) fn is_socket(exchange: &Exchange) -> bool {
    matches!(exchange.request.url.scheme(), "ws" | "wss")
        || exchange.response.as_ref().is_some_and(|response| response.status == 101)
}

/// Lays the records of one user beside the recording.
pub(crate) fn lay(recording: &Recording, plan: &Plan, calls: &[Call], records: &[&Record]) -> Laid {
    let mut lay = Lay {
        recording,
        plan,
        calls,
        hops: vec![Vec::new(); calls.len()],
        owners: Vec::new(),
        extra: Vec::new(),
        failed: Vec::new(),
        talks: vec![Vec::new(); calls.len()],
        socket: None,
    };
    let mut hops: Vec<&Hop> = Vec::new();
    for record in records {
        if let Record::Hop(hop) = record {
            hops.push(hop);
        }
    }
    hops.sort_by_key(|hop| hop.started);
    for hop in hops {
        lay.hop(hop);
    }
    // Checks and messages are in the order in which they happened; requests were written down when they ended.
    let mut at = None;
    for record in records {
        match record {
            Record::Hop(hop) => {
                let owner = lay
                    .owners
                    .iter()
                    .find(|(started, url, _)| *started == hop.started && *url == hop.url);
                at = owner.map(|(_, _, call)| *call).max(at);
            }
            Record::Check { name, passed: false, .. } => lay.failed.push((at, name.clone())),
            Record::Check { .. } => {}
            Record::Talk { title, sent, received, .. } => {
                at = lay.talk(title, sent, received).max(at);
            }
        }
    }
    lay.finish()
}

struct Lay<'a> {
    recording: &'a Recording,
    plan: &'a Plan,
    calls: &'a [Call],
    hops: Vec<Vec<Hop>>,
    /// Begin and URL of a request, and its call.
    owners: Vec<(u64, String, usize)>,
    extra: Vec<Hop>,
    failed: Vec<(Option<usize>, String)>,
    talks: Vec<Vec<Message>>,
    /// The call whose WebSocket was opened last.
    socket: Option<usize>,
}

impl Lay<'_> {
    fn exchange(&self, call: usize) -> &Exchange {
        &self.recording.exchanges[self.calls[call].exchange]
    }

    fn hop(&mut self, hop: &Hop) {
        let owner = self.led_to(hop).or_else(|| self.called(hop));
        match owner {
            Some(call) => {
                self.hops[call].push(hop.clone());
                self.owners.push((hop.started, hop.url.clone(), call));
            }
            None => self.extra.push(hop.clone()),
        }
    }

    /// The call whose last response redirects to this request.
    fn led_to(&self, hop: &Hop) -> Option<usize> {
        let leads = |call: &usize| {
            let Some(last) = self.hops[*call].last() else { return false };
            let follows = last_of(self.plan, self.calls[*call].exchange)
                != self.calls[*call].exchange
                || self
                    .exchange(*call)
                    .response
                    .as_ref()
                    .is_none_or(|one| !is_redirect(one.status));
            follows
                && last.ended <= hop.started
                && is_redirect(last.status)
                && target(last) == without_fragment(&hop.url)
        };
        (0..self.calls.len()).rev().find(leads)
    }

    /// The call that sends this request.
    fn called(&self, hop: &Hop) -> Option<usize> {
        let open = (0..self.calls.len())
            .filter(|call| self.hops[*call].is_empty() && !is_socket(self.exchange(*call)));
        let open: Vec<usize> = open.take(AHEAD).collect();
        let url = Url::parse(&hop.url).ok()?;
        let fits =
            |least: u8| open.iter().copied().find(|call| self.fit(*call, hop, &url) >= least);
        fits(2).or_else(|| fits(1))
    }

    /// How well a request fits a call: 2 if only replaced parts differ, 1 if the server and the shape of the path are the same.
    fn fit(&self, call: usize, hop: &Hop, url: &Url) -> u8 {
        let request = &self.exchange(call).request;
        if !request.method.eq_ignore_ascii_case(&hop.method) {
            return 0;
        }
        let exchange = self.calls[call].exchange;
        let places = self.plan.substitutions.iter().filter(|one| one.exchange == exchange);
        let places: Vec<&Place> = places.map(|one| &one.place).collect();
        if places.iter().any(|place| matches!(place, Place::Url)) {
            return if places.len() == 1
                && request.url.path().matches('/').count() != url.path().matches('/').count()
            {
                1
            } else {
                2
            };
        }
        let is_same_server = request.url.host_str() == url.host_str()
            && request.url.port_or_known_default() == url.port_or_known_default();
        let split = |url: &Url| -> Vec<String> {
            // A session in the path (`;jsessionid=…`) comes and goes.
            let segments = url.path().split('/').skip(1);
            segments.map(|one| one.split(';').next().unwrap_or_default().to_owned()).collect()
        };
        let (before, after) = (split(&request.url), split(url));
        if !is_same_server || before.len() != after.len() {
            return 0;
        }
        let is_same_path = before.iter().zip(&after).enumerate().all(|(index, (before, after))| {
            before == after
                || places.iter().any(|place| matches!(place, Place::Segment(at) if *at == index))
        });
        let names = |url: &Url| {
            let mut names: Vec<String> =
                url.query_pairs().map(|(name, _)| name.into_owned()).collect();
            names.sort();
            names
        };
        let has_query = places.iter().any(|place| matches!(place, Place::Query(_)));
        let is_same_query =
            request.url.query() == url.query() || has_query && names(&request.url) == names(url);
        if is_same_path && is_same_query { 2 } else { u8::from(is_same_path) }
    }

    /// Something on a WebSocket; the call that opened it.
    fn talk(&mut self, title: &str, sent: &Bytes, received: &Bytes) -> Option<usize> {
        let (url, happened) = title.split_once("  ").unwrap_or((title, ""));
        if sent.is_empty() && received.is_empty() {
            let is_opened = !happened.starts_with("ended") && !happened.is_empty();
            if is_opened {
                let status = happened.split(' ').next().unwrap_or_default();
                let next = self.socket.map_or(0, |call| call + 1);
                let call = (next..self.calls.len()).find(|call| is_socket(self.exchange(*call)))?;
                self.socket = Some(call);
                let status = status.parse().unwrap_or(0);
                let failure = (status == 0).then(|| happened.to_owned());
                let hop = Hop {
                    method: "GET".to_owned(),
                    url: url.to_owned(),
                    status,
                    failure,
                    ..Hop::default()
                };
                self.hops[call].push(hop);
            }
            return self.socket;
        }
        // Of several that are open, the newest to this URL.
        let is_own = |call: &usize| {
            is_socket(self.exchange(*call)) && self.hops[*call].iter().any(|hop| hop.url == url)
        };
        let call = (0..self.calls.len()).rev().find(is_own).or(self.socket)?;
        let (from, data) =
            if sent.is_empty() { (Side::Server, received) } else { (Side::Client, sent) };
        let is_text = std::str::from_utf8(data).is_ok();
        let at = std::time::Duration::ZERO;
        self.talks[call].push(Message { at, from, is_text, data: data.clone() });
        Some(call)
    }

    fn finish(self) -> Laid {
        let mut replay = Recording {
            origin: "replay".to_owned(),
            exchanges: self.recording.exchanges.iter().map(unsent).collect(),
            ..Recording::default()
        };
        let mut cut = BTreeSet::new();
        for (call, hops) in self.hops.iter().enumerate() {
            let chain = chain_of(self.plan, self.calls[call].exchange);
            let Some(last) = hops.last() else { continue };
            if last.is_cut {
                cut.insert(chain[chain.len() - 1]);
            }
            // Hops at the places of the recorded ones; the last at the last, whatever was between.
            for (index, hop) in chain.iter().zip(hops) {
                replay.exchanges[*index] = exchange(&self.recording.exchanges[*index], hop);
            }
            let end = chain[chain.len() - 1];
            let mut final_one = exchange(&self.recording.exchanges[end], last);
            if chain.len() == 1 && hops.len() > 1 {
                let cookies = hops[..hops.len() - 1].iter().flat_map(|hop| hop.headers.0.iter());
                let cookies = cookies.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
                if let Some(response) = &mut final_one.response {
                    response.headers.0.extend(cookies.cloned());
                }
                // The script's own request is the first one.
                let sent = exchange(&self.recording.exchanges[end], &hops[0]);
                let url = std::mem::replace(&mut final_one.request, sent.request).url;
                final_one.request.url = url;
            }
            final_one.messages.clone_from(&self.talks[call]);
            replay.exchanges[end] = final_one;
        }
        Laid { replay, hops: self.hops, extra: self.extra, failed: self.failed, cut }
    }
}

fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// The URL that a redirect leads to.
fn target(hop: &Hop) -> Option<String> {
    let location = hop.headers.get("location")?;
    let base = Url::parse(&hop.url).ok()?;
    let mut url = base.join(location).ok()?;
    url.set_fragment(None);
    Some(url.into())
}

fn without_fragment(url: &str) -> Option<String> {
    let mut url = Url::parse(url).ok()?;
    url.set_fragment(None);
    Some(url.into())
}

/// An exchange of the recording that the replay did not send.
fn unsent(exchange: &Exchange) -> Exchange {
    Exchange {
        request: Request { body: Body::Empty, ..exchange.request.clone() },
        response: None,
        failure: Some("it was not sent".to_owned()),
        messages: Vec::new(),
        events: Vec::new(),
        ..*exchange
    }
}

fn exchange(recorded: &Exchange, hop: &Hop) -> Exchange {
    let body =
        |bytes: &Bytes| if bytes.is_empty() { Body::Empty } else { Body::Bytes(bytes.clone()) };
    let url =
        Url::parse(&hop.url).map_or_else(|_| Cow::Borrowed(&recorded.request.url), Cow::Owned);
    Exchange {
        request: Request {
            method: hop.method.clone(),
            url: url.into_owned(),
            version: None,
            headers: hop.request_headers.clone(),
            body: body(&hop.request_body),
        },
        response: (hop.status != 0).then(|| Response {
            status: hop.status,
            headers: hop.headers.clone(),
            body: body(&hop.body),
        }),
        failure: hop.failure.clone(),
        messages: Vec::new(),
        events: Vec::new(),
        ..*recorded
    }
}
