//! The metrics of one connection.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use brunt_engine::Core;
use brunt_fiber::clock;
use brunt_js::{Host, Phase};
use brunt_metrics::{Metadata, MetricId, SeriesId, TagSet, builtin};
use brunt_websocket::Connected;

use super::asked::told;
use crate::config::SystemTags;
use crate::state::VuState;
use crate::watch::{Talk, Watched};

/// The series of a connection, each made when it has its first sample, and the recorder's epoch that they are of.
type Known = (u32, Vec<(MetricId, SeriesId)>);

/// Records the samples of one connection: all have the same tags.
pub(crate) struct Tally {
    core: Option<Rc<Core>>,
    tags: RefCell<TagSet>,
    metadata: Option<Metadata>,
    system: SystemTags,
    known: RefCell<Known>,
    /// When it was asked for.
    pub(crate) started: u64,
    is_ended: Cell<bool>,
    /// The watcher, and the URL.
    watched: Option<(Box<Watched>, String)>,
}

impl Tally {
    /// Of a connection that is about to be asked for. `name`: the URL is the `name` tag, too, and a name of the script's
    /// is the URL.
    pub(crate) fn new(
        host: &Host,
        state: &VuState,
        url: &str,
        own: &[(String, String)],
        name: bool,
    ) -> Self {
        let system = state.shared.config().system_tags;
        let mut tags = state.tag_set();
        for (name, value) in own {
            tags = tags.with(name, value);
        }
        let own_name = own.iter().find(|(key, _)| name && key == "name");
        let url = own_name.map_or(url, |(_, name)| name);
        if system.url {
            tags = tags.with("url", url);
        }
        if name && system.name && tags.get("name").is_none() {
            tags = tags.with("name", url);
        }
        Self {
            core: host.core().filter(|_| host.phase() != Phase::Summary).cloned(),
            tags: RefCell::new(tags),
            metadata: state.metadata(),
            system,
            known: RefCell::default(),
            started: clock::now_ns(),
            is_ended: Cell::new(false),
            watched: state.watched(host).map(|watched| (watched, url.to_owned())),
        }
    }

    /// Shows to whoever looks on: what happened, what was sent, what came.
    pub(crate) fn show(&self, happened: &str, sent: &[u8], received: &[u8]) {
        if let Some((watched, url)) = &self.watched {
            let title = format!("{url}{}{happened}", if happened.is_empty() { "" } else { "  " });
            watched.talk(&Talk { kind: "WS", title: &title, sent, received });
        }
    }

    /// The handshake is over, one way or the other.
    pub(crate) fn connected(&self, connected: &Connected) {
        let mut tags = self.tags.borrow().clone();
        if let Some((status, protocol)) = told(connected) {
            if self.system.status {
                tags = tags.with("status", &status.to_string());
            }
            if self.system.subproto {
                tags = tags.with("subproto", protocol);
            }
        }
        if let Some(remote) = connected.exchange.remote.filter(|_| self.system.ip) {
            tags = tags.with("ip", &remote.ip().to_string());
        }
        *self.tags.borrow_mut() = tags;
        let took = connected.exchange.finished_at.saturating_sub(self.started);
        if self.watched.is_some() {
            let status = told(connected).map_or_else(
                || connected.outcome.as_ref().err().map(ToString::to_string).unwrap_or_default(),
                |(status, _)| status.to_string(),
            );
            self.show(&format!("{status}  {:.1} ms", took as f64 / 1e6), b"", b"");
        }
        self.add(builtin::WS_SESSIONS, 1.0, self.started);
        self.add(builtin::WS_CONNECTING, took as f64 / 1e6, self.started);
    }

    /// There was no server to ask: a handshake that failed all the same.
    pub(crate) fn unasked(&self) {
        self.add(builtin::WS_SESSIONS, 1.0, self.started);
        self.add(builtin::WS_CONNECTING, 0.0, self.started);
    }

    /// The connection is over: only the first time counts. `at_end`: the sample's time is now, not the beginning.
    pub(crate) fn ended(&self, at_end: bool) {
        if self.is_ended.replace(true) {
            return;
        }
        let now = clock::now_ns();
        let took = now.saturating_sub(self.started);
        let at = if at_end { now } else { self.started };
        if self.watched.is_some() {
            self.show(&format!("ended after {:.1} ms", took as f64 / 1e6), b"", b"");
        }
        self.add(builtin::WS_SESSION_DURATION, took as f64 / 1e6, at);
    }

    /// A message, or what counts as one, was sent.
    pub(crate) fn sent(&self, message: &[u8]) {
        self.show("", message, b"");
        self.add(builtin::WS_MSGS_SENT, 1.0, clock::now_ns());
    }

    /// A message came.
    pub(crate) fn received(&self, message: &[u8]) {
        self.show("", b"", message);
        self.add(builtin::WS_MSGS_RECEIVED, 1.0, clock::now_ns());
    }

    /// A pong came to the ping of that moment.
    pub(crate) fn ponged(&self, pinged: u64) {
        let now = clock::now_ns();
        self.add(builtin::WS_PING, now.saturating_sub(pinged) as f64 / 1e6, now);
    }

    fn add(&self, metric: MetricId, value: f64, at: u64) {
        let Some(core) = &self.core else { return };
        let mut recorder = core.recorder().borrow_mut();
        let (epoch, known) = &mut *self.known.borrow_mut();
        if *epoch != recorder.epoch() {
            *epoch = recorder.epoch();
            known.clear();
        }
        let found = known.iter().find(|(of, _)| *of == metric).map(|(_, series)| *series);
        let series = found.unwrap_or_else(|| {
            let tags = recorder.tags(&self.tags.borrow());
            let series = recorder.series(metric, tags);
            known.push((metric, series));
            series
        });
        recorder.add(series, value, at, self.metadata.as_ref());
    }
}

/// Pings that wait for their pong; the oldest are forgotten when there are too many.
#[derive(Default)]
pub(crate) struct Pings {
    last: Cell<u64>,
    waiting: RefCell<std::collections::VecDeque<(u64, u64)>>,
}

/// Pings that are remembered.
const PINGS_MAX: usize = 1024;

impl Pings {
    /// The payload of the next ping, which is sent now.
    pub(crate) fn next(&self) -> String {
        let id = self.last.get() + 1;
        self.last.set(id);
        let mut waiting = self.waiting.borrow_mut();
        if waiting.len() >= PINGS_MAX {
            waiting.pop_front();
        }
        waiting.push_back((id, clock::now_ns()));
        id.to_string()
    }

    /// When the ping was sent to which this is the pong.
    pub(crate) fn answered(&self, payload: &[u8]) -> Option<u64> {
        let id: u64 = std::str::from_utf8(payload).ok()?.parse().ok()?;
        let mut waiting = self.waiting.borrow_mut();
        let place = waiting.iter().position(|(known, _)| *known == id)?;
        waiting.remove(place).map(|(_, at)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pong_belongs_to_one_ping() {
        let pings = Pings::default();
        assert_eq!((pings.next(), pings.next()), ("1".to_owned(), "2".to_owned()));
        assert!(pings.answered(b"2").is_some());
        assert!(pings.answered(b"2").is_none() && pings.answered(b"x").is_none());
        assert!(pings.answered(b"1").is_some());
        (0..2000).for_each(|_| drop(pings.next()));
        assert_eq!(pings.waiting.borrow().len(), PINGS_MAX);
    }
}
