//! The metric, and the metrics that every test has.

use std::fmt;
use std::sync::Arc;

/// How the values of a metric are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Values are added up.
    Counter,
    /// The last value counts; the least and the greatest are kept too.
    Gauge,
    /// The share of values that are not zero.
    Rate,
    /// A distribution: average, extremes, percentiles.
    Trend,
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Trend => "trend",
        })
    }
}

/// The meaning of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Contains {
    /// A plain number.
    #[default]
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl fmt::Display for Contains {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Default => "default",
            Self::Time => "time",
            Self::Data => "data",
        })
    }
}

/// The index of a metric in its [`Registry`](crate::Registry): short to copy and to hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetricId(pub u32);

/// A named thing that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its index in the registry it came from.
    pub id: MetricId,
    /// Its name, such as `http_req_duration`.
    pub name: Arc<str>,
    /// How its values are put together.
    pub kind: Kind,
    /// The meaning of its values.
    pub contains: Contains,
}

/// The metrics that every test has. They sit in front of every registry, in this order.
pub mod builtin {
    use super::{Contains, Kind, MetricId};

    macro_rules! builtins {
        ($($(#[doc = $doc:literal])+ $constant:ident = $name:literal, $kind:ident, $contains:ident;)+) => {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "named as the constants")]
            #[repr(u32)]
            enum Order { $($constant),+ }
            $($(#[doc = $doc])+ pub const $constant: MetricId = MetricId(Order::$constant as u32);)+
            /// Name, kind and contents of each, in the order of their ids.
            pub(crate) const ALL: &[(&str, Kind, Contains)] =
                &[$(($name, Kind::$kind, Contains::$contains)),+];
        };
    }

    builtins! {
        /// VUs that run an executor's work, each second.
        VUS = "vus", Gauge, Default;
        /// VUs that are initialised, each second.
        VUS_MAX = "vus_max", Gauge, Default;
        /// Iterations that came to their end.
        ITERATIONS = "iterations", Counter, Default;
        /// How long an iteration took, event loop drained.
        ITERATION_DURATION = "iteration_duration", Trend, Time;
        /// Iterations that were due and could not start.
        DROPPED_ITERATIONS = "dropped_iterations", Counter, Default;
        /// Bytes written to sockets.
        DATA_SENT = "data_sent", Counter, Data;
        /// Bytes read from sockets.
        DATA_RECEIVED = "data_received", Counter, Data;
        /// Each entry of each `check()`.
        CHECKS = "checks", Rate, Default;
        /// How long the body of a `group()` took.
        GROUP_DURATION = "group_duration", Trend, Time;
        /// HTTP exchanges.
        HTTP_REQS = "http_reqs", Counter, Default;
        /// Sending + waiting + receiving.
        HTTP_REQ_DURATION = "http_req_duration", Trend, Time;
        /// From asking for a connection to having one.
        HTTP_REQ_BLOCKED = "http_req_blocked", Trend, Time;
        /// The TCP handshake; 0 on a reused connection.
        HTTP_REQ_CONNECTING = "http_req_connecting", Trend, Time;
        /// The TLS handshake; 0 on a reused or plain connection.
        HTTP_REQ_TLS_HANDSHAKING = "http_req_tls_handshaking", Trend, Time;
        /// From having a connection to the request being written.
        HTTP_REQ_SENDING = "http_req_sending", Trend, Time;
        /// From the request being written to the first byte of the answer.
        HTTP_REQ_WAITING = "http_req_waiting", Trend, Time;
        /// From the first byte of the answer to its last.
        HTTP_REQ_RECEIVING = "http_req_receiving", Trend, Time;
        /// Exchanges whose answer was not expected.
        HTTP_REQ_FAILED = "http_req_failed", Rate, Default;
        /// WebSocket handshakes, those that failed too.
        WS_SESSIONS = "ws_sessions", Counter, Default;
        /// Messages sent on WebSockets.
        WS_MSGS_SENT = "ws_msgs_sent", Counter, Default;
        /// Messages received on WebSockets.
        WS_MSGS_RECEIVED = "ws_msgs_received", Counter, Default;
        /// From a ping on a WebSocket to its pong.
        WS_PING = "ws_ping", Trend, Time;
        /// How long a WebSocket was open.
        WS_SESSION_DURATION = "ws_session_duration", Trend, Time;
        /// From asking for a WebSocket to having one.
        WS_CONNECTING = "ws_connecting", Trend, Time;
        /// Server-sent events. Ours, not k6's.
        SSE_EVENTS = "sse_events", Counter, Default;
        /// From one server-sent event to the next of the same connection. Ours, not k6's.
        SSE_EVENT_INTERVAL = "sse_event_interval", Trend, Time;
        /// From the planned start of an iteration to its actual one (open models only). Ours, not
        /// k6's.
        ITERATION_LATENESS = "iteration_lateness", Trend, Time;
        /// From the request of a unary call to its answer; from the first to the last message of a stream.
        GRPC_REQ_DURATION = "grpc_req_duration", Trend, Time;
        /// From the planned start of an iteration to its end, event loop drained (open models only). Ours, not k6's.
        ITERATION_DURATION_PLANNED = "iteration_duration_planned", Trend, Time;
        /// Bytes of requests, heads included, told apart by route. Ours, not k6's.
        HTTP_REQ_BYTES_SENT = "http_req_bytes_sent", Counter, Data;
        /// Bytes of responses, likewise. Ours, not k6's.
        HTTP_REQ_BYTES_RECEIVED = "http_req_bytes_received", Counter, Data;
    }

    /// Metrics of ours that are shown where k6's are only if somebody asks for them, by name or by a flag.
    pub const SHOWN_IF_ASKED: [MetricId; 2] = [ITERATION_LATENESS, ITERATION_DURATION_PLANNED];

    /// Metrics of ours whose names scripts may have for something else: they give way to the script's.
    pub(crate) const GIVE_WAY: [MetricId; 3] =
        [ITERATION_DURATION_PLANNED, HTTP_REQ_BYTES_SENT, HTTP_REQ_BYTES_RECEIVED];
}
