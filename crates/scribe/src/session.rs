//! The requests of the script, their order, and where users pause.

use std::collections::BTreeMap;
use std::time::Duration;

use brunt_correlate::Plan;
use brunt_correlate::plan::Piece;
use brunt_traffic::{Exchange, Recording, Resource};

use crate::{Options, Resources, page};

/// A resource that is asked for within this time after the page came belongs to it.
const CHAIN: Duration = Duration::from_secs(1);

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A page that the user sees.
    Page,
    /// A call of a script in the page, or of a program.
    Fetch,
    /// A part of a page: a picture, a style.
    Resource,
    /// A WebSocket.
    Socket,
    /// Events of a server.
    Events,
}

/// Something that the script does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    /// It waits.
    Pause(Duration),
    /// It sends this exchange.
    Request(usize),
    /// It sends these at once.
    Resources(Vec<usize>),
    /// It opens this socket, or listens to these events.
    Listen(usize),
}

/// A group of the script; without a name, the items between two groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    /// The group's name.
    pub(crate) name: Option<String>,
    /// In order.
    pub(crate) items: Vec<Item>,
}

/// All that the script does.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// In order.
    pub(crate) sections: Vec<Section>,
    /// For each exchange its kind.
    pub(crate) kinds: Vec<Kind>,
    /// For each exchange the last of its chain of redirects, or itself.
    pub(crate) last: Vec<usize>,
    /// For each exchange the section that sends it.
    pub(crate) section_of: BTreeMap<usize, usize>,
    /// For the user.
    pub(crate) notes: Vec<String>,
}

impl Session {
    /// Reads the recording.
    pub(crate) fn new(recording: &Recording, plan: &Plan, options: &Options) -> Self {
        let exchanges = &recording.exchanges;
        let first = |index: usize| plan.folded.get(index).copied().flatten().unwrap_or(index);
        let mut last: Vec<usize> = (0..exchanges.len()).collect();
        for index in 0..exchanges.len() {
            if let Some(slot) = last.get_mut(first(index)) {
                *slot = index;
            }
        }
        let kinds = exchanges.iter().enumerate();
        let kinds = kinds.map(|(index, own)| kind(own, &exchanges[last[index]])).collect();
        let mut session = Self { kinds, last, ..Self::default() };
        let sent: Vec<usize> =
            (0..exchanges.len()).filter(|&index| first(index) == index).collect();
        let sent = session.without_repeated(recording, plan, options, sent);
        let steps = session.steps(recording, plan, &sent);
        for (name, exchanges_of_step) in steps {
            let items = session.items(recording, plan, &exchanges_of_step);
            session.add_step(name, items);
        }
        session.add_pauses(recording, options);
        for (at, section) in session.sections.iter().enumerate() {
            for index in section.items.iter().flat_map(Item::exchanges) {
                session.section_of.insert(index, at);
            }
        }
        session
    }

    /// The exchanges that the script sends, in order.
    pub(crate) fn sent(&self) -> impl Iterator<Item = usize> {
        self.sections.iter().flat_map(|section| &section.items).flat_map(Item::exchanges)
    }

    /// Without what got no answer, and without what a browser's cache answers.
    fn without_repeated(
        &mut self,
        recording: &Recording,
        plan: &Plan,
        options: &Options,
        sent: Vec<usize>,
    ) -> Vec<usize> {
        let mut fetched: BTreeMap<&str, bool> = BTreeMap::new();
        let (mut silent, mut repeated, mut left_out) = (0, 0, 0);
        let kept = sent.into_iter().filter(|&index| {
            let exchange = &recording.exchanges[index];
            if exchange.resource == Some(Resource::Preflight) {
                return false;
            }
            let kind = self.kinds[index];
            let last = &recording.exchanges[self.last[index]];
            let Some(response) = &last.response else {
                // Sources of requests alone (curl commands, collections) tell neither an answer nor a failure.
                if last.failure.is_none() {
                    return true;
                }
                silent += usize::from(!matches!(kind, Kind::Socket | Kind::Events));
                return matches!(kind, Kind::Socket | Kind::Events);
            };
            if kind != Kind::Resource {
                return true;
            }
            let gives = plan.extractions.iter().any(|own| own.exchange == index);
            if options.resources == Resources::LeftOut && !gives {
                left_out += 1;
                return false;
            }
            // A browser that takes it from its memory writes no headers down.
            let is_cacheable = response.status == 304
                || exchange.request.headers.0.is_empty()
                || page::is_kept(&response.headers);
            let was_fetched = fetched.insert(exchange.request.url.as_str(), true).is_some();
            let is_repeated = was_fetched && is_cacheable && !gives;
            repeated += usize::from(is_repeated);
            !is_repeated
        });
        let kept = kept.collect();
        let mut note = |count: usize, text: &str| {
            if count > 0 {
                self.notes.push(text.replace("{}", &count.to_string()));
            }
        };
        note(silent, "requests that got no answer are not in the script: {}");
        note(
            repeated,
            "resources that a browser has in its cache are fetched once: {} repeated requests are not in the script",
        );
        note(left_out, "resources of pages are not in the script: {} requests");
        kept
    }

    /// The names of steps and what each sends. Without steps each page is one.
    fn steps(
        &self,
        recording: &Recording,
        plan: &Plan,
        sent: &[usize],
    ) -> Vec<(String, Vec<usize>)> {
        let page_name = |index: usize| {
            let own = &recording.exchanges[index];
            page::name(plan, index, own, &recording.exchanges[self.last[index]])
        };
        let mut steps: Vec<(Option<usize>, String, Vec<usize>)> = Vec::new();
        for &index in sent {
            let exchange = &recording.exchanges[index];
            let step = recording.steps.iter().rposition(|step| step.at <= exchange.sent);
            let is_page = self.kinds[index] == Kind::Page;
            let begins = match (steps.last(), step) {
                (None, _) => true,
                (Some((last, ..)), Some(step)) => *last != Some(step),
                (Some((_, _, inside)), None) => {
                    is_page && inside.iter().any(|&index| self.kinds[index] == Kind::Page)
                }
            };
            if begins {
                let typed = step.map(|step| recording.steps[step].name.trim());
                let typed = typed.filter(|name| !name.is_empty() && !name.contains("://"));
                let name = typed.map_or_else(|| page_name(index), str::to_owned);
                steps.push((step, name, Vec::new()));
            }
            if let Some((_, name, inside)) = steps.last_mut() {
                let is_first_page = !inside.iter().any(|&index| self.kinds[index] == Kind::Page);
                if step.is_none() && is_page && is_first_page {
                    *name = page_name(index);
                }
                inside.push(index);
            }
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let unique = |(_, name, inside): (Option<usize>, String, Vec<usize>)| {
            // k6 divides the names of nested groups by `::`.
            let name = name.replace("::", ":");
            let count = counts.entry(name.clone()).or_default();
            *count += 1;
            (if *count == 1 { name } else { format!("{name} ({count})") }, inside)
        };
        steps.into_iter().map(unique).collect()
    }

    /// Gathers the resources of a page behind it.
    fn items(&self, recording: &Recording, plan: &Plan, step: &[usize]) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        // Where the page's resources go, and until when more are taken.
        let mut place = None;
        let mut chain_end = Duration::ZERO;
        for &index in step {
            let exchange = &recording.exchanges[index];
            let done = recording.exchanges[self.last[index]].done;
            let in_chain = exchange.sent <= chain_end + CHAIN;
            match self.kinds[index] {
                Kind::Resource => {
                    let newest = newest_source(plan, index);
                    let early =
                        |at: usize| items.get(at).and_then(|item: &Item| item.exchanges().next());
                    let at =
                        place.filter(|&at| in_chain && (newest.is_none() || newest < early(at)));
                    if let Some(Item::Resources(all)) = at.and_then(|at: usize| items.get_mut(at)) {
                        all.push(index);
                    } else {
                        let at = at.unwrap_or(items.len());
                        place = place.filter(|own| *own <= at).or(Some(at));
                        items.insert(at, Item::Resources(vec![index]));
                    }
                    chain_end = chain_end.max(done);
                }
                Kind::Page => {
                    items.push(Item::Request(index));
                    (place, chain_end) = (Some(items.len()), done);
                }
                Kind::Fetch => {
                    items.push(Item::Request(index));
                    if in_chain {
                        chain_end = chain_end.max(done);
                    } else {
                        (place, chain_end) = (None, done);
                    }
                }
                Kind::Socket | Kind::Events => items.push(Item::Listen(index)),
            }
        }
        // A socket waits for the values that its messages need.
        for at in (0..items.len()).rev() {
            let Item::Listen(index) = items[at] else { continue };
            let Some(needed) = newest_source(plan, index).filter(|&needed| needed > index) else {
                continue;
            };
            let sends = |item: &Item| item.exchanges().any(|own| own <= needed);
            if let Some(end) = items.iter().rposition(sends).filter(|&end| end > at) {
                let item = items.remove(at);
                items.insert(end, item);
            }
        }
        items
    }

    /// `group()` takes no function that waits: sockets are between two groups of one name.
    fn add_step(&mut self, name: String, items: Vec<Item>) {
        let mut group: Vec<Item> = Vec::new();
        for item in items {
            if matches!(item, Item::Listen(_)) {
                if !group.is_empty() {
                    let items = std::mem::take(&mut group);
                    self.sections.push(Section { name: Some(name.clone()), items });
                }
                self.sections.push(Section { name: None, items: vec![item] });
            } else {
                group.push(item);
            }
        }
        if !group.is_empty() {
            self.sections.push(Section { name: Some(name), items: group });
        }
    }

    /// From the arrival of what was before to the next request.
    fn add_pauses(&mut self, recording: &Recording, options: &Options) {
        let mut before: Option<Duration> = None;
        for section in &mut self.sections {
            let mut items = Vec::new();
            for item in std::mem::take(&mut section.items) {
                let sent = item.exchanges().map(|index| recording.exchanges[index].sent).min();
                let done = |index: usize| end_of(&recording.exchanges[self.last[index]]);
                let done = item.exchanges().map(done).max().unwrap_or_default();
                let gap = sent.unwrap_or_default().saturating_sub(before.unwrap_or(Duration::MAX));
                // A browser that reads a page asks for its parts at once.
                let is_reading = matches!(item, Item::Resources(_)) && gap < CHAIN;
                if gap >= options.shortest_pause && !gap.is_zero() && !is_reading {
                    items.push(Item::Pause(gap));
                }
                before = Some(before.map_or(done, |before| before.max(done)));
                items.push(item);
            }
            section.items = items;
        }
    }
}

impl Item {
    /// The exchanges that it sends.
    pub(crate) fn exchanges(&self) -> impl Iterator<Item = usize> {
        let all: &[usize] = match self {
            Self::Pause(_) => &[],
            Self::Request(index) | Self::Listen(index) => std::slice::from_ref(index),
            Self::Resources(all) => all,
        };
        all.iter().copied()
    }
}

/// When an exchange is done. A socket that stays open for the whole session is when its last message came.
fn end_of(exchange: &Exchange) -> Duration {
    let heard = exchange.messages.iter().map(|message| message.at);
    let last = heard.chain(exchange.events.iter().map(|event| event.at)).max();
    last.map_or(exchange.done, |last| last.clamp(exchange.sent, exchange.done.max(exchange.sent)))
}

/// The latest exchange whose value this one sends.
fn newest_source(plan: &Plan, index: usize) -> Option<usize> {
    let pieces =
        plan.substitutions.iter().filter(|own| own.exchange == index).flat_map(|own| &own.pieces);
    let source = |piece: &Piece| match piece {
        Piece::Value { extraction, .. } => {
            plan.extractions.get(*extraction).map(|own| own.exchange)
        }
        _ => None,
    };
    pieces.filter_map(source).filter(|&source| source != index).max()
}

/// The purpose of an exchange; `last` is the last of its chain of redirects.
fn kind(exchange: &Exchange, last: &Exchange) -> Kind {
    let request = &exchange.request;
    let is_read = matches!(request.method.as_str(), "GET" | "HEAD");
    if matches!(request.url.scheme(), "ws" | "wss") || !exchange.messages.is_empty() {
        return Kind::Socket;
    }
    let header = |name| request.headers.get(name).unwrap_or_default();
    if request.method == "GET" && header("accept").starts_with("text/event-stream") {
        return Kind::Events;
    }
    match exchange.resource {
        Some(Resource::Document) => return Kind::Page,
        Some(Resource::WebSocket) => return Kind::Socket,
        Some(Resource::EventSource) => return Kind::Events,
        Some(Resource::Fetch) => return Kind::Fetch,
        Some(_) if is_read => return Kind::Resource,
        Some(_) => return Kind::Fetch,
        None => {}
    }
    match header("sec-fetch-dest") {
        "document" | "iframe" | "frame" => return Kind::Page,
        "empty" => return Kind::Fetch,
        "" => {}
        _ if is_read => return Kind::Resource,
        _ => {}
    }
    let media =
        last.response.as_ref().map(|response| response.headers.media_type()).unwrap_or_default();
    let is_call = !header("x-requested-with").is_empty() || !header("faces-request").is_empty();
    if is_call {
        return Kind::Fetch;
    }
    if media == "text/html" || media == "application/xhtml+xml" {
        return Kind::Page;
    }
    let is_part = media.starts_with("image/")
        || media.starts_with("font/")
        || media.starts_with("audio/")
        || media.starts_with("video/")
        || media.ends_with("javascript")
        || matches!(media.as_str(), "text/css" | "application/manifest+json" | "application/wasm");
    if is_read && is_part { Kind::Resource } else { Kind::Fetch }
}
