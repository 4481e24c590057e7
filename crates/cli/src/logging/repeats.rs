//! Equal warnings and errors of one second are one line.
//!
//! The first of them is written at once. Those that follow within a second are counted, and told as one line with their number,
//! each second anew as long as they come. Lines of scripts are left alone: they are their output.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::{Duration, Instant},
};

use log::Level;

use super::entry::{Entry, Field};

/// From the first line to the one that counts.
const SPAN: Duration = Duration::from_secs(1);

/// Different lines that are remembered; others are written as they come.
const LINES_MAX: usize = 256;

/// Longer lines are not remembered.
const LINE_MAX: usize = 16 << 10;

/// The lines of the last second.
#[derive(Default)]
pub(super) struct Repeats(HashMap<u64, Repeat>);

struct Repeat {
    entry: Entry,
    until: Instant,
    more: u64,
}

impl Repeats {
    /// Whether this was said within the last second; then it is counted and need not be written.
    pub(super) fn counts(&mut self, entry: &Entry, now: Instant) -> bool {
        if entry.level > Level::Warn || entry.is_console() || entry.size() > LINE_MAX {
            return false;
        }
        let key = key(entry);
        if let Some(known) = self.0.get_mut(&key) {
            if !known.entry.says_the_same(entry) {
                return false;
            }
            known.more += 1;
            known.entry.at = entry.at;
            return true;
        }
        if self.0.len() < LINES_MAX {
            let repeat = Repeat { entry: entry.clone(), until: now + SPAN, more: 0 };
            self.0.insert(key, repeat);
        }
        false
    }

    /// When there is something to be told or forgotten.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.values().map(|repeat| repeat.until).min()
    }

    /// The lines whose second is over, with their numbers.
    pub(super) fn due(&mut self, now: Instant) -> Vec<Entry> {
        let mut told = Vec::new();
        self.0.retain(|_, repeat| {
            if repeat.until > now {
                return true;
            }
            repeat.until = now + SPAN;
            let is_going_on = repeat.more > 0;
            told.extend(repeat.take());
            is_going_on
        });
        told.sort_by_key(|entry| entry.at);
        told
    }

    /// All that was counted so far.
    pub(super) fn rest(&mut self) -> Vec<Entry> {
        let mut told: Vec<_> = self.0.values_mut().filter_map(Repeat::take).collect();
        told.sort_by_key(|entry| entry.at);
        told
    }
}

impl Repeat {
    fn take(&mut self) -> Option<Entry> {
        let more = std::mem::take(&mut self.more);
        (more > 0).then(|| {
            let mut entry = Entry { more, ..self.entry.clone() };
            entry.fields.push(("count".to_owned(), Field::Number(more.into())));
            entry.fields.sort_by(|a, b| a.0.cmp(&b.0));
            entry
        })
    }
}

fn key(entry: &Entry) -> u64 {
    let mut hasher = DefaultHasher::new();
    (entry.level, &entry.message).hash(&mut hasher);
    for (name, value) in &entry.fields {
        (name, value.text()).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn entry(level: Level, message: &str, source: &str) -> Entry {
        Entry {
            at: SystemTime::UNIX_EPOCH,
            level,
            message: message.to_owned(),
            of_init: false,
            fields: vec![("source".to_owned(), Field::Text(source.to_owned()))],
            more: 0,
        }
    }

    #[test]
    fn three_hundred_equal_warnings_are_one_line_and_a_number_each_second() {
        let (mut repeats, start) = (Repeats::default(), Instant::now());
        let warning = entry(Level::Warn, "Request Failed", "x");
        let written = (0..300).filter(|_| !repeats.counts(&warning, start)).count();
        assert_eq!(written, 1);
        assert!(repeats.due(start).is_empty());
        let told = repeats.due(start + SPAN);
        assert_eq!((told.len(), told[0].more), (1, 299));
        assert!(told[0].fields.contains(&("count".to_owned(), Field::Number(299.into()))));
        // They go on.
        assert!(repeats.counts(&warning, start + SPAN));
        assert_eq!(repeats.due(start + 2 * SPAN)[0].more, 1);
        // They do not.
        assert!(repeats.due(start + 3 * SPAN).is_empty());
        assert!(repeats.next().is_none());
        assert!(!repeats.counts(&warning, start + 3 * SPAN));
    }

    #[test]
    fn what_differs_and_what_scripts_say_is_left_alone() {
        let (mut repeats, now) = (Repeats::default(), Instant::now());
        for (level, message, source) in [
            (Level::Warn, "a", "x"),
            (Level::Warn, "b", "x"),
            (Level::Warn, "a", "y"),
            (Level::Error, "a", "x"),
            (Level::Info, "a", "x"),
            (Level::Info, "a", "x"),
            (Level::Error, "a", "console"),
            (Level::Error, "a", "console"),
        ] {
            assert!(!repeats.counts(&entry(level, message, source), now), "{message} {source}");
        }
        let long = entry(Level::Warn, &"x".repeat(LINE_MAX), "x");
        assert!(!repeats.counts(&long, now) && !repeats.counts(&long, now));
        for number in 0..10_000 {
            repeats.counts(&entry(Level::Warn, &number.to_string(), "x"), now);
        }
        assert!(repeats.0.len() <= LINES_MAX);
        assert!(repeats.rest().is_empty());
    }
}
