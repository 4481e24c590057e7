//! One hit and what came of it: vegeta's result record, and one moment more.

/// One hit and what came of it.
///
/// All times are in nanoseconds. The service time is [`Record::latency`]; the time that a user waited, who came when the
/// hit was due, is [`Record::response_time`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The attack's name.
    pub attack: String,
    /// The hit's number: 0, 1, 2 … in the order in which hits were begun.
    pub seq: u64,
    /// The status of the response; 0 = there was none.
    pub code: u16,
    /// When the hit was begun.
    pub timestamp: Timestamp,
    /// From [`Record::timestamp`] to the last byte of the response, in nanoseconds.
    pub latency: u64,
    /// Bytes of the request's body.
    pub bytes_out: u64,
    /// Bytes of the response's body.
    pub bytes_in: u64,
    /// Why it failed; empty = it did not.
    pub error: String,
    /// As much of the response's body as was kept.
    pub body: Vec<u8>,
    /// The target's method.
    pub method: String,
    /// The target's URL.
    pub url: String,
    /// The response's headers, names in canonical case; empty = none were kept.
    pub headers: Headers,
    /// When the hit was due, in nanoseconds since the Unix epoch. Only Brunt writes it; CSV has no column for it.
    pub planned: Option<u64>,
}

/// Names of headers, each with its values, in the order of the wire.
pub type Headers = Vec<(String, Vec<String>)>;

impl Record {
    /// When it ended: nanoseconds since the Unix epoch.
    pub fn end(&self) -> u64 {
        self.timestamp.unix_ns().saturating_add(self.latency)
    }

    /// Whether the response's status says so: 200 to 399.
    pub fn is_success(&self) -> bool {
        (200..400).contains(&self.code)
    }

    /// The delay of its beginning, in nanoseconds: 0 if it was begun early, or if its due moment is unknown.
    pub fn lag(&self) -> u64 {
        self.planned.map_or(0, |planned| self.timestamp.unix_ns().saturating_sub(planned))
    }

    /// From the moment when it was due to the last byte, in nanoseconds.
    pub fn response_time(&self) -> u64 {
        self.latency.saturating_add(self.lag())
    }

    /// Makes it as new, keeping the memory of its texts.
    pub fn clear(&mut self) {
        self.attack.clear();
        self.seq = 0;
        self.code = 0;
        self.timestamp = Timestamp::default();
        self.latency = 0;
        self.bytes_out = 0;
        self.bytes_in = 0;
        self.error.clear();
        self.body.clear();
        self.method.clear();
        self.url.clear();
        self.headers.clear();
        self.planned = None;
    }
}

/// A moment, and the time zone of the clock that told it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Timestamp {
    unix_ns: u64,
    zone_minutes: Option<i16>,
}

impl Timestamp {
    /// The moment `unix_ns` nanoseconds after the Unix epoch, in UTC. (Moments before 1970 in foreign files are read
    /// as the epoch.)
    pub const fn from_unix_ns(unix_ns: u64) -> Self {
        Self { unix_ns, zone_minutes: None }
    }

    /// The same moment in a zone `minutes` minutes east of Greenwich.
    pub const fn in_zone(mut self, minutes: i16) -> Self {
        self.zone_minutes = Some(minutes);
        self
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn unix_ns(self) -> u64 {
        self.unix_ns
    }

    /// Minutes east of Greenwich; nothing = UTC.
    pub const fn zone_minutes(self) -> Option<i16> {
        self.zone_minutes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_counts_from_when_the_hit_was_due() {
        let mut record = Record {
            timestamp: Timestamp::from_unix_ns(1_000),
            latency: 50,
            planned: Some(900),
            ..Record::default()
        };
        assert_eq!((record.lag(), record.response_time(), record.end()), (100, 150, 1_050));
        record.planned = Some(1_100);
        assert_eq!((record.lag(), record.response_time()), (0, 50));
        record.planned = None;
        assert_eq!(record.response_time(), 50);
    }

    #[test]
    fn redirects_that_are_not_followed_are_successes() {
        for (code, success) in [(0, false), (199, false), (200, true), (399, true), (400, false)] {
            assert_eq!(Record { code, ..Record::default() }.is_success(), success, "{code}");
        }
    }
}
