//! The heading of each metric in the compact and full layouts.

/// The headings, in the order of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Custom,
    Http,
    Execution,
    Network,
    Browser,
    WebVitals,
    Grpc,
    Websocket,
    Sql,
}

impl Section {
    pub(crate) const ALL: [Self; 9] = [
        Self::Custom,
        Self::Http,
        Self::Execution,
        Self::Network,
        Self::Browser,
        Self::WebVitals,
        Self::Grpc,
        Self::Websocket,
        Self::Sql,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Custom => "CUSTOM",
            Self::Http => "HTTP",
            Self::Execution => "EXECUTION",
            Self::Network => "NETWORK",
            Self::Browser => "BROWSER",
            Self::WebVitals => "WEB_VITALS",
            Self::Grpc => "GRPC",
            Self::Websocket => "WEBSOCKET",
            Self::Sql => "SQL",
        }
    }

    /// The section of a metric; `None` if this layout hides it.
    ///
    /// k6 compares prefixes, so that a custom `http_reqs_mine` is under HTTP and a custom `checks_mine` nowhere.
    /// `iteration_lateness` and the section SQL are ours.
    pub(crate) fn of(name: &str, full: bool) -> Option<Self> {
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        if starts(HIDDEN) || (!full && starts(HIDDEN_IF_COMPACT)) {
            return None;
        }
        Some(if starts(HTTP) {
            Self::Http
        } else if starts(EXECUTION) {
            Self::Execution
        } else if starts(NETWORK) {
            Self::Network
        } else if starts(&["browser_web_vital_"]) {
            Self::WebVitals
        } else if starts(&["browser_"]) {
            Self::Browser
        } else if starts(&["grpc_"]) {
            Self::Grpc
        } else if starts(&["ws_"]) {
            Self::Websocket
        } else if starts(SQL) {
            Self::Sql
        } else {
            Self::Custom
        })
    }
}

/// Told elsewhere on the page.
const HIDDEN: &[&str] = &["checks", "group_duration"];
/// The phases of a request.
const HIDDEN_IF_COMPACT: &[&str] = &[
    "http_req_blocked",
    "http_req_connecting",
    "http_req_receiving",
    "http_req_sending",
    "http_req_tls_handshaking",
    "http_req_waiting",
];
const HTTP: &[&str] = &[
    "http_req_blocked",
    "http_req_connecting",
    "http_req_duration",
    "http_req_failed",
    "http_req_receiving",
    "http_req_sending",
    "http_req_tls_handshaking",
    "http_req_waiting",
    "http_reqs",
];
const EXECUTION: &[&str] =
    &["dropped_iterations", "iteration_duration", "iteration_lateness", "iterations", "vus"];
const NETWORK: &[&str] = &["data_received", "data_sent"];
/// Names, not `sql_`: the extension of k6 has no metrics, so that scripts for it make their own, which are custom here as there.
const SQL: &[&str] = &[
    "sql_connecting",
    "sql_duration",
    "sql_failed",
    "sql_pool_wait",
    "sql_queries",
    "sql_receiving",
    "sql_retries",
    "sql_rows",
    "sql_waiting",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_goes_where_its_prefix_sends_it() {
        for (name, section) in [
            ("http_reqs_mine", Some(Section::Http)),
            ("httpx", Some(Section::Custom)),
            ("Http_reqs", Some(Section::Custom)),
            ("vusfoo", Some(Section::Execution)),
            ("iteration_x", Some(Section::Custom)),
            ("data_foo", Some(Section::Custom)),
            ("sql_duration{name:insert}", Some(Section::Sql)),
            ("sql_rows_affected", Some(Section::Sql)),
            ("sql_time_of_mine", Some(Section::Custom)),
            ("browser_web_vital_lcp", Some(Section::WebVitals)),
            ("browser_data_sent", Some(Section::Browser)),
            ("checks_mine", None),
            ("http_req_waiting{a:b}", None),
        ] {
            assert_eq!(Section::of(name, false), section, "{name}");
        }
        assert_eq!(Section::of("http_req_waiting", true), Some(Section::Http));
    }
}
