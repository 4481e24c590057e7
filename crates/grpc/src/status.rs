//! How a call ended.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use brunt_http::http2::{Cut, NoStream};
use brunt_http::{Failure, Http2Trouble, Malformed};
use http::HeaderMap;
use prost::Message;

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The status of a call: code, message, details.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// 0 is well; the numbers are those of gRPC, but servers may send others.
    pub code: u32,
    /// The message of the server, or ours.
    pub message: String,
    /// `google.protobuf.Any`s: type URLs and the bytes of messages.
    pub details: Vec<(String, Vec<u8>)>,
    /// The server has certainly not looked at the call: it may be made again.
    pub is_unseen: bool,
}

/// `google.rpc.Status`.
#[derive(Clone, PartialEq, Message)]
struct Detailed {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

#[derive(Clone, PartialEq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

/// The names of the codes, as Go writes them.
const NAMES: [&str; 17] = [
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

impl Status {
    /// `CANCELLED`.
    pub const CANCELED: u32 = 1;
    /// `UNKNOWN`.
    pub const UNKNOWN: u32 = 2;
    /// `DEADLINE_EXCEEDED`.
    pub const DEADLINE_EXCEEDED: u32 = 4;
    /// `RESOURCE_EXHAUSTED`.
    pub const RESOURCE_EXHAUSTED: u32 = 8;
    /// `UNIMPLEMENTED`.
    pub const UNIMPLEMENTED: u32 = 12;
    /// `INTERNAL`.
    pub const INTERNAL: u32 = 13;
    /// `UNAVAILABLE`.
    pub const UNAVAILABLE: u32 = 14;

    /// A status of our own.
    pub fn new(code: u32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new(), is_unseen: false }
    }

    /// The status of a call that the server has not looked at because it was about to leave.
    fn draining() -> Self {
        Self { is_unseen: true, ..Self::new(Self::UNAVAILABLE, "the connection is draining") }
    }

    /// The time for the call was over.
    pub fn deadline_exceeded() -> Self {
        Self::new(Self::DEADLINE_EXCEEDED, "context deadline exceeded")
    }

    /// All is well.
    pub fn is_ok(&self) -> bool {
        self.code == 0
    }

    /// The name of the code: `NotFound`.
    pub fn name(&self) -> String {
        NAMES
            .get(self.code as usize)
            .map_or_else(|| format!("Code({})", self.code), |&name| name.to_owned())
    }

    /// As Go prints it: `rpc error: code = NotFound desc = …`.
    pub fn as_error(&self) -> String {
        format!("rpc error: code = {} desc = {}", self.name(), self.message)
    }

    /// Takes the status out of trailers; `None` if there is none.
    pub(crate) fn take(trailers: &mut HeaderMap) -> Option<Self> {
        let code = trailers.remove("grpc-status")?;
        let message = trailers.remove("grpc-message");
        let message = message.map(|text| from_percent(text.as_bytes())).unwrap_or_default();
        let number = code.to_str().ok().and_then(|text| text.parse::<i32>().ok());
        let mut status = if let Some(code) = number {
            // Go reads a signed number and keeps its bits.
            Self::new(code as u32, message)
        } else {
            let text = String::from_utf8_lossy(code.as_bytes());
            let told = "transport: malformed grpc-status: strconv.ParseInt: parsing";
            Self::new(Self::UNKNOWN, format!("{told} {text:?}: invalid syntax"))
        };
        if let Some(details) = trailers.get("grpc-status-details-bin")
            && let Some(Ok(detailed)) =
                LENIENT.decode(details).ok().map(|bytes| Detailed::decode(&*bytes))
        {
            status.details =
                detailed.details.into_iter().map(|any| (any.type_url, any.value)).collect();
        }
        Some(status)
    }

    /// The status of an answer without gRPC.
    pub(crate) fn of_http(code: u16, content_type: Option<&[u8]>) -> Self {
        let number = match code {
            400 => Self::INTERNAL,
            401 => 16,
            403 => 7,
            404 => Self::UNIMPLEMENTED,
            429 | 502 | 503 | 504 => Self::UNAVAILABLE,
            _ => Self::UNKNOWN,
        };
        // In Go's words, which are of older standards here and there.
        let reason = match code {
            203 => "Non-Authoritative Information",
            413 => "Request Entity Too Large",
            414 => "Request URI Too Long",
            416 => "Requested Range Not Satisfiable",
            _ => http::StatusCode::from_u16(code)
                .ok()
                .and_then(|code| code.canonical_reason())
                .unwrap_or_default(),
        };
        let mut told =
            format!("unexpected HTTP status code received from server: {code} ({reason})");
        match content_type {
            None => told.push_str("; malformed header: missing HTTP content-type"),
            Some(text) => {
                let text = String::from_utf8_lossy(text);
                told = format!("{told}; transport: received unexpected content-type {text:?}");
            }
        }
        Self::new(number, told)
    }

    /// The server said that it leaves, and why.
    fn of_farewell(reason: u32) -> Self {
        Self::new(
            Self::UNAVAILABLE,
            format!(
                "closing transport due to: connection error: desc = \"error reading from server: EOF\", received prior \
                 goaway: code: {}",
                code_name(reason)
            ),
        )
    }

    /// Why a connection took no stream.
    pub(crate) fn of_no_stream(why: &NoStream) -> Self {
        match why {
            NoStream::Failed(Failure::Http2(Http2Trouble::GoAway, _)) => Self::draining(),
            NoStream::Failed(failure) => Self::of_failure(failure),
            NoStream::HeadTooLarge(limit) => {
                let told = "header list size to send violates the maximum size";
                Self::new(Self::INTERNAL, format!("{told} ({limit} bytes) set by server"))
            }
            _ => Self::new(Self::UNAVAILABLE, "transport is closing"),
        }
    }

    /// The status of a stream that was cut.
    pub(crate) fn of_cut(cut: &Cut) -> Self {
        match cut {
            Cut::Reset(reason) => {
                let told = "stream terminated by RST_STREAM with error code";
                let status =
                    Self::new(of_reset(*reason), format!("{told}: {}", code_name(*reason)));
                Self { is_unseen: *reason == REFUSED_STREAM, ..status }
            }
            Cut::Failed(failure) => Self::of_failure(failure),
            Cut::GivenUp => Self::new(Self::INTERNAL, "http2: stream no longer needed"),
        }
    }

    /// The status of a failure of the connection or stream.
    fn of_failure(failure: &Failure) -> Self {
        let lost =
            |told: &str| Self::new(Self::UNAVAILABLE, format!("error reading from server: {told}"));
        match failure {
            Failure::Net(brunt_net::Failure::Ended(_)) => lost("EOF"),
            Failure::Net(failure) => lost(&failure.to_string()),
            Failure::Http2(Http2Trouble::Unseen, _) => Self::draining(),
            Failure::Http2(Http2Trouble::GoAway, reason) => Self::of_farewell(*reason),
            Failure::Http2(Http2Trouble::Connection, ENHANCE_YOUR_CALM) => {
                lost("the server sends frames without end that carry nothing")
            }
            Failure::Http2(Http2Trouble::Connection, reason) => {
                lost(&format!("connection error: {}", code_name(*reason)))
            }
            Failure::Malformed(Malformed::Frame) => lost("http2: frame too large"),
            Failure::Http2(Http2Trouble::Stream, reason) => Self::new(
                Self::INTERNAL,
                format!("the server breaks the rules of HTTP/2: {}", code_name(*reason)),
            ),
            other => Self::new(Self::INTERNAL, other.to_string()),
        }
    }
}

/// A reason of RFC 9113 §7 that says: the server did not look at it.
const REFUSED_STREAM: u32 = 7;

/// Another one: too much.
const ENHANCE_YOUR_CALM: u32 = 11;

/// The status of a stream that the server ended.
fn of_reset(reason: u32) -> u32 {
    match reason {
        // FLOW_CONTROL_ERROR
        3 | ENHANCE_YOUR_CALM => Status::RESOURCE_EXHAUSTED,
        REFUSED_STREAM => Status::UNAVAILABLE,
        // CANCEL
        8 => Status::CANCELED,
        // INADEQUATE_SECURITY
        12 => 7,
        14.. => Status::UNKNOWN,
        _ => Status::INTERNAL,
    }
}

/// The name of a reason in RFC 9113 §7.
fn code_name(reason: u32) -> String {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    NAMES
        .get(reason as usize)
        .map_or_else(|| format!("unknown error code 0x{reason:x}"), |&name| name.to_owned())
}

/// The text that `grpc-message` carries; what is no escape stays as it is.
fn from_percent(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = (byte == b'%').then(|| after.get(..2)).flatten();
        let escaped = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_their_escapes() {
        assert_eq!(from_percent(b"gone %25 away %C3%A4 %zz %"), "gone % away ä %zz %");
    }

    #[test]
    fn a_status_leaves_the_trailers() {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", "5".parse().unwrap());
        trailers.insert("grpc-message", "no%21".parse().unwrap());
        trailers.insert("x-more", "1".parse().unwrap());
        let status = Status::take(&mut trailers).unwrap();
        assert_eq!((status.code, &*status.message), (5, "no!"));
        assert_eq!(status.as_error(), "rpc error: code = NotFound desc = no!");
        assert_eq!(trailers.len(), 1);
        assert_eq!(Status::take(&mut trailers), None);
        trailers.insert("grpc-status", "x".parse().unwrap());
        assert_eq!(Status::take(&mut trailers).map(|status| status.code), Some(2));
    }

    #[test]
    fn a_refusal_is_told_from_a_server_that_uses_its_words() {
        assert!(Status::of_cut(&Cut::Reset(REFUSED_STREAM)).is_unseen);
        assert!(!Status::of_cut(&Cut::Reset(8)).is_unseen);
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", "14".parse().unwrap());
        trailers.insert("grpc-message", "the connection is draining".parse().unwrap());
        assert!(!Status::take(&mut trailers).unwrap().is_unseen);
    }

    #[test]
    fn what_is_no_grpc_has_a_status_too() {
        let status = Status::of_http(404, Some(b"text/html"));
        assert_eq!(status.code, Status::UNIMPLEMENTED);
        assert_eq!(
            status.message,
            "unexpected HTTP status code received from server: 404 (Not Found); transport: received unexpected \
             content-type \"text/html\""
        );
    }
}
