//! The first clients of a log as a session.

use std::io::Read;
use std::time::Duration;

use brunt_traffic::{Body, Headers, Response, Step};

use super::entry::{Entry, Tally};
use super::lines::Lines;
use super::{Options, address, empty};
use crate::draft::{Draft, Ledger};
use crate::error::Error;
use crate::session::Session;

/// A client that is silent for longer is gone; it may come again as another one.
const GONE: i64 = 30 * 60 * 1000;

/// Between the last request of a client and the first one of the next, in the script.
const BETWEEN: Duration = Duration::from_secs(1);

/// A client's requests.
struct Client {
    name: (String, Option<String>),
    entries: Vec<(u64, Entry)>,
    last: i64,
}

/// The requests of the first clients of a log, one client after the other, with the pauses that they made: a step for each.
///
/// # Errors
/// As [`targets`](super::targets).
pub fn session(log: impl Read, options: &Options) -> Result<(Session, Tally), Error> {
    let mut tally = Tally::default();
    let mut lines = Lines::new(log)?;
    let mut clients: Vec<Client> = Vec::new();
    while let Some(entry) = lines.next(&mut tally)? {
        if !options.methods.contains(&entry.method) {
            tally.count_method(&entry.method);
            continue;
        }
        let name = (entry.client.clone(), entry.agent.clone());
        let is_it = |client: &&mut Client| {
            client.name == name && entry.at.saturating_sub(client.last) <= GONE
        };
        let (at, has_room) = (entry.at, clients.len() < options.sessions_max);
        match clients.iter_mut().rev().find(is_it) {
            Some(client) if client.entries.len() < options.requests_max => {
                client.entries.push((lines.number(), entry));
                client.last = client.last.max(at);
            }
            None if has_room => {
                clients.push(Client { name, entries: vec![(lines.number(), entry)], last: at });
            }
            _ => tally.beyond += 1,
        }
    }
    let mut session = Session::default();
    let mut ledger = Ledger::default();
    "access log".clone_into(&mut session.recording.origin);
    let mut begin = Duration::ZERO;
    for (index, client) in clients.iter_mut().enumerate() {
        client.entries.sort_by_key(|(_, entry)| entry.at);
        let first = client.entries.first().map_or(0, |(_, entry)| entry.at);
        session.recording.steps.push(Step { at: begin, name: format!("client {}", index + 1) });
        if index == 0 {
            session.recording.began = Some(first.div_euclid(1000));
        }
        let mut end = begin;
        for (line, entry) in &client.entries {
            let since = u64::try_from(entry.at.saturating_sub(first)).unwrap_or_default();
            let at = begin + Duration::from_millis(since);
            if push(entry, *line, at, options, &mut session, &mut ledger)?.is_none() {
                tally.malformed(*line, &entry.target);
            } else {
                tally.requests += 1;
            }
            end = at;
        }
        begin = end + BETWEEN;
    }
    if tally.requests == 0 {
        return Err(Error::Log { line: lines.number(), what: empty(&tally, options) });
    }
    tally.seconds = begin.as_secs();
    session.recording.left_out.extend(
        tally
            .methods
            .iter()
            .map(|(method, count)| (format!("{method} requests without bodies"), *count)),
    );
    if tally.beyond > 0 {
        let what = "requests of other clients or beyond the first ones of a client".to_owned();
        session.recording.left_out.push((what, tally.beyond));
    }
    let mut session = session.finish(ledger);
    tally.secrets = session.plan.secrets.len() as u64;
    session.notes.extend(tally.notes());
    Ok((session, tally))
}

/// Adds a request; nothing if its address is none.
fn push(
    entry: &Entry,
    line: u64,
    at: Duration,
    options: &Options,
    session: &mut Session,
    ledger: &mut Ledger,
) -> Result<Option<()>, Error> {
    let Some(url) = address(entry, options, line)? else { return Ok(None) };
    let mut draft = Draft {
        method: entry.method.clone(),
        url: crate::template::plain(url.as_str()),
        ..Draft::default()
    };
    for (name, value) in [("User-Agent", &entry.agent), ("Referer", &entry.referer)] {
        // The address that led here may have secrets in its query.
        let value = value.as_deref().map(|value| value.split('?').next().unwrap_or_default());
        if let Some(value) = value {
            let value = value.replace(['\r', '\n'], " ");
            draft.headers.push((name.to_owned(), crate::template::plain(&value)));
        }
    }
    let why = "an access log has no bodies".to_owned();
    let response = entry.status.map(|status| Response {
        status,
        headers: Headers::default(),
        body: Body::Absent { why, size: None },
    });
    if session.push(&draft, ledger, response).is_err() {
        return Ok(None);
    }
    if let Some(exchange) = session.recording.exchanges.last_mut() {
        (exchange.sent, exchange.done) = (at, at);
    }
    Ok(Some(()))
}
