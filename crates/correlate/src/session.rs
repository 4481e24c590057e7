//! A recording while its plan grows: what it sends, where responses give that, and when.

use brunt_traffic::{Recording, Side};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::candidates::Replies;
use crate::change::{change, url_decode};
use crate::client::Span;
use crate::forms::{Forms, Match};
use crate::plan::{Change, Piece, Place, Plan};
use crate::redirects::Chains;
use crate::request::{Spot, is_static, spots};
use crate::selectors::Known;
use crate::sources::{Draft, Origin, Sources};
use crate::values::{Strength, is_token_name, key_of, strength};
use crate::wanted::{Role, Wanted, parts};

/// An exchange, and a moment in it: 0 is its request, 1 its response; a WebSocket's messages begin at 2.
pub(crate) type Moment = (usize, usize);

/// A recording while its plan grows.
pub(crate) struct Session<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) chains: &'a Chains,
    pub(crate) replies: Replies<'a>,
    /// For each exchange the texts that it sends; none for those that the script does not send.
    pub(crate) spots: Vec<Vec<Spot>>,
    pub(crate) forms: Forms,
    pub(crate) matches: Vec<Option<Match>>,
    pub(crate) wanted: Wanted,
    pub(crate) sources: Sources,
    /// Which exchanges send a text, in which role.
    pub(crate) sent: FxHashMap<usize, Vec<(Moment, Role)>>,
    pub(crate) span: Span,
    pub(crate) plan: Plan,
    /// For each extraction: what its name is made of.
    pub(crate) roles: Vec<Role>,
    /// For each input: the exchange that sends it first.
    pub(crate) typed: Vec<usize>,
    pub(crate) extractions: FxHashMap<(usize, usize), usize>,
    /// Redirects that must not be followed, as a value is in their responses alone.
    pub(crate) unfolded: FxHashSet<usize>,
    /// Texts that were looked for in bodies.
    pub(crate) searched: FxHashSet<usize>,
    /// Bytes of bodies that were looked through.
    pub(crate) searched_size: usize,
    /// Texts that are constants of the application's scripts.
    pub(crate) constants: FxHashSet<usize>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(recording: &'a Recording, chains: &'a Chains) -> Self {
        let forms = Forms::new(recording, chains);
        let mut all = Vec::with_capacity(recording.exchanges.len());
        let mut matches = Vec::with_capacity(recording.exchanges.len());
        for (index, exchange) in recording.exchanges.iter().enumerate() {
            let is_sent = chains.folded[index].is_none() && !is_static(exchange);
            let spots = if is_sent { spots(recording, index) } else { Vec::new() };
            matches.push(forms.sent_by(recording, index, &spots));
            all.push(spots);
        }
        let mut work = Self {
            recording,
            chains,
            replies: Replies::new(recording),
            spots: all,
            forms,
            matches,
            wanted: Wanted::default(),
            sources: Sources { by_text: Vec::new() },
            sent: FxHashMap::default(),
            span: Span::of(recording),
            plan: Plan { folded: chains.folded.clone(), ..Plan::default() },
            roles: Vec::new(),
            typed: Vec::new(),
            extractions: FxHashMap::default(),
            unfolded: FxHashSet::default(),
            searched: FxHashSet::default(),
            searched_size: 0,
            constants: FxHashSet::default(),
        };
        work.want();
        work.sources = Sources::new(recording, chains, &work.wanted);
        work.follow_updates();
        work
    }

    /// Gathers the texts that are looked for.
    pub(crate) fn want(&mut self) {
        let cookies = self.foreign_cookies();
        for (index, spots) in self.spots.iter_mut().enumerate() {
            spots.extend(cookies.iter().filter(|spot| spot.exchange == index).cloned());
        }
        for (index, spots) in self.spots.iter().enumerate() {
            let from_page = self.matches[index].as_ref();
            for spot in spots {
                let role = Role::of(spot);
                let moment = moment_of(spot);
                if from_page.is_some_and(|found| found.has(&spot.place)) {
                    if is_token_name(&role.key) {
                        self.wanted.add(&spot.text, role);
                    }
                    continue;
                }
                let mut add = |text: &str, role: Role| {
                    self.wanted.add(text, role.clone());
                    if let Some(id) = self.wanted.id(text) {
                        self.sent.entry(id).or_default().push((moment, role));
                    }
                };
                add(&spot.text, role.clone());
                for (text, _) in encoded(&spot.text) {
                    add(&text, role.clone());
                }
                let mut before = String::new();
                for (begin, end) in parts(&spot.text) {
                    let part = &spot.text[begin..end];
                    let part = url_decode(part);
                    let is_link = begin > 0 && spot.text.as_bytes()[begin - 1] == b'/';
                    let key = if before.is_empty() { role.key.clone() } else { key_of(&before) };
                    if strength(&part) > Strength::Weak {
                        for (inner, _) in encoded(&part) {
                            for (begin, end) in parts(&inner) {
                                add(
                                    &inner[begin..end],
                                    Role { key: key.clone(), is_segment: false },
                                );
                            }
                        }
                        add(&part, Role { key, is_segment: is_link });
                    }
                    before = part;
                }
            }
        }
    }

    /// A token that a partial response gave anew is taken from there, not from the page whose form is sent.
    pub(crate) fn follow_updates(&mut self) {
        for (index, found) in self.matches.iter_mut().enumerate() {
            let Some(found) = found else { continue };
            let page = self.forms.0[found.form].exchange;
            for spot in &self.spots[index] {
                let is_token = found.has(&spot.place) && is_token_name(&key_of(&spot.name));
                let Some(id) = self.wanted.id(&spot.text).filter(|_| is_token) else { continue };
                let is_newer = self.sources.by_text[id].iter().any(|origin| {
                    matches!(origin.draft, Draft::Update(_, None))
                        && (page + 1..index).contains(&origin.exchange)
                });
                if is_newer {
                    found.leave_out(&spot.place);
                }
            }
        }
    }

    /// When a response gives a text.
    pub(crate) fn moment_of_origin(&self, origin: &Origin) -> Moment {
        match origin.draft {
            Draft::Message(nth, _) => {
                let messages = &self.recording.exchanges[origin.exchange].messages;
                let own = messages
                    .iter()
                    .enumerate()
                    .filter(|(_, own)| own.from == Side::Server)
                    .nth(nth);
                (origin.exchange, own.map_or(1, |(at, _)| at + 2))
            }
            _ => (origin.exchange, 1),
        }
    }

    /// Whether a response gave a text before a request sent it, by the clock.
    pub(crate) fn is_on_time(&self, origin: &Origin, spot: &Spot) -> bool {
        let exchange = &self.recording.exchanges[origin.exchange];
        let given = match origin.draft {
            Draft::Message(nth, _) => exchange
                .messages
                .iter()
                .filter(|own| own.from == Side::Server)
                .nth(nth)
                .map(|own| own.at),
            Draft::Event(nth, _) => exchange.events.get(nth).map(|own| own.at),
            _ => None,
        };
        let own = &self.recording.exchanges[spot.exchange];
        let sent = match spot.place {
            Place::Message(at) | Place::MessageJson(at, _) => {
                own.messages.get(at).map_or(own.sent, |own| own.at)
            }
            _ => own.sent,
        };
        given.unwrap_or(exchange.done) <= sent
    }

    /// Cookies that no response set before they were sent, each when its value is new.
    pub(crate) fn foreign_cookies(&self) -> Vec<Spot> {
        let mut set: FxHashSet<String> = FxHashSet::default();
        let mut last: FxHashMap<(String, String), String> = FxHashMap::default();
        let mut found = Vec::new();
        for (index, exchange) in self.recording.exchanges.iter().enumerate() {
            let host = exchange.request.url.host_str().unwrap_or_default();
            let lines = exchange.request.headers.all("cookie");
            for pair in lines.flat_map(|line| line.split(';')) {
                let Some((name, value)) = pair.trim().split_once('=') else { continue };
                if set.contains(name)
                    || value.is_empty()
                    || is_measuring(name)
                    || is_static(exchange)
                {
                    continue;
                }
                let key = (host.to_owned(), name.to_owned());
                if last.get(&key).is_some_and(|own| own == value) {
                    continue;
                }
                last.insert(key, value.to_owned());
                found.push(Spot {
                    exchange: self.chains.first(index),
                    place: Place::Cookie(name.to_owned()),
                    name: name.to_owned(),
                    text: value.to_owned(),
                });
            }
            let response = exchange.response.as_ref();
            for line in response.into_iter().flat_map(|response| response.headers.all("set-cookie"))
            {
                let names = line.lines().filter_map(|line| line.split('=').next());
                set.extend(names.map(|name| name.trim().to_owned()));
            }
        }
        found
    }

    /// The texts that the script knows when the response of this exchange comes.
    pub(crate) fn known(&self, exchange: usize) -> Known {
        let mut known = Known::default();
        let plain = || Role { key: String::new(), is_segment: false };
        for (index, input) in self.plan.inputs.iter().enumerate() {
            known.add(&input.recorded, Piece::Input(index), plain());
        }
        for (index, made) in self.plan.made.iter().enumerate() {
            if made.first <= exchange {
                known.add(&made.recorded, Piece::Made(index), plain());
            }
        }
        // The newest of those with one text is the one that scripts use.
        let earlier =
            self.plan.extractions.iter().enumerate().filter(|(_, own)| own.exchange < exchange);
        let mut earlier: Vec<_> = earlier.collect();
        earlier.sort_by_key(|(_, own)| std::cmp::Reverse(own.exchange));
        for (index, extraction) in earlier {
            let piece = Piece::Value { extraction: index, changes: Vec::new() };
            known.add(&extraction.recorded, piece, self.roles[index].clone());
        }
        known
    }
}

/// When a request sends a text.
pub(crate) fn moment_of(spot: &Spot) -> Moment {
    match spot.place {
        Place::Message(at) | Place::MessageJson(at, _) => (spot.exchange, at + 2),
        _ => (spot.exchange, 0),
    }
}

/// Names of cookies that measure visitors.
fn is_measuring(name: &str) -> bool {
    name.starts_with("_ga")
        || name.starts_with("_hj")
        || name.starts_with("_pk_")
        || matches!(
            name,
            "_gid" | "_gat" | "_fbp" | "_gcl_au" | "__utma" | "__utmb" | "__utmc" | "__utmz"
        )
}

/// Texts that this one is the code of, and what makes this one of them.
pub(crate) fn encoded(text: &str) -> Vec<(String, Vec<Change>)> {
    let mut all = Vec::new();
    if text.len() < 8 || text.len() > 64 << 10 {
        return all;
    }
    let pairs = [
        (Change::UrlDecode, Change::UrlEncode),
        (Change::Base64Decode, Change::Base64Encode),
        (Change::Base64UrlDecode, Change::Base64UrlEncode),
    ];
    for (decode, encode) in pairs {
        let inner = change(text.to_owned(), &[decode], &|_| None).filter(|inner| inner != text);
        let Some(inner) = inner.filter(|inner| strength(inner) > Strength::Weak) else { continue };
        let again = change(inner.clone(), std::slice::from_ref(&encode), &|_| None);
        if again.as_deref() == Some(text) && !inner.chars().any(char::is_control) {
            all.push((inner, vec![encode]));
        }
    }
    all
}
