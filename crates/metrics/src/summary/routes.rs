//! The requests of a test, route by route.

use std::fmt;
use std::sync::Arc;

use crate::tags::TagSet;
use crate::trend::TrendSink;

/// A route and its numbers.
#[derive(Clone, Debug)]
pub struct RouteSummary {
    /// `GET`; empty if no tag says so.
    pub method: String,
    /// With its origin, as it tells series apart: `http://host/users/{id}`, or the name that the script gave.
    pub route: String,
    /// Requests.
    pub requests: u64,
    /// Requests per second of the run.
    pub rate: f64,
    /// Requests whose answer was not expected.
    pub failed: u64,
    /// Good answers per second of the run.
    pub goodput: f64,
    /// The durations of all, in milliseconds.
    pub duration: Arc<TrendSink>,
    /// The durations of each outcome that there was, in the order of [`Outcome`].
    pub outcomes: Vec<(Outcome, Arc<TrendSink>)>,
    /// Bytes of the requests; none if nothing is known of them.
    pub sent: Option<f64>,
    /// Bytes of the responses, likewise.
    pub received: Option<f64>,
    /// Its part of the time that all requests took, 0 to 1.
    pub share: f64,
}

impl RouteSummary {
    /// `GET http://host/users/{id}`
    pub fn name(&self) -> String {
        named(&self.method, &self.route)
    }

    /// The route without the origin: `/users/{id}`.
    pub fn path(&self) -> &str {
        path_of(&self.route)
    }

    /// The route without this origin, if it has it: [`shared_origin`] is told once for all.
    pub fn below(&self, origin: &str) -> &str {
        self.route.strip_prefix(origin).unwrap_or(&self.route)
    }
}

/// The origin that all routes share which are URLs: `http://host`; empty if they have several.
pub fn shared_origin(routes: &[RouteSummary]) -> &str {
    let origins =
        routes.iter().map(|one| &one.route[..one.route.len() - path_of(&one.route).len()]);
    let mut origins = origins.filter(|origin| !origin.is_empty());
    let first = origins.next().unwrap_or_default();
    if origins.all(|other| other == first) { first } else { "" }
}

/// Method and route, as far as they are known.
pub(crate) fn named(method: &str, route: &str) -> String {
    if method.is_empty() { route.to_owned() } else { format!("{method} {route}") }
}

/// The part of a route behind its origin; all of it if it is no URL.
pub(crate) fn path_of(route: &str) -> &str {
    let Some((scheme, rest)) = route.split_once("://") else { return route };
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_scheme {
        return route;
    }
    rest.find('/').map_or(route, |at| &rest[at..])
}

/// Whether requests under these tags are of the route that a selector names: `/users/{id}`, the same with its origin, or with
/// the method before it. A selector without a query takes any.
pub(crate) fn is_of_route(tags: &TagSet, wanted: &str) -> bool {
    let Some(route) = tags.route() else { return false };
    let path = path_of(route);
    let is_it = |wanted: &str| {
        let is_same = |route: &str| {
            let bare = || route.split('?').next().unwrap_or_default();
            route == wanted || (!wanted.contains('?') && bare() == wanted)
        };
        is_same(route) || is_same(path)
    };
    let of_method =
        || wanted.split_once(' ').filter(|(method, _)| tags.get("method") == Some(method));
    is_it(wanted) || of_method().is_some_and(|(_, wanted)| is_it(wanted.trim_start()))
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// An answer that was expected.
    Ok,
    /// An answer below 400 that was not.
    Unexpected,
    /// 4xx
    Refused,
    /// 5xx
    Broken,
    /// No answer in time.
    Timeout,
    /// No answer: no address, no connection, no TLS, or it broke off.
    Transport,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Ok, Self::Unexpected, Self::Refused, Self::Broken, Self::Timeout, Self::Transport];

    /// The outcome of requests under these tags. Where no tag says anything, they went well.
    pub(crate) fn of(tags: &TagSet) -> Self {
        let has = |key: &str| tags.get(key).filter(|value| !value.is_empty());
        let (status, code) = (has("status"), has("error_code"));
        let number: Option<u32> = status.and_then(|status| status.parse().ok());
        let good = match has("expected_response") {
            Some(expected) => expected == "true",
            None => code.is_none() && number.is_none_or(|status| (1..400).contains(&status)),
        };
        if good {
            return Self::Ok;
        }
        // Codes from 1400 on are those of statuses, which may be no tag.
        let code: Option<u32> = code.and_then(|code| code.parse().ok());
        let of_code = code.filter(|code| (1400..1600).contains(code)).map(|code| code - 1000);
        match number.filter(|status| *status > 0).or(of_code) {
            Some(400..500) => Self::Refused,
            Some(500..) => Self::Broken,
            Some(_) => Self::Unexpected,
            // A response in time, and opening a connection in time.
            None if matches!(code, Some(1050 | 1211)) => Self::Timeout,
            None => Self::Transport,
        }
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Ok => "ok",
            Self::Unexpected => "unexpected",
            Self::Refused => "4xx",
            Self::Broken => "5xx",
            Self::Timeout => "timeout",
            Self::Transport => "transport",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_from_tags() {
        for (tags, outcome) in [
            (&[][..], Outcome::Ok),
            (&[("status", "200"), ("expected_response", "true")], Outcome::Ok),
            (&[("status", "404"), ("expected_response", "true")], Outcome::Ok),
            (&[("status", "301"), ("expected_response", "false")], Outcome::Unexpected),
            (&[("status", "404"), ("error_code", "1404")], Outcome::Refused),
            (&[("error_code", "1503")], Outcome::Broken),
            (&[("status", "503"), ("expected_response", "false")], Outcome::Broken),
            (&[("status", "0"), ("error_code", "1050")], Outcome::Timeout),
            (
                &[("status", "0"), ("expected_response", "false"), ("error_code", "1212")],
                Outcome::Transport,
            ),
            (&[("status", "0")], Outcome::Transport),
        ] {
            assert_eq!(Outcome::of(&TagSet::from_pairs(tags.to_vec())), outcome, "{tags:?}");
        }
    }

    #[test]
    fn a_selector_names_a_route_in_several_ways() {
        let tags = TagSet::from_pairs([(TagSet::ROUTE, "http://a/users/{id}"), ("method", "GET")]);
        for (wanted, is_it) in [
            ("/users/{id}", true),
            ("http://a/users/{id}", true),
            ("GET /users/{id}", true),
            ("POST /users/{id}", false),
            ("http://b/users/{id}", false),
            ("/users", false),
            ("/users/{id}?x={id}", false),
        ] {
            assert_eq!(is_of_route(&tags, wanted), is_it, "{wanted}");
        }
        assert!(is_of_route(&tags.with(TagSet::ROUTE, "my name"), "my name"));
        let asked = tags.with(TagSet::ROUTE, "http://a/s?q={id}");
        assert!(is_of_route(&asked, "/s") && is_of_route(&asked, "GET /s?q={id}"));
        assert!(!is_of_route(&tags.without_route(), "/users/{id}"));
    }
}
