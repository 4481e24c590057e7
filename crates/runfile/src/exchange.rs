//! Whole exchanges that are kept as evidence, without what is secret.

mod curl;
mod picker;
mod redact;
mod store;

pub use self::picker::{Picked, Picker};
pub use self::redact::address;
pub use self::store::{Evidence, EvidenceStore};

/// The bytes of a body that are kept: its beginning.
pub const BODY_MAX: usize = 64 << 10;

/// Why an exchange is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It failed: one of the first five of its kind.
    Failure,
    /// One of the twenty slowest.
    Slow,
    /// One of twenty at random.
    Random,
}

impl Why {
    /// As the file says it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Slow => "slow",
            Self::Random => "random",
        }
    }
}

/// A request and what came of it. Times are in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// When it began: nanoseconds since the Unix epoch.
    pub at: u64,
    /// The scenario; empty in `setup()` and its like.
    pub scenario: String,
    /// `GET`
    pub method: String,
    /// With its query.
    pub url: String,
    /// The tag `name`, or the text in its place.
    pub name: String,
    /// 0 if no response came.
    pub status: u16,
    /// k6's number of the error; 0 if there is none.
    pub code: u32,
    /// Why there is no response.
    pub error: Option<String>,
    /// Sending, waiting and receiving.
    pub duration: f64,
    /// The parts of it; nothing if only the whole is known.
    pub phases: Option<Phases>,
    /// Headers that were sent.
    pub request_headers: Vec<(String, String)>,
    /// The beginning of the body that was sent, if it lay in memory.
    pub request_body: Option<Vec<u8>>,
    /// Its whole size.
    pub request_size: u64,
    /// `HTTP/1.1`; empty if no response came.
    pub proto: String,
    /// Headers that came.
    pub response_headers: Vec<(String, String)>,
    /// The beginning of the body that came, if it was kept.
    pub response_body: Option<Vec<u8>>,
    /// Its whole size.
    pub response_size: u64,
}

/// The parts of an exchange's time, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Phases {
    /// Until there was a connection: all of the next three, and waiting for a free one.
    pub blocked: f64,
    /// Until the address was known.
    pub lookup: f64,
    /// Opening the TCP connection.
    pub connecting: f64,
    /// The TLS handshake.
    pub tls: f64,
    /// Sending the request.
    pub sending: f64,
    /// Until the first byte of the response.
    pub waiting: f64,
    /// Until its last byte.
    pub receiving: f64,
}

impl Exchange {
    /// Cuts bodies, and strikes out what is secret: values of headers, parameters and fields whose names say so, and whatever
    /// `veil` knows (it gives a text without secrets, or nothing if there are none in it).
    pub fn clean(&mut self, veil: impl Fn(&str) -> Option<String>) {
        redact::exchange(self, &veil);
    }

    /// A line for a shell that asks the same.
    pub fn curl(&self) -> String {
        curl::line(self)
    }

    /// `GET /users/{id}`
    pub fn route(&self) -> String {
        let name = if self.name.is_empty() { &self.url } else { &self.name };
        format!("{} {name}", self.method)
    }

    /// About how much memory it takes.
    pub fn size(&self) -> usize {
        let headers = self.request_headers.iter().chain(&self.response_headers);
        let headers: usize = headers.map(|(name, value)| name.len() + value.len() + 48).sum();
        let bodies = [&self.request_body, &self.response_body];
        let bodies: usize = bodies.into_iter().flatten().map(Vec::len).sum();
        // Headers, URL and a short body are in the line for a shell again.
        2 * headers
            + bodies
            + curl::BODY_SHOWN.min(bodies)
            + 3 * self.url.len()
            + self.name.len()
            + 512
    }
}
