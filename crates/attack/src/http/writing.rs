//! A hit's record, written into memory that is used again and again.

use std::cell::Cell;
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use brunt_http::{Exchange, Failure, Payload, Response, Shared, Source, content};
use brunt_net::Failure as Broken;
use brunt_records::{Headers, Record, Timestamp};

use super::Hit;
use crate::load::put;
use crate::plan::Plan;

/// The most that a kept body unpacks to.
const UNPACKED_MAX: u64 = 1 << 30;

/// Writes the records of one core.
pub(super) struct Scribe {
    record: Record,
    zone_minutes: Option<i16>,
    keep_body: u64,
}

impl Scribe {
    pub(super) fn new(plan: &Plan) -> Self {
        let record = Record { attack: plan.name.clone(), ..Record::default() };
        Self { record, zone_minutes: plan.zone_minutes, keep_body: plan.keep_body }
    }

    /// The record of a hit. `last` are method and URL of its last exchange; `trouble` is what went wrong although that
    /// exchange did not.
    pub(super) fn write(
        &mut self,
        hit: &Hit<'_>,
        exchange: &Exchange,
        last: (&str, &str),
        trouble: Option<String>,
    ) -> &Record {
        let record = &mut self.record;
        record.seq = hit.turn.seq;
        record.timestamp = Timestamp::from_unix_ns(hit.turn.began);
        if let Some(minutes) = self.zone_minutes {
            record.timestamp = record.timestamp.in_zone(minutes);
        }
        record.planned = hit.turn.planned;
        record.latency = exchange.finished_at.saturating_sub(hit.turn.began);
        record.bytes_out = hit.target.body.len() as u64;
        record.bytes_in = exchange.body_size();
        put(&mut record.method, &hit.target.method);
        put(&mut record.url, &hit.target.url);
        record.error.clear();
        record.body.clear();
        record.code = 0;
        match (exchange.response(), trouble) {
            (Ok(response), None) => {
                record.code = response.status();
                if !(200..400).contains(&record.code) {
                    let reason = response.reason();
                    let gap = if reason.is_empty() { "" } else { " " };
                    let _ = write!(record.error, "{}{gap}{reason}", record.code);
                }
                headers(&response, &mut record.headers);
                if self.keep_body > 0 {
                    keep(&response, exchange.body(), hit, self.keep_body, &mut record.body);
                }
            }
            (response, trouble) => {
                record.headers.clear();
                let text = match (trouble, response) {
                    (Some(trouble), _) => trouble,
                    (None, Err(failure)) => words(failure, exchange, hit),
                    (None, Ok(_)) => unreachable!("the other arm"),
                };
                match exchange.failure {
                    // Go says nothing of the request once the body is read.
                    Some(Failure::Timeout) if exchange.head().is_some() => record.error = text,
                    _ => {
                        let _ = write!(record.error, "{} {:?}: {text}", capital(last.0), last.1);
                    }
                }
            }
        }
        record
    }
}

/// `Get`, as Go writes methods in errors.
fn capital(method: &str) -> String {
    let mut chars = method.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars.map(|rest| rest.to_ascii_lowercase())).collect()
}

/// The failure, in words like those of Go's transport.
fn words(failure: Failure, exchange: &Exchange, hit: &Hit<'_>) -> String {
    let dial = |what: &str| match &hit.target.way {
        Ok(way) => {
            let way = way.borrow();
            let bracket = if way.host.contains(':') { ["[", "]"] } else { ["", ""] };
            format!("dial tcp {}{}{}:{}: {what}", bracket[0], way.host, bracket[1], way.port)
        }
        Err(_) => format!("dial tcp: {what}"),
    };
    match failure {
        Failure::Timeout if exchange.head().is_some() => {
            "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
                .to_owned()
        }
        Failure::Timeout => {
            "context deadline exceeded (Client.Timeout exceeded while awaiting headers)".to_owned()
        }
        Failure::Net(Broken::Refused) => dial("connect: connection refused"),
        Failure::Net(Broken::DialTimeout) => dial("i/o timeout"),
        Failure::Net(Broken::DialErrno(errno)) => {
            dial(&format!("connect: {}", brunt_net::words(errno)))
        }
        Failure::Net(Broken::NoSuchHost) => match &hit.target.way {
            Ok(way) => format!("dial tcp: lookup {}: no such host", way.borrow().host),
            Err(_) => failure.to_string(),
        },
        other => other.to_string(),
    }
}

/// The response's headers, names as Go writes them, each once with all its values. Memory of the last ones is reused.
fn headers(response: &Response<'_>, into: &mut Headers) {
    let mut count = 0;
    for (name, value) in response.headers() {
        let value = String::from_utf8_lossy(value);
        if let Some((_, values)) =
            into[..count].iter_mut().find(|(other, _)| other.eq_ignore_ascii_case(name))
        {
            values.push(value.into_owned());
            continue;
        }
        if count == into.len() {
            into.push((String::new(), Vec::new()));
        }
        let (kept, values) = &mut into[count];
        if !kept.eq_ignore_ascii_case(name) {
            canonical(name, kept);
        }
        values.truncate(1);
        match values.first_mut() {
            Some(first) => put(first, &value),
            None => values.push(value.into_owned()),
        }
        count += 1;
    }
    into.truncate(count);
}

/// `x-my-id` becomes `X-My-Id`.
fn canonical(name: &str, into: &mut String) {
    into.clear();
    let mut upper = true;
    for char in name.chars() {
        let is_upper = std::mem::replace(&mut upper, char == '-');
        into.push(if is_upper { char.to_ascii_uppercase() } else { char.to_ascii_lowercase() });
    }
}

/// As much of the body as is wanted, without the gzip that only we asked for. One that can't be unpacked is kept as it
/// came.
fn keep(response: &Response<'_>, body: &[u8], hit: &Hit<'_>, most: u64, into: &mut Vec<u8>) {
    let coding = if hit.target.gzip_is_ours { response.content_encoding() } else { None };
    let plain = coding.and_then(|coding| content::decode(&coding, body, UNPACKED_MAX).ok()?);
    let body = plain.as_deref().unwrap_or(body);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    into.extend_from_slice(&body[..body.len().min(most)]);
}

/// A body whose length isn't told, so that it goes out in chunks.
pub(super) fn chunked(body: Arc<[u8]>) -> Payload {
    struct Whole {
        body: Arc<[u8]>,
        is_given: Cell<bool>,
    }
    impl Source for Whole {
        fn poll_chunk(&self, _: &mut Context<'_>) -> Poll<Option<Result<Shared, String>>> {
            let is_over = self.is_given.replace(true);
            let chunk = || Ok(Shared::new(Rc::new(Arc::clone(&self.body))));
            Poll::Ready((!is_over).then(chunk))
        }

        fn rewind(&self) -> bool {
            self.is_given.set(false);
            true
        }
    }
    let source: Rc<dyn Source> = Rc::new(Whole { body, is_given: Cell::new(false) });
    Payload::from(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_methods_are_written_as_in_go() {
        let mut name = "old".to_owned();
        canonical("x-my-ID", &mut name);
        assert_eq!(
            (name.as_str(), capital("GET").as_str(), capital("").as_str()),
            ("X-My-Id", "Get", "")
        );
    }
}
