//! A request of a log, and what is counted.

/// A request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Milliseconds since 1970, when it came or when it was answered.
    pub(super) at: i64,
    /// An address, as the log has it.
    pub(super) client: String,
    pub(super) method: String,
    /// The path with its query, or the whole URL.
    pub(super) target: String,
    pub(super) host: Option<String>,
    pub(super) scheme: Option<String>,
    pub(super) status: Option<u16>,
    pub(super) agent: Option<String>,
    pub(super) referer: Option<String>,
}

/// Counts of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// `combined`, `JSON`, …
    pub format: &'static str,
    /// Lines with something in them.
    pub lines: u64,
    /// Requests that are written.
    pub requests: u64,
    /// From the first request to the last.
    pub seconds: u64,
    /// Requests that are left out for their method, by method; at most 20 of these, and `other`.
    pub methods: Vec<(String, u64)>,
    /// Lines that are no request of the format.
    pub malformed: u64,
    /// The first of those: its number, from 1, and its begin, without a query.
    pub first_malformed: Option<(u64, String)>,
    /// Requests beyond the most that a session takes, or of other clients.
    pub beyond: u64,
    /// Values in queries that were replaced.
    pub secrets: u64,
}

impl Tally {
    pub(super) fn count_method(&mut self, method: &str) {
        let is_known = self.methods.iter().any(|(own, _)| own == method);
        let name = if is_known || self.methods.len() < 20 { method } else { "other" };
        match self.methods.iter_mut().find(|(own, _)| own == name) {
            Some((_, count)) => *count += 1,
            None => self.methods.push((name.to_owned(), 1)),
        }
    }

    pub(super) fn malformed(&mut self, line: u64, text: &str) {
        self.malformed += 1;
        if self.first_malformed.is_none() {
            let shown = text.split('?').next().unwrap_or_default();
            self.first_malformed = Some((line, shown.chars().take(80).collect()));
        }
    }

    /// For the user: what is not in the outcome, a line each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.methods.is_empty() {
            let each: Vec<String> =
                self.methods.iter().map(|(method, count)| format!("{count} {method}")).collect();
            notes.push(format!("left out, because logs have no bodies: {}", each.join(", ")));
        }
        if let Some((line, text)) = &self.first_malformed {
            notes.push(format!(
                "{} of {} lines are no requests; the first is line {line}: {text:?}",
                self.malformed, self.lines
            ));
        }
        if self.beyond > 0 {
            notes.push(format!(
                "{} requests are beyond the first clients and their first requests",
                self.beyond
            ));
        }
        if self.secrets > 0 {
            notes.push(format!("{} secrets in queries are replaced", self.secrets));
        }
        notes
    }
}

/// `GET /path HTTP/1.1` in an entry.
pub(super) fn request_line(line: &str, entry: &mut Entry) -> Option<()> {
    let (method, rest) = line.split_once(' ')?;
    let target = match rest.rsplit_once(' ') {
        Some((target, version)) if version.starts_with("HTTP/") || version == "-" => target,
        _ => rest,
    };
    entry.method = token(method)?;
    target.trim().clone_into(&mut entry.target);
    (!entry.target.is_empty()).then_some(())
}

/// A method in capitals.
pub(super) fn token(method: &str) -> Option<String> {
    let is_token = !method.is_empty()
        && method.len() <= 20
        && method.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
    is_token.then(|| method.to_ascii_uppercase())
}

/// A text, if it is not the `-` for nothing.
pub(super) fn some(text: &str) -> Option<String> {
    (!matches!(text, "" | "-")).then(|| text.to_owned())
}

/// RFC 3339, also without a zone, as milliseconds since 1970.
pub(super) fn moment(text: &str) -> Option<i64> {
    let parsed = brunt_moment::parse(text).or_else(|| {
        // `2026-11-26T10:00:00,123+0000` of loggers, and no zone at all.
        let text = text.replacen(',', ".", 1).replacen(' ', "T", 1);
        let zone = text.len().checked_sub(5).filter(|at| text.is_char_boundary(*at));
        let zoned = zone
            .filter(|at| text[*at..].starts_with(['+', '-']) && text.len() > 20)
            .map(|at| format!("{}{}:{}", &text[..at], &text[at..at + 3], &text[at + 3..]));
        zoned
            .and_then(|text| brunt_moment::parse(&text))
            .or_else(|| brunt_moment::parse(&format!("{text}Z")))
    });
    i64::try_from(parsed?.0 / 1_000_000).ok()
}

/// `26/Nov/2026:10:00:00 +0100` as milliseconds since 1970.
pub(super) fn local(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (stamp, zone) = text.split_once(' ')?;
    let mut parts = stamp.split(['/', ':', '.']);
    let mut number = || parts.next()?.parse::<i64>().ok();
    let day = number()?;
    let mut parts = stamp.split(['/', ':', '.']).skip(1);
    let month = parts.next()?;
    let month = MONTHS.iter().position(|own| *own == month)? as i64 + 1;
    let mut number = || parts.next()?.parse::<i64>().ok();
    let (year, hour, minute, second) = (number()?, number()?, number()?, number()?);
    let seconds = brunt_moment::unix_seconds((year, month, day), (hour, minute, second))?;
    let digits: i64 = zone.get(1..5)?.parse().ok()?;
    let east = (digits / 100 * 60 + digits % 100) * 60;
    let seconds = if zone.starts_with('-') { seconds + east } else { seconds - east };
    seconds.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_zones() {
        assert_eq!(local("01/Jan/1970:01:00:01 +0100"), Some(1000));
        assert_eq!(local("31/Dec/1969:23:30:00 -0030"), Some(0));
        assert_eq!(local("01/Foo/1970:01:00:01 +0100"), None);
        assert_eq!(moment("1970-01-01T00:00:01Z"), Some(1000));
        assert_eq!(moment("1970-01-01 00:00:01.5"), Some(1500));
        assert_eq!(moment("1970-01-01T01:00:01,250+0100"), Some(1250));
        assert_eq!(moment("soon"), None);
    }
}
