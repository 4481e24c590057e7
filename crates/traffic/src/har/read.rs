//! The reader: entry by entry, so that no more than the file and its bodies are in memory.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::entry::{self, Read};
use super::failure::HarError;
use super::model::{Entry, List, Page, Program, Text};
use super::{pages, sanitized};
use crate::Recording;

/// Reads a HAR file.
///
/// Entries are sorted by the time at which they were sent; `number` is their place in the file. Entries that are no requests to
/// servers (`data:`, `chrome-extension:`, `CONNECT`, …) are left out and counted; those without a response stay, with
/// `failure`. See `docs/guide/convert.md` for the dialects.
///
/// # Errors
/// No JSON, no HAR, a file that ends early, no entry that can be used.
pub fn read(bytes: &[u8]) -> Result<Recording, HarError> {
    read_beside(bytes, None)
}

/// Reads a HAR file whose bodies may lie in files of a folder (Playwright's `content: 'attach'`).
///
/// # Errors
/// As [`read`].
pub fn read_beside(bytes: &[u8], folder: Option<&Path>) -> Result<Recording, HarError> {
    let text = text(bytes);
    // Files that were not closed properly may end in zeros.
    let text = text.trim_end_matches(['\0', '\u{1a}', ' ', '\t', '\r', '\n']);
    if text.trim().is_empty() {
        return Err(HarError::Empty);
    }
    let mut log = Log { folder, ..Log::default() };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = Document { log: &mut log, is_log: false }.deserialize(&mut deserializer);
    let read = read.and_then(|()| deserializer.end());
    if let Err(error) = read {
        return Err(broken(&error, &log, text));
    }
    if !log.has_entries {
        return Err(HarError::NotHar("it has no list `log.entries`"));
    }
    log.finish()
}

/// The text of a file: UTF-8, or UTF-16 with its mark.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding.decode_with_bom_removal(bytes).0,
        None => String::from_utf8_lossy(bytes),
    }
}

fn broken(error: &serde_json::Error, log: &Log, text: &str) -> HarError {
    let whole = log.count;
    let is_entry = log.has_entries && !log.is_complete;
    let place = if is_entry { format!("entry {}", whole + 1) } else { "the log".to_owned() };
    let (line, column) = (error.line(), error.column());
    if error.is_eof() {
        return HarError::Truncated { line, column, place, whole };
    }
    if error.is_data() {
        return HarError::NotHar("it is JSON, but no object with `log` and `entries`");
    }
    if !log.has_entries && !text.trim_start().starts_with('{') {
        return HarError::NotHar("it does not begin with {");
    }
    let problem = error.to_string();
    let problem = problem.split(" at line ").next().unwrap_or_default().to_owned();
    HarError::Syntax { line, column, place, problem, whole }
}

/// The log, as far as it is read.
#[derive(Default)]
struct Log<'de, 'f> {
    folder: Option<&'f Path>,
    creator: Program<'de>,
    browser: Program<'de>,
    pages: List<Page<'de>>,
    entries: Vec<Read>,
    /// Whole ones, the left out included.
    count: usize,
    has_entries: bool,
    /// Whether the list of entries was read to its end.
    is_complete: bool,
    left_out: Vec<(String, u64)>,
}

impl<'de> Log<'de, '_> {
    fn leave_out(&mut self, why: &str) {
        leave_out(&mut self.left_out, why, 1);
    }

    fn take(&mut self, raw: &'de RawValue) {
        let number = self.count;
        self.count += 1;
        let Ok(entry) = serde_json::from_str::<Entry>(raw.get()) else {
            return self.leave_out("entries that can't be read");
        };
        match entry::read(&entry, number, self.folder) {
            Ok(read) => self.entries.push(read),
            Err(why) => self.leave_out(why),
        }
    }

    fn finish(mut self) -> Result<Recording, HarError> {
        let mut entries = std::mem::take(&mut self.entries);
        self.drop_cached(&mut entries);
        for why in entries.iter().filter_map(|read| read.damage) {
            leave_out(&mut self.left_out, why, 1);
        }
        if entries.is_empty() {
            return Err(HarError::Nothing(self.left_out));
        }
        let origin = origin(&self.creator, &self.browser, &entries);
        let is_sanitized =
            self.creator.name.as_str() == "WebInspector" && sanitized::has_no_secrets(&entries);
        if is_sanitized {
            let why = "requests whose cookies and Authorization are missing (a sanitized export: choose the one with sensitive data)";
            leave_out(&mut self.left_out, why, entries.len() as u64);
        }
        let begin = place(&mut entries);
        let (mut exchanges, of_pages): (Vec<_>, Vec<_>) =
            entries.into_iter().map(|read| (read.exchange, read.page)).unzip();
        if is_sanitized {
            let why = "requests that got `Authorization: Bearer` and the newest token that an answer gave (the export has no such header)";
            leave_out(&mut self.left_out, why, sanitized::add_bearers(&mut exchanges));
        }
        let steps = pages::steps(&exchanges, &of_pages, &self.pages.0, &self.creator);
        let began = begin.and_then(|ns| i64::try_from(ns.div_euclid(1_000_000_000)).ok());
        Ok(Recording { origin, began, exchanges, steps, left_out: self.left_out })
    }

    /// Leaves out answers that the browser had from an earlier request of the session, and the page's side of what a
    /// service worker fetched.
    fn drop_cached(&mut self, entries: &mut Vec<Read>) {
        let name =
            |read: &Read| format!("{} {}", read.exchange.request.method, read.exchange.request.url);
        let fetched: HashSet<String> =
            entries.iter().filter(|read| !read.from_cache && !read.via_worker).map(name).collect();
        let mut seen = HashSet::new();
        entries.retain(|read| {
            if !read.from_cache && !read.via_worker {
                return true;
            }
            let name = name(read);
            let is_known = fetched.contains(&name) || !seen.insert(name);
            let why = if read.from_cache {
                "answers from the browser's cache"
            } else {
                "answers of a service worker"
            };
            if is_known {
                leave_out(&mut self.left_out, why, 1);
            }
            !is_known
        });
    }
}

fn leave_out(all: &mut Vec<(String, u64)>, why: &str, count: u64) {
    if count == 0 {
        return;
    }
    match all.iter_mut().find(|(own, _)| own == why) {
        Some((_, sum)) => *sum += count,
        None => all.push((why.to_owned(), count)),
    }
}

/// Sorts entries and sets their times. Returns the begin of the session.
///
/// An entry without a moment is sent when the one before it in the file is done.
fn place(entries: &mut [Read]) -> Option<i128> {
    let begin = entries.iter().filter_map(|read| read.started).min();
    let base = begin.unwrap_or(0);
    let mut last = Duration::ZERO;
    for read in entries.iter_mut() {
        let length = read.exchange.done;
        let sent = read.started.map_or(last, |at| since(base, at));
        read.exchange.sent = sent;
        read.exchange.done = sent + length;
        last = read.exchange.done;
        let exchange = &mut read.exchange;
        let places = exchange.messages.iter_mut().map(|message| &mut message.at);
        let places = places.chain(exchange.events.iter_mut().map(|event| &mut event.at));
        for (at, moment) in places.zip(&read.moments) {
            *at = moment.map_or(sent, |moment| since(base, moment)).max(sent);
        }
        let last_message = exchange.messages.iter().map(|message| message.at).max();
        exchange.done = exchange.done.max(last_message.unwrap_or_default());
    }
    entries.sort_by_key(|read| read.exchange.sent);
    begin
}

fn since(base: i128, at: i128) -> Duration {
    Duration::from_nanos(u64::try_from(at - base).unwrap_or(0))
}

/// `HAR of Firefox 140.0`.
fn origin(creator: &Program, browser: &Program, entries: &[Read]) -> String {
    let named =
        |name: &str, version: &str| format!("HAR of {name} {version}").trim_end().to_owned();
    let agent = entries.iter().find_map(|read| read.exchange.request.headers.get("user-agent"));
    let of_agent = |mark: &str| {
        let (_, rest) = agent?.split_once(mark)?;
        Some(rest.split(['.', ' ']).next().unwrap_or_default().to_owned())
    };
    match creator.name.as_str() {
        "" => "HAR".to_owned(),
        "WebInspector" => match of_agent("Edg/") {
            Some(version) => named("Edge", &version),
            None => named("Chrome", &of_agent("Chrome/").unwrap_or_default()),
        },
        "WebKit Web Inspector" => named("Safari", &of_agent("Version/").unwrap_or_default()),
        "Playwright" if !browser.name.is_empty() => {
            format!(
                "{} with {} {}",
                named("Playwright", creator.version.as_str()),
                browser.name.0,
                browser.version.0
            )
        }
        name => named(name, creator.version.as_str()),
    }
}

/// The file: an object with `log`. `is_log`: the log itself.
struct Document<'l, 'de, 'f> {
    log: &'l mut Log<'de, 'f>,
    is_log: bool,
}

impl<'de> DeserializeSeed<'de> for Document<'_, 'de, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, 'de, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a HAR file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match key.as_str() {
                "log" if !self.is_log => {
                    map.next_value_seed(Document { log: self.log, is_log: true })?;
                }
                "creator" => self.log.creator = map.next_value()?,
                "browser" => self.log.browser = map.next_value()?,
                "pages" => self.log.pages = map.next_value()?,
                "entries" => map.next_value_seed(Entries(self.log))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The list of entries.
struct Entries<'l, 'de, 'f>(&'l mut Log<'de, 'f>);

impl<'de> DeserializeSeed<'de> for Entries<'_, 'de, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_, 'de, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.0.has_entries = true;
        self.0.is_complete = false;
        while let Some(raw) = seq.next_element::<&'de RawValue>()? {
            self.0.take(raw);
        }
        self.0.is_complete = true;
        Ok(())
    }
}
