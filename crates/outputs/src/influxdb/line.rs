//! A sample as a line: `http_reqs,method=GET,status=200 url="http://…",value=1 1795290311789548308`.

use std::sync::Arc;

use brunt_metrics::{Registry, Sample, Series, SeriesDelta};

use crate::cache::{Text, Texts};
use crate::number::{push_decimal, push_whole};

/// The type of a tag's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Text,
    Whole,
    Float,
    Truth,
}

/// The unit of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
    Minutes,
    Hours,
}

impl Precision {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "ns" | "n" => Self::Nanoseconds,
            "us" | "u" | "µs" => Self::Microseconds,
            "ms" => Self::Milliseconds,
            "s" => Self::Seconds,
            "m" => Self::Minutes,
            "h" => Self::Hours,
            _ => return Err(format!("\"{text}\" is not a precision; use ns, us, ms, s, m or h")),
        })
    }

    /// As the server's `precision` has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Minutes => "m",
            Self::Hours => "h",
        }
    }

    fn nanos(self) -> u64 {
        match self {
            Self::Nanoseconds => 1,
            Self::Microseconds => 1_000,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
            Self::Minutes => 60_000_000_000,
            Self::Hours => 3_600_000_000_000,
        }
    }
}

/// Writes lines. The text that all lines of a series share is kept; so is the time, which samples of
/// one exchange share.
pub(super) struct Lines {
    registry: Arc<Registry>,
    fields: Vec<(String, FieldKind)>,
    precision: Precision,
    /// As in `Context::instance`.
    instance: Option<(String, String)>,
    texts: Texts,
    at: u64,
    /// A blank, the time, a line feed.
    time: Vec<u8>,
}

impl Lines {
    pub(super) fn new(
        registry: &Arc<Registry>,
        fields: Vec<(String, FieldKind)>,
        precision: Precision,
    ) -> Self {
        let (registry, texts) = (Arc::clone(registry), Texts::default());
        let time = Vec::new();
        Self { registry, fields, precision, instance: None, texts, at: u64::MAX, time }
    }

    /// With a tag that tells this process from others.
    pub(super) fn of_instance(self, instance: Option<(String, String)>) -> Self {
        Self { instance, ..self }
    }

    /// Turns to a frame: the samples that follow are of these series.
    pub(super) fn turn_to(&mut self, series: &[SeriesDelta]) {
        let (registry, fields) = (&self.registry, &self.fields);
        let instance = self.instance.as_ref().map(|(key, value)| (&**key, &**value));
        self.texts.turn_to(series, |series| text(series, registry, fields, instance));
    }

    /// Whether there is a line for it: line protocol has no infinity.
    #[inline]
    pub(super) fn push(&mut self, out: &mut Vec<u8>, sample: &Sample) -> bool {
        if !sample.value.is_finite() {
            return false;
        }
        if sample.at != self.at {
            self.at = sample.at;
            self.time.clear();
            self.time.push(b' ');
            push_whole(&mut self.time, sample.at / self.precision.nanos(), 1);
            self.time.push(b'\n');
        }
        let (_, text) = self.texts.get(sample.series);
        out.extend_from_slice(&text.head);
        push_decimal(out, sample.value);
        out.extend_from_slice(&text.tail);
        out.extend_from_slice(&self.time);
        true
    }
}

/// Up to `value=`, and what follows the value.
fn text(
    series: &Series,
    registry: &Registry,
    kinds: &[(String, FieldKind)],
    instance: Option<(&str, &str)>,
) -> Text {
    let mut head = Vec::new();
    push_escaped(&mut head, &registry.get(series.metric).name, b", ");
    let kind = |key: &str| kinds.iter().find(|(name, _)| name == key).map(|(_, kind)| *kind);
    let mut fields: Vec<(&str, &str, FieldKind)> = Vec::new();
    let instance = instance.filter(|(key, _)| series.tags.get(key).is_none());
    let tags = series.tags.iter().chain(instance);
    for (key, value) in tags.filter(|(_, value)| !value.is_empty()) {
        if let Some(kind) = kind(key) {
            fields.push((key, value, kind));
            continue;
        }
        head.push(b',');
        push_escaped(&mut head, key, b",= ");
        head.push(b'=');
        push_escaped(&mut head, value, b",= ");
    }
    head.push(b' ');
    // Fields are sorted, `value` among them.
    let mut tail = Vec::new();
    for (key, value, kind) in fields {
        if key == "value" {
            continue;
        }
        if key < "value" {
            push_field(&mut head, key, value, kind);
            head.push(b',');
        } else {
            tail.push(b',');
            push_field(&mut tail, key, value, kind);
        }
    }
    head.extend_from_slice(b"value=");
    Text { head: head.into(), tail: tail.into() }
}

/// `vu=1i`; what can't be read as its kind is text.
fn push_field(out: &mut Vec<u8>, key: &str, value: &str, kind: FieldKind) {
    push_escaped(out, key, b",= ");
    out.push(b'=');
    match kind {
        FieldKind::Whole if value.parse::<i64>().is_ok() => {
            out.extend_from_slice(value.as_bytes());
            out.push(b'i');
        }
        FieldKind::Truth if value.parse::<bool>().is_ok() => {
            out.extend_from_slice(value.as_bytes());
        }
        FieldKind::Float if value.parse::<f64>().is_ok_and(f64::is_finite) => {
            push_decimal(out, value.parse().expect("it was just read"));
        }
        _ => {
            out.push(b'"');
            for byte in value.bytes() {
                if matches!(byte, b'"' | b'\\') {
                    out.push(b'\\');
                }
                out.push(byte);
            }
            out.push(b'"');
        }
    }
}

/// A name, key or tag. A backslash at its end would swallow what follows, and a line feed would end the
/// line: the one is left out, the other written `\n`.
fn push_escaped(out: &mut Vec<u8>, text: &str, special: &[u8]) {
    for byte in text.trim_end_matches('\\').bytes() {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            byte if special.contains(&byte) => out.extend_from_slice(&[b'\\', byte]),
            byte => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use brunt_metrics::builtin;

    use super::*;
    use crate::testing::frame;

    fn lines(
        fields: &[(&str, FieldKind)],
        precision: Precision,
        samples: &[(&[(&str, &str)], f64)],
    ) -> String {
        let registry = Arc::new(Registry::new());
        let fields = fields.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        let mut lines = Lines::new(&registry, fields, precision);
        let values: Vec<_> =
            samples.iter().map(|(tags, value)| (builtin::HTTP_REQS, *tags, *value)).collect();
        let frame = frame(&registry, &values);
        let mut out = Vec::new();
        lines.turn_to(&frame.series);
        for sample in &frame.samples {
            lines.push(&mut out, sample);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_is_that_of_k6() {
        let url = "http://127.0.0.1/x?a=1";
        let tags =
            [("method", "GET"), ("name", url), ("group", ""), ("url", url), ("status", "200")];
        assert_eq!(
            lines(&[("url", FieldKind::Text)], Precision::Nanoseconds, &[(&tags, 1.0)]),
            "http_reqs,method=GET,name=http://127.0.0.1/x?a\\=1,status=200 \
             url=\"http://127.0.0.1/x?a=1\",value=1 1795290311789548308\n"
        );
    }

    #[test]
    fn tags_become_fields_of_the_kind_that_is_asked_for() {
        let kinds = [
            ("a", FieldKind::Whole),
            ("b", FieldKind::Float),
            ("c", FieldKind::Truth),
            ("x", FieldKind::Whole),
            ("z", FieldKind::Text),
        ];
        let tags = [("a", "7"), ("b", "1.50"), ("c", "true"), ("x", "no"), ("z", "a\"b\\")];
        assert_eq!(
            lines(&kinds, Precision::Seconds, &[(&tags, 2e6)]),
            "http_reqs a=7i,b=1.5,c=true,value=2000000,x=\"no\",z=\"a\\\"b\\\\\" 1795290311\n"
        );
    }

    #[test]
    fn an_instance_has_a_tag_of_its_own_unless_the_sample_has_it() {
        let registry = Arc::new(Registry::new());
        let instance = Some(("agent".to_owned(), "2".to_owned()));
        let mut lines = Lines::new(&registry, Vec::new(), Precision::Seconds).of_instance(instance);
        let mine: &[(&str, &str)] = &[("agent", "mine")];
        let frame = frame(&registry, &[(builtin::VUS, &[], 1.0), (builtin::HTTP_REQS, mine, 1.0)]);
        let mut out = Vec::new();
        lines.turn_to(&frame.series);
        for sample in &frame.samples {
            lines.push(&mut out, sample);
        }
        let said = String::from_utf8(out).unwrap();
        let expected = "vus,agent=2 value=1 1795290311\nhttp_reqs,agent=mine value=1 1795290311\n";
        assert_eq!(said, expected);
    }

    #[test]
    fn nothing_in_a_tag_breaks_the_line() {
        let tags = [("k =,", "v\n1 \\"), ("t", "\\")];
        assert_eq!(
            lines(&[], Precision::Milliseconds, &[(&tags, -0.5), (&[], f64::INFINITY)]),
            "http_reqs,k\\ \\=\\,=v\\n1\\ ,t= value=-0.5 1795290311789\n"
        );
    }
}
