use std::sync::Arc;
use std::time::Duration;

use brunt_metrics::TrendSink;
use brunt_metrics::summary::{
    CheckSummary, Exception, Exceptions, GroupSummary, MetricSummary, Summary, ThresholdResult,
    Values,
};

use super::*;

/// Names that would be markup if they were not text.
pub(crate) const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "]]></failure><testcase name='x'/>",
    "\"quoted\" & 'so'",
    "\u{1b}[31mred\u{0}\u{ffff}\u{202e}",
    "a|b\n| c | @someone `x` **y**",
    "你好",
];

pub(crate) fn empty() -> Summary {
    Summary {
        run: Duration::from_millis(61_234),
        trend_stats: Vec::new(),
        metrics: Vec::new(),
        own: Vec::new(),
        checks: Vec::new(),
        root: GroupSummary::default(),
        scenarios: Vec::new(),
        groups: Vec::new(),
        routes: Vec::new(),
        failures: Vec::new(),
        exceptions: Exceptions::default(),
        dropped: brunt_metrics::Dropped::default(),
    }
}

pub(crate) fn threshold(source: &str, ok: bool, value: Option<f64>, of: &str) -> ThresholdResult {
    let (source, aggregation) = (source.to_owned(), of.to_owned());
    ThresholdResult { source, ok, value, aggregation, abort_on_fail: false }
}

/// A run with a bit of everything, under hostile names.
pub(crate) fn hostile() -> Summary {
    let metric = |name: &str, kind, contains, values, thresholds| MetricSummary {
        name: name.into(),
        parent: None,
        kind,
        contains,
        values,
        thresholds,
        observed: true,
        named: true,
    };
    let sink = TrendSink::from_values((1..=1000).map(f64::from));
    let mut summary = empty();
    summary.metrics = vec![
        metric(
            "http_req_duration",
            Kind::Trend,
            Contains::Time,
            Values::Trend(Arc::new(sink.clone())),
            vec![
                threshold("p(95)<200", false, Some(950.05), "p(95)"),
                threshold("p(95)<200", false, Some(950.05), "p(95)"),
                threshold("med<900", true, Some(500.5), "med"),
            ],
        ),
        metric(
            "http_req_failed",
            Kind::Rate,
            Contains::Default,
            Values::Rate { rate: Some(0.0123), passes: 123, fails: 9877 },
            vec![threshold("rate<0.01", false, Some(0.0123), "rate")],
        ),
        metric(
            "http_reqs",
            Kind::Counter,
            Contains::Default,
            Values::Counter { count: 10_000.0, rate: Some(163.3) },
            vec![threshold("count>5", false, None, "count")],
        ),
    ];
    for name in HOSTILE {
        let values = Values::Trend(Arc::new(sink.clone()));
        let thresholds = vec![threshold(name, false, None, "max")];
        summary.metrics.push(metric(name, Kind::Trend, Contains::Time, values, thresholds));
        let check = |fails| CheckSummary {
            name: name.into(),
            group: format!("::{name}::inner"),
            passes: 7,
            fails,
        };
        summary.checks.extend([check(3), check(0)]);
        let exception = Exception { text: format!("{name}\n\tat default (a.js:1:2)"), count: 2 };
        summary.exceptions.told.push(exception);
    }
    summary
}

pub(crate) fn about() -> About<'static> {
    About {
        script: HOSTILE[0],
        started: Some("2026-11-23T17:00:00Z"),
        host: Some("host & <co>"),
        aborted: Some(HOSTILE[1]),
    }
}

/// An element of XML: its name, attributes, and what is in it.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
    text: String,
}

impl Element {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> usize {
        self.attribute(name).expect(name).parse().expect("a whole number")
    }
}

/// Reads XML as strictly as a parser must: panics where it is not well-formed.
fn read(text: &str) -> Element {
    let is_allowed = |char: char| matches!(char, '\n' | '\t' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(text.chars().all(is_allowed), "a character that XML has not");
    let text = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("the head");
    let mut open = vec![Element::default()];
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        open.last_mut().unwrap().text.push_str(&unescaped(before));
        let end = tag.find('>').expect("an end of the tag");
        let inner = &tag[1..end];
        rest = &tag[end + 1..];
        if let Some(name) = inner.strip_prefix('/') {
            let done = open.pop().unwrap();
            assert_eq!(done.name, name, "tags that are not nested");
            open.last_mut().unwrap().children.push(done);
            continue;
        }
        let is_empty = inner.ends_with('/');
        let inner = inner.trim_end_matches('/');
        let (name, mut attributes) = inner.split_once(' ').unwrap_or((inner, ""));
        assert!(name.chars().all(|char| char.is_ascii_lowercase()), "<{name}");
        let mut element = Element { name: name.into(), ..Element::default() };
        while !attributes.trim().is_empty() {
            let (key, after) = attributes.trim_start().split_once("=\"").expect("a value");
            let (value, after) = after.split_once('"').expect("the end of a value");
            assert!(element.attribute(key).is_none(), "{key} twice");
            element.attributes.push((key.into(), unescaped(value)));
            attributes = after;
        }
        if is_empty {
            open.last_mut().unwrap().children.push(element);
        } else {
            open.push(element);
        }
    }
    assert_eq!(rest.trim(), "");
    assert_eq!(open.len(), 1, "tags left open");
    open.pop().unwrap().children.pop().expect("a root")
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut parts = text.split('&');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (entity, after) = part.split_once(';').expect("the end of an entity");
        out.push_str(match entity {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "#39" => "'",
            "#10" => "\n",
            "#9" => "\t",
            other => panic!("&{other};"),
        });
        out.push_str(after);
    }
    out
}

type Names = &'static [&'static str];

/// The part of all schemas that we keep to: element, attributes that must be there, those that may be, children.
const SCHEMA: [(&str, Names, Names, Names); 5] = [
    ("testsuites", &["name", "tests", "failures", "errors", "time"], &[], &["testsuite"]),
    (
        "testsuite",
        &["name", "tests", "failures", "errors", "time"],
        &["skipped", "timestamp", "hostname"],
        &["testcase"],
    ),
    ("testcase", &["name", "classname", "time"], &[], &["failure", "error"]),
    ("failure", &["type", "message"], &[], &[]),
    ("error", &["type", "message"], &[], &[]),
];

fn check(element: &Element) {
    let (_, must, may, children) = SCHEMA
        .iter()
        .find(|(name, ..)| *name == element.name)
        .unwrap_or_else(|| panic!("<{}>", element.name));
    for name in *must {
        assert!(element.attribute(name).is_some(), "<{}> has no {name}", element.name);
    }
    for (name, value) in &element.attributes {
        assert!(must.contains(&name.as_str()) || may.contains(&name.as_str()), "{name}");
        if name == "time" {
            // Jenkins's SUREFIRE_TIME: digits and a point, no exponent.
            let (whole, fraction) = value.split_once('.').expect("a point");
            let is_digits = |text: &str| text.chars().all(|char| char.is_ascii_digit());
            assert!(!whole.is_empty() && is_digits(whole) && is_digits(fraction), "{value}");
        }
    }
    for child in &element.children {
        assert!(children.contains(&child.name.as_str()), "<{}> in <{}>", child.name, element.name);
        check(child);
    }
    let is_text = ["failure", "error"].contains(&element.name.as_str());
    assert!(is_text || element.text.trim().is_empty(), "{}", element.text);
}

/// Every case, and that all counts are right.
fn cases(root: &Element) -> Vec<&Element> {
    let of = |suite: &Element, kind: &str| {
        let is_of = |case: &&Element| case.children.iter().any(|child| child.name == kind);
        suite.children.iter().filter(is_of).count()
    };
    for (key, kind) in [("failures", "failure"), ("errors", "error")] {
        for suite in &root.children {
            assert_eq!(suite.number(key), of(suite, kind));
        }
        assert_eq!(
            root.number(key),
            root.children.iter().map(|suite| of(suite, kind)).sum::<usize>()
        );
    }
    let cases: Vec<&Element> = root.children.iter().flat_map(|suite| &suite.children).collect();
    assert_eq!(root.number("tests"), cases.len());
    root.children.iter().for_each(|suite| assert_eq!(suite.number("tests"), suite.children.len()));
    cases
}

#[test]
fn files_keep_to_what_all_readers_know() {
    for (summary, about) in
        [(empty(), About::default()), (hostile(), about()), (hostile(), About::default())]
    {
        let root = read(&junit(&summary, &about));
        check(&root);
        cases(&root);
    }
}

#[test]
fn names_come_out_as_they_went_in() {
    let root = read(&junit(&hostile(), &about()));
    assert_eq!(root.attribute("name"), Some(HOSTILE[0]));
    let checks = &root.children[2];
    assert_eq!(checks.children[0].attribute("name"), Some(HOSTILE[0]));
    let class = format!("checks / {} / inner", HOSTILE[2]);
    assert!(checks.children.iter().any(|case| case.attribute("classname") == Some(&class)));
    let error = &root.children[0].children[0].children[0];
    assert_eq!((error.name.as_str(), error.attribute("message")), ("error", Some(HOSTILE[1])));
}

#[test]
fn no_class_and_name_come_twice() {
    let root = read(&junit(&hostile(), &about()));
    let mut seen = std::collections::BTreeSet::new();
    for case in cases(&root) {
        let key = (case.attribute("classname"), case.attribute("name"));
        assert!(seen.insert(key), "{key:?}");
    }
    let second = (Some("thresholds"), Some("http_req_duration p(95)<200 (2)"));
    assert!(seen.contains(&second));
}

#[test]
fn broken_thresholds_tell_what_was_seen() {
    let root = read(&junit(&hostile(), &About::default()));
    let message = |name: &str| {
        let case = cases(&root).into_iter().find(|case| case.attribute("name") == Some(name));
        let failure = case.unwrap().children.first();
        failure.map(|failure| failure.attribute("message").unwrap().to_owned())
    };
    assert_eq!(message("http_req_duration p(95)<200").as_deref(), Some("p(95) is 950.05ms"));
    assert_eq!(message("http_req_failed rate<0.01").as_deref(), Some("rate is 1.23 %"));
    assert_eq!(message("http_req_duration med<900"), None);
    let unknown = Some("count is not known: there is no value");
    assert_eq!(message("http_reqs count>5").as_deref(), unknown);
    assert!(message("iterations").unwrap().starts_with("12 iterations ended"));
}

#[test]
fn thousands_of_checks_are_cut_and_counted() {
    let mut summary = empty();
    summary.checks = (0..CASES_MAX + 5)
        .map(|n| CheckSummary { name: n.to_string(), passes: 1, ..CheckSummary::default() })
        .collect();
    let root = read(&junit(&summary, &About::default()));
    let cases = cases(&root);
    assert_eq!(cases.len(), CASES_MAX + 3);
    let told = cases.last().unwrap().children[0].attribute("message");
    assert_eq!(told, Some("5 more cases are left out"));
}
