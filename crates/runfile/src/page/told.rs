//! The facts of a live page: those that did not change since they were told last are left out, and exchanges come no faster than browsers
//! and the network bear.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, Value, json};

use super::{Page, facts};
use crate::error::RunFileError;
use crate::reader::{RunFile, State};

/// Bytes of a body while the run goes on; fewer if all together are too many.
const BODIES: [usize; 3] = [4 << 10, 1 << 10, 0];
/// Bytes of all exchanges with which bodies are still shown so long.
const ALL_MAX: usize = 2 << 20;
/// Bytes of exchanges in a second of the run, on average.
const SHARE: u64 = 128 << 10;
/// Facts that are told each time.
const ALWAYS: [&str; 5] = ["time", "run", "events", "metrics", "series"];

/// How many rows there are, and of which ids.
pub(super) type Mark = [i64; 3];

/// The facts that a live page has.
#[derive(Default)]
pub(super) struct Told {
    /// By key, of the JSON that was told last.
    hashes: BTreeMap<String, u64>,
    exchanges: Option<Mark>,
    /// The places of exchanges in the list that was told last.
    places: BTreeMap<i64, usize>,
    failures: Option<(Mark, usize)>,
    sources: Option<Mark>,
    /// The slice of the file from which on exchanges may be told again.
    patience: u64,
}

/// Facts for those who have got all before: what they know is left out.
pub(super) fn news(
    file: &RunFile,
    page: &mut Page,
    mut facts: Map<String, Value>,
) -> Result<Value, RunFileError> {
    let about = file.about();
    let exchanges = facts::mark(file, "exchange")?;
    let is_due = about.state != State::Running || about.slices >= page.facts.patience;
    if page.facts.exchanges.is_none() || page.facts.exchanges != Some(exchanges) && is_due {
        let (list, places) = evidence(file)?;
        let bytes = list.to_string().len() as u64;
        let width = (about.width.as_millis() as u64).max(1);
        page.facts.patience = about.slices + bytes * 1000 / (SHARE * width);
        (page.facts.exchanges, page.facts.places) = (Some(exchanges), places);
        // They name places in this list.
        page.facts.failures = None;
        facts.insert("exchanges".to_owned(), list);
    }
    let failures = (facts::mark(file, "failure")?, page.series.len());
    if page.facts.failures != Some(failures) {
        page.facts.failures = Some(failures);
        let list = facts::failures(file, page, &page.facts.places)?;
        facts.insert("failures".to_owned(), json!(list));
    }
    let sources = facts::mark(file, "source")?;
    if page.facts.sources != Some(sources) {
        page.facts.sources = Some(sources);
        facts.insert("sources".to_owned(), facts::sources(file)?);
    }
    let hashes = &mut page.facts.hashes;
    facts.retain(|key, value| {
        if ALWAYS.contains(&&**key) {
            return true;
        }
        let hash = hash(value);
        hashes.insert(key.clone(), hash) != Some(hash)
    });
    Ok(Value::Object(facts))
}

/// All facts, for those who come late. Facts that are new to the others come to everybody with the next news.
pub(super) fn so_far(
    file: &RunFile,
    page: &mut Page,
    mut facts: Map<String, Value>,
) -> Result<Value, RunFileError> {
    let exchanges = facts::mark(file, "exchange")?;
    let (list, places) = evidence(file)?;
    facts.insert("exchanges".to_owned(), list);
    facts.insert("failures".to_owned(), json!(facts::failures(file, page, &places)?));
    facts.insert("sources".to_owned(), facts::sources(file)?);
    if page.facts.exchanges != Some(exchanges) {
        page.facts.exchanges = None;
    }
    let hashes = &mut page.facts.hashes;
    hashes.retain(|key, known| facts.get(key).is_none_or(|value| hash(value) == *known));
    if !hashes.contains_key("failures") {
        page.facts.failures = None;
    }
    if !hashes.contains_key("sources") {
        page.facts.sources = None;
    }
    Ok(Value::Object(facts))
}

/// The exchanges with short bodies, and their places by their ids.
fn evidence(file: &RunFile) -> Result<(Value, BTreeMap<i64, usize>), RunFileError> {
    let (mut exchanges, places) = facts::exchanges(file)?;
    for most in BODIES {
        for exchange in &mut exchanges {
            facts::cut(exchange, most);
        }
        if exchanges.iter().map(|exchange| exchange.to_string().len()).sum::<usize>() <= ALL_MAX {
            break;
        }
    }
    Ok((Value::Array(exchanges), places))
}

fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.to_string().hash(&mut hasher);
    hasher.finish()
}
