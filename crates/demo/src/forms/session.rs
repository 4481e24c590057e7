//! Sessions: who is logged in, their orders, their views. All are bounded.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::order::Order;
use super::steps::Steps;
use super::view::View;
use crate::lru::{Lookup, Lru, Room};
use crate::stats::Gauge;

/// The maximum number of sessions, mostly of 2 kB and at most of some 12 kB; then the one that was used longest ago goes.
pub(super) const SESSIONS_MAX: usize = 20_000;

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: u128,
    /// The name of the user who is logged in.
    pub(super) user: Option<String>,
    pub(super) orders: Vec<Order>,
    pub(super) views: Views,
    pub(super) steps: Steps,
}

/// The newest tokens of a session. Older ones have expired.
#[derive(Debug)]
pub(super) struct Views {
    given: VecDeque<Given>,
    limit: usize,
    last: u64,
    /// The views that all sessions keep.
    kept: Arc<Gauge>,
}

/// A token that was given out.
#[derive(Debug)]
pub(super) struct Given {
    serial: u64,
    /// The view that it restores; `None` where the client keeps it.
    pub(super) view: Option<View>,
    pub(super) is_used: bool,
}

impl Views {
    pub(super) fn new(limit: usize, kept: Arc<Gauge>) -> Self {
        Self { given: VecDeque::new(), limit, last: 0, kept }
    }

    /// The serial of a new token, and the view to keep for it.
    pub(super) fn give(&mut self, view: Option<View>) -> u64 {
        if view.is_some() {
            self.kept.up();
        }
        self.last += 1;
        self.given.push_back(Given { serial: self.last, view, is_used: false });
        if self.given.len() > self.limit
            && let Some(Given { view: Some(_), .. }) = self.given.pop_front()
        {
            self.kept.down();
        }
        self.last
    }

    /// A token that is still valid.
    pub(super) fn find(&mut self, serial: u64) -> Option<&mut Given> {
        self.given.iter_mut().find(|given| given.serial == serial)
    }
}

impl Drop for Views {
    fn drop(&mut self) {
        for _ in self.given.iter().filter(|given| given.view.is_some()) {
            self.kept.down();
        }
    }
}

/// A session, locked while a request works on it.
pub(super) type Shared = Arc<Mutex<Session>>;

/// Takes the session for one request.
pub(super) fn lock(session: &Shared) -> MutexGuard<'_, Session> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    open: Mutex<Lru<u128, Shared>>,
    timeout: Duration,
    begun: AtomicU64,
    ended: AtomicU64,
    expired: AtomicU64,
}

impl Sessions {
    pub(super) fn new(timeout: Duration, limit: usize) -> Self {
        Self {
            open: Mutex::new(Lru::new(Room { items: limit, bytes: usize::MAX })),
            timeout,
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            expired: AtomicU64::new(0),
        }
    }

    fn open(&self) -> MutexGuard<'_, Lru<u128, Shared>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of this id, whose time begins anew.
    pub(super) fn find(&self, id: u128) -> Option<Shared> {
        match self.open().get(&id, Some(self.timeout)) {
            Lookup::Hit(session) => Some(session),
            Lookup::Miss => None,
            Lookup::Expired => {
                self.expired.fetch_add(1, Relaxed);
                None
            }
        }
    }

    /// Adds a session.
    pub(super) fn begin(&self, session: Session) -> Shared {
        let id = session.id;
        let session = Arc::new(Mutex::new(session));
        let mut open = self.open();
        self.expired.fetch_add(open.expire(), Relaxed);
        open.put(id, session.clone(), 1, Some(Instant::now() + self.timeout));
        self.begun.fetch_add(1, Relaxed);
        session
    }

    /// Ends a session whose user logs out.
    pub(super) fn end(&self, id: u128) {
        self.open().remove(&id);
        self.ended.fetch_add(1, Relaxed);
    }

    /// Forgets all of them.
    pub(super) fn clear(&self) {
        self.open().clear();
        for count in [&self.begun, &self.ended, &self.expired] {
            count.store(0, Relaxed);
        }
    }

    /// `{"now", "begun", "ended", "expired", "evicted"}`.
    pub(super) fn report(&self) -> Value {
        let mut open = self.open();
        self.expired.fetch_add(open.expire(), Relaxed);
        json!({
            "now": open.size().0,
            "begun": self.begun.load(Relaxed),
            "ended": self.ended.load(Relaxed),
            "expired": self.expired.load(Relaxed),
            "evicted": open.evictions(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::view::Page;

    fn session(id: u128, kept: &Arc<Gauge>) -> Session {
        let views = Views::new(2, kept.clone());
        Session { id, user: None, orders: Vec::new(), views, steps: Steps::default() }
    }

    #[test]
    fn the_newest_tokens_are_valid() {
        let kept = Arc::new(Gauge::default());
        let mut views = Views::new(3, kept.clone());
        let serials: Vec<u64> = (0..5).map(|_| views.give(Some(Page::Orders.view()))).collect();
        let valid: Vec<bool> = serials.iter().map(|serial| views.find(*serial).is_some()).collect();
        assert_eq!(valid, [false, false, true, true, true]);
        assert_eq!(kept.report()["now"], 3);
        views.give(None);
        assert_eq!(kept.report()["now"], 2);
        drop(views);
        assert_eq!(kept.report(), json!({ "now": 0, "max": 4, "total": 5 }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_lives_while_it_is_used() {
        let minute = Duration::from_mins(1);
        let kept = Arc::default();
        let sessions = Sessions::new(2 * minute, 10);
        sessions.begin(session(1, &kept));
        sessions.begin(session(2, &kept));
        for _ in 0..3 {
            tokio::time::advance(minute).await;
            assert!(sessions.find(1).is_some());
        }
        // The other was not asked for; it is not counted as open all the same.
        assert_eq!(
            (sessions.report()["now"].clone(), sessions.report()["expired"].clone()),
            (1.into(), 1.into())
        );
        tokio::time::advance(2 * minute).await;
        assert!(sessions.find(1).is_none() && sessions.find(1).is_none());
        assert_eq!(sessions.report()["expired"], 2);
    }

    #[test]
    fn the_session_that_was_used_longest_ago_makes_room() {
        let kept = Arc::default();
        let sessions = Sessions::new(Duration::from_mins(1), 2);
        for id in 1..=2 {
            lock(&sessions.begin(session(id, &kept))).views.give(Some(Page::Login.view()));
        }
        sessions.find(1);
        sessions.begin(session(3, &kept));
        assert!(sessions.find(1).is_some() && sessions.find(2).is_none());
        let report = sessions.report();
        assert_eq!((&report["now"], &report["evicted"]), (&2.into(), &1.into()));
        assert_eq!(kept.report()["now"], 1);
        sessions.end(1);
        sessions.clear();
        assert_eq!(kept.report()["now"], 0);
    }
}
