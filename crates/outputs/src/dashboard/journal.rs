//! All events so far, for whoever comes late.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

/// The maximum number of bytes of events in memory. Beyond it every second point in time is forgotten.
const BYTES_MAX: usize = 64 << 20;

/// An event as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) id: u64,
    pub(super) name: &'static str,
    /// JSON, on one line.
    pub(super) data: Arc<str>,
}

/// The events of a test.
#[derive(Debug)]
pub(super) struct Journal {
    state: Mutex<State>,
    /// The number of the next event.
    next: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    events: Vec<Event>,
    bytes: usize,
}

impl Default for Journal {
    fn default() -> Self {
        Self { state: Mutex::default(), next: watch::Sender::new(0) }
    }
}

impl Journal {
    /// Adds an event; its data as text.
    pub(super) fn say(&self, name: &'static str, data: &Value) -> Arc<str> {
        let data: Arc<str> = data.to_string().into();
        let mut state = self.lock();
        let id = *self.next.borrow();
        state.bytes += data.len();
        state.events.push(Event { id, name, data: Arc::clone(&data) });
        if state.bytes > BYTES_MAX {
            state.thin();
        }
        drop(state);
        self.next.send_replace(id + 1);
        data
    }

    /// Events from this number on, `most` at most.
    pub(super) fn since(&self, id: u64, most: usize) -> Vec<Event> {
        let state = self.lock();
        let from = state.events.partition_point(|event| event.id < id);
        state.events[from..].iter().take(most).cloned().collect()
    }

    /// Tells that there are new events.
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.next.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // An event is there or not, whoever panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Forgets every second snapshot, and what the whole test came to before the last one.
    fn thin(&mut self) {
        let last = self.events.iter().rposition(|event| event.name == "cumulative");
        let mut index = 0;
        let mut snapshots = 0;
        self.events.retain(|event| {
            let is_last = Some(index) == last;
            index += 1;
            match event.name {
                "cumulative" | "threshold" | "exceptions" => {
                    is_last || last.is_some_and(|last| index > last)
                }
                "snapshot" => {
                    snapshots += 1;
                    snapshots % 2 == 0
                }
                _ => true,
            }
        });
        self.bytes = self.events.iter().map(|event| event.data.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_numbered_and_kept() {
        let journal = Journal::default();
        let watch = journal.watch();
        assert_eq!(&*journal.say("param", &json!({ "a": 1 })), "{\"a\":1}");
        journal.say("start", &json!([[1]]));
        assert!(watch.has_changed().unwrap());
        let told = journal.since(1, 9);
        assert_eq!((told.len(), told[0].id, told[0].name), (1, 1, "start"));
        assert_eq!(journal.since(0, 1).len(), 1);
        assert!(journal.since(2, 9).is_empty());
    }

    #[test]
    fn too_many_events_are_thinned_and_the_last_of_everything_stays() {
        let journal = Journal::default();
        journal.say("param", &json!({}));
        let long = json!("x".repeat(8 << 20));
        for _ in 0..6 {
            journal.say("cumulative", &long);
            journal.say("threshold", &json!({}));
            journal.say("snapshot", &json!([]));
        }
        assert_eq!(journal.since(0, 99).len(), 19);
        journal.say("cumulative", &long);
        journal.say("cumulative", &long);
        let left = journal.since(0, 99);
        let names: Vec<_> = left.iter().map(|event| event.name).collect();
        assert_eq!(names, ["param", "snapshot", "snapshot", "snapshot", "cumulative"]);
        assert_eq!(left[4].id, 20);
        assert_eq!(journal.since(20, 99).len(), 1, "numbers are found though some are missing");
    }
}
