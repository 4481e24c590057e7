//! The records of a replay: how they are written down, and read again.
//!
//! A record is a line of JSON and the bodies that the line announces. They lie in a file that the runner of the script and the
//! comparison share, for as long as the proof takes.

use brunt_traffic::Headers;
use bytes::Bytes;
use serde_json::{Value, json};

/// An event of a replay.
#[derive(Debug, Clone)]
pub enum Record {
    /// A request and its response; of redirects each.
    Hop(Box<Hop>),
    /// A check was made.
    Check {
        /// The user.
        vu: u64,
        /// Of that user, from 0.
        iteration: u64,
        /// As the script calls it.
        name: String,
        /// Whether it held.
        passed: bool,
    },
    /// Something on a WebSocket.
    Talk {
        /// The user.
        vu: u64,
        /// Of that user, from 0.
        iteration: u64,
        /// The URL, and what happened to the connection.
        title: String,
        /// A message of the script.
        sent: Bytes,
        /// A message of the server.
        received: Bytes,
    },
}

/// A request and its response.
#[derive(Debug, Clone, Default)]
pub struct Hop {
    /// The user.
    pub vu: u64,
    /// Of that user, from 0.
    pub iteration: u64,
    /// Nanoseconds since 1970.
    pub started: u64,
    /// Likewise.
    pub ended: u64,
    /// `GET`.
    pub method: String,
    /// Without credentials.
    pub url: String,
    /// As they were sent.
    pub request_headers: Headers,
    /// As it was sent.
    pub request_body: Bytes,
    /// 0 if no response came.
    pub status: u16,
    /// Of the response.
    pub headers: Headers,
    /// Of the response, without content codings.
    pub body: Bytes,
    /// The body is longer than it is here, or went to the script as it came.
    pub is_cut: bool,
    /// Why no response came.
    pub failure: Option<String>,
}

impl Record {
    /// The user and the iteration that it belongs to.
    pub fn of(&self) -> (u64, u64) {
        match self {
            Self::Hop(hop) => (hop.vu, hop.iteration),
            Self::Check { vu, iteration, .. } | Self::Talk { vu, iteration, .. } => {
                (*vu, *iteration)
            }
        }
    }
}

/// The bytes of a record.
pub fn write(record: &Record) -> Vec<u8> {
    let (head, one, other) = match record {
        Record::Hop(hop) => (
            json!({
                "kind": "hop",
                "vu": hop.vu,
                "iteration": hop.iteration,
                "started": hop.started,
                "ended": hop.ended,
                "method": hop.method,
                "url": hop.url,
                "request_headers": hop.request_headers.0,
                "status": hop.status,
                "headers": hop.headers.0,
                "cut": hop.is_cut,
                "failure": hop.failure,
                "sizes": [hop.request_body.len(), hop.body.len()],
            }),
            &hop.request_body[..],
            &hop.body[..],
        ),
        Record::Check { vu, iteration, name, passed } => (
            json!({
                "kind": "check", "vu": vu, "iteration": iteration, "name": name, "passed": passed,
                "sizes": [0, 0],
            }),
            &[][..],
            &[][..],
        ),
        Record::Talk { vu, iteration, title, sent, received } => (
            json!({
                "kind": "talk", "vu": vu, "iteration": iteration, "title": title,
                "sizes": [sent.len(), received.len()],
            }),
            &sent[..],
            &received[..],
        ),
    };
    let mut out = head.to_string().into_bytes();
    out.push(b'\n');
    out.extend_from_slice(one);
    out.extend_from_slice(other);
    out
}

/// The records of a file. A last one that was not written to its end is left out: its writer was stopped.
pub fn read(bytes: &Bytes) -> Vec<Record> {
    let mut records = Vec::new();
    let mut at = 0;
    while let Some((record, next)) = one(bytes, at) {
        records.extend(record);
        at = next;
    }
    records
}

/// The record at this place, if its kind is known, and the place of the next; `None` at the end.
fn one(bytes: &Bytes, at: usize) -> Option<(Option<Record>, usize)> {
    let rest = bytes.get(at..)?;
    let end = at + rest.iter().position(|byte| *byte == b'\n')?;
    let head: Value = serde_json::from_slice(&bytes[at..end]).ok()?;
    let size = |index: usize| usize::try_from(head["sizes"][index].as_u64()?).ok();
    let first = end + 1;
    let second = first.checked_add(size(0)?)?;
    let next = second.checked_add(size(1)?)?;
    if next > bytes.len() {
        return None;
    }
    let (one, other) = (bytes.slice(first..second), bytes.slice(second..next));
    let text = |name: &str| head[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| head[name].as_u64().unwrap_or_default();
    let headers = |name: &str| {
        let pairs = head[name].as_array().into_iter().flatten();
        let pair =
            |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
        Headers(pairs.filter_map(pair).collect())
    };
    let (vu, iteration) = (number("vu"), number("iteration"));
    let record = match head["kind"].as_str() {
        Some("hop") => Some(Record::Hop(Box::new(Hop {
            vu,
            iteration,
            started: number("started"),
            ended: number("ended"),
            method: text("method"),
            url: text("url"),
            request_headers: headers("request_headers"),
            request_body: one,
            status: u16::try_from(number("status")).unwrap_or_default(),
            headers: headers("headers"),
            body: other,
            is_cut: head["cut"].as_bool().unwrap_or_default(),
            failure: head["failure"].as_str().map(str::to_owned),
        }))),
        Some("check") => {
            let passed = head["passed"].as_bool().unwrap_or_default();
            Some(Record::Check { vu, iteration, name: text("name"), passed })
        }
        Some("talk") => {
            Some(Record::Talk { vu, iteration, title: text("title"), sent: one, received: other })
        }
        _ => None,
    };
    Some((record, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written_and_a_torn_one_is_left_out() {
        let hop = Hop {
            vu: 2,
            started: 7,
            method: "POST".into(),
            url: "http://a/b".into(),
            request_headers: Headers(vec![("A".into(), "b\"c".into())]),
            request_body: Bytes::from_static(b"x=\n1"),
            status: 200,
            body: Bytes::from_static(b"\xff\n{}"),
            is_cut: true,
            ..Hop::default()
        };
        let check = Record::Check { vu: 2, iteration: 0, name: "ok".into(), passed: false };
        let mut bytes = write(&Record::Hop(Box::new(hop)));
        bytes.extend(write(&check));
        let whole = read(&Bytes::from(bytes.clone()));
        let [Record::Hop(hop), Record::Check { name, passed: false, .. }] = &whole[..] else {
            panic!("{whole:?}");
        };
        assert_eq!((&hop.body[..], &hop.request_body[..]), (&b"\xff\n{}"[..], &b"x=\n1"[..]));
        assert_eq!((hop.vu, hop.status, hop.is_cut, name.as_str()), (2, 200, true, "ok"));
        assert_eq!(hop.request_headers.get("a"), Some("b\"c"));
        bytes.truncate(bytes.len() - 1);
        assert_eq!(read(&Bytes::from(bytes)).len(), 1);
        assert_eq!(read(&Bytes::from_static(b"not ours\n")).len(), 0);
    }
}
