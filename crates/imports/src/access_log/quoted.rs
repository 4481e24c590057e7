//! Fields between blanks, quotes and brackets: the common and combined formats, and those of load balancers.

use std::borrow::Cow;

use super::entry::{Entry, local, moment, request_line, some};

/// The next field and the rest. Between quotes a backslash takes the next quote into the field.
fn field(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(' ');
    let rest = |end: usize| text.get(end..).unwrap_or_default();
    match text.bytes().next()? {
        b'"' => {
            let mut is_escaped = false;
            for (at, byte) in text.bytes().enumerate().skip(1) {
                match byte {
                    b'"' if !is_escaped => return Some((&text[1..at], rest(at + 1))),
                    b'\\' => is_escaped = !is_escaped,
                    _ => is_escaped = false,
                }
            }
            None
        }
        b'[' => text.find(']').map(|at| (&text[1..at], rest(at + 1))),
        _ => {
            let end = text.find(' ').unwrap_or(text.len());
            Some((&text[..end], rest(end)))
        }
    }
}

/// `\x22` and `\"` as what they mean.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 2..at + 4).and_then(|two| std::str::from_utf8(two).ok());
        match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'x')) => {
                if let Some(byte) = digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
                    out.push(byte);
                    at += 4;
                    continue;
                }
                out.push(b'\\');
            }
            (b'\\', Some(next @ (b'"' | b'\\'))) => {
                out.push(*next);
                at += 1;
            }
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// `host ident user [time] "request" status size "referer" "agent"`, with a virtual host before it or not, and more behind it.
pub(super) fn common(line: &str) -> Option<Entry> {
    let (before, rest) = line.split_once('[')?;
    let (time, rest) = rest.split_once(']')?;
    let mut entry = Entry { at: local(time).or_else(|| moment(time))?, ..Entry::default() };
    let mut names = before.split_ascii_whitespace();
    let first = names.next()?;
    let count = names.clone().count();
    // With a virtual host there are four names: host, address, identity, user.
    let second = names.next().filter(|_| count >= 3);
    match second {
        Some(client) if first.contains('.') || first.contains(':') => {
            entry.host = Some(first.to_owned());
            client.clone_into(&mut entry.client);
        }
        _ => first.clone_into(&mut entry.client),
    }
    let (request, rest) = field(rest)?;
    request_line(&unescape(request), &mut entry)?;
    let (status, rest) = field(rest)?;
    entry.status = status.parse().ok().filter(|status| (100..1000).contains(status));
    entry.status?;
    // The size, which some leave out; then the two of the combined format.
    let rest = field(rest).map_or("", |(_, rest)| rest);
    if let Some((referer, rest)) = field(rest) {
        entry.referer = some(&unescape(referer));
        entry.agent = field(rest).and_then(|(agent, _)| some(&unescape(agent)));
    }
    Some(entry)
}

/// The protocols with which lines of an Application Load Balancer begin.
const PROTOCOLS: [&str; 6] = ["http", "https", "h2", "grpcs", "ws", "wss"];

/// Whether a line begins as one of an Application Load Balancer does.
pub(super) fn is_balancer(line: &str) -> bool {
    let mut fields = line.split(' ');
    let is_protocol = fields.next().is_some_and(|first| PROTOCOLS.contains(&first));
    is_protocol && fields.next().is_some_and(|time| moment(time).is_some())
}

/// A line of an Application Load Balancer.
pub(super) fn balancer(line: &str) -> Option<Entry> {
    let mut fields = Vec::with_capacity(32);
    let mut rest = line;
    while fields.len() < 40
        && let Some((own, behind)) = field(rest)
    {
        fields.push(own);
        rest = behind;
    }
    if !PROTOCOLS.contains(fields.first()?) {
        return None;
    }
    // Its moment of creation; older lines have only that of the answer.
    let created = fields.get(21).and_then(|time| moment(time));
    let mut entry = Entry { at: created.or_else(|| moment(fields.get(1)?))?, ..Entry::default() };
    let client = fields.get(3)?;
    client.rsplit_once(':').map_or(*client, |(host, _)| host).clone_into(&mut entry.client);
    entry.status = fields.get(8)?.parse().ok().filter(|status| (100..1000).contains(status));
    request_line(&unescape(fields.get(12)?), &mut entry)?;
    entry.agent = fields.get(13).and_then(|agent| some(&unescape(agent)));
    Some(entry)
}
