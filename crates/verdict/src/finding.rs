//! Findings, and the verdict that they make.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// How far a run can be trusted. Ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The generator did not disturb its numbers.
    #[default]
    Ok,
    /// Some numbers are to be taken with care.
    Doubtful,
    /// Some numbers are not those of the target.
    Invalid,
}

/// The metric that thresholds may name, a gauge with the [`number`](Level::number) of the level. It has its value when the run
/// is over, and no tags.
pub const METRIC: &str = "verdict";

impl Level {
    /// 0 for `ok`, 1 for `doubtful`, 2 for `invalid`.
    pub fn number(self) -> f64 {
        f64::from(self as u8)
    }

    /// `ok`, `doubtful`, `invalid`.
    pub fn text(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Doubtful => "doubtful",
            Self::Invalid => "invalid",
        }
    }

    /// The level of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Ok, Self::Doubtful, Self::Invalid].into_iter().find(|level| level.text() == text)
    }
}

/// Something that makes numbers worth less.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// Its stable name, such as `generator-out-of-cpu`.
    pub name: String,
    /// How bad it is: never [`Level::Ok`].
    pub level: Level,
    /// From the start of the run to its first and its last moment; none if it is about the whole run.
    pub stretch: Option<(Duration, Duration)>,
    /// How much, in words with numbers.
    pub evidence: String,
    /// The numbers of the evidence, by name.
    pub values: Vec<(String, f64)>,
    /// The numbers of the run that it touches.
    pub touches: String,
    /// Advice.
    pub advice: String,
}

impl Finding {
    /// As an object: moments in seconds from the start of the run.
    pub fn json(&self) -> Value {
        let seconds = |moment: Option<Duration>| {
            moment.map(|moment| (moment.as_secs_f64() * 1000.0).round() / 1000.0)
        };
        let values: Map<String, Value> =
            self.values.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "name": self.name, "level": self.level.text(),
            "from": seconds(self.stretch.map(|stretch| stretch.0)),
            "to": seconds(self.stretch.map(|stretch| stretch.1)),
            "evidence": self.evidence, "values": values, "touches": self.touches, "advice": self.advice,
        })
    }

    /// Reads what [`json`](Self::json) wrote.
    fn of_json(json: &Value) -> Option<Self> {
        const TEXT_MAX: usize = 2000;
        let text = |key: &str| -> Option<String> {
            let text = json.get(key)?.as_str()?;
            Some(text.chars().filter(|c| !c.is_control()).take(TEXT_MAX).collect())
        };
        let moment = |key: &str| {
            let seconds = json.get(key)?.as_f64()?;
            Duration::try_from_secs_f64(seconds).ok()
        };
        let values = json.get("values").and_then(Value::as_object).into_iter().flatten();
        let values = values.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
        Some(Self {
            name: text("name")?,
            level: Level::parse(&text("level")?).filter(|level| *level > Level::Ok)?,
            stretch: moment("from").zip(moment("to")),
            evidence: text("evidence")?,
            values: values.take(100).collect(),
            touches: text("touches")?,
            advice: text("advice")?,
        })
    }

    /// The metrics of the page that show it, if any do.
    pub fn shown_by(&self) -> &'static [&'static str] {
        match self.name.as_str() {
            "generator-out-of-cpu" | "generator-held-up" => &["health.busy", "health.late"],
            "cpu-taken-by-others" => &["health.waiting", "health.late", "health.steal"],
            "cpu-throttled" => &["health.throttled", "health.waiting"],
            "out-of-files" => &["health.files", "health.errors"],
            "out-of-ports" => &["health.sockets", "health.errors"],
            "out-of-memory" => &["health.memory", "health.errors"],
            "network-drops" => &["health.interface_drops"],
            "network-retransmits" => &["health.retransmits"],
            _ => &[],
        }
    }
}

/// The findings of a run, the worst first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Sorted by level, then in the order of the guide's table.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// These findings, sorted.
    pub fn new(mut findings: Vec<Finding>) -> Self {
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
        Self { findings }
    }

    /// The worst level of all findings; [`Level::Ok`] without any.
    pub fn level(&self) -> Level {
        self.findings.iter().map(|finding| finding.level).max().unwrap_or_default()
    }

    /// Reads what [`json`](Self::json) wrote, on another machine perhaps; none if it is no verdict. Texts have 2000 characters at most,
    /// and there are no more than a hundred findings.
    pub fn of_json(json: &Value) -> Option<Self> {
        Level::parse(json.get("level")?.as_str()?)?;
        let findings = json.get("findings")?.as_array()?.iter();
        Some(Self::new(findings.take(100).filter_map(Finding::of_json).collect()))
    }

    /// As an object: `level` and `findings`.
    pub fn json(&self) -> Value {
        let findings: Vec<Value> = self.findings.iter().map(Finding::json).collect();
        json!({ "level": self.level().text(), "findings": findings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_as_it_was_written() {
        let finding = Finding {
            name: "cpu-throttled".into(),
            level: Level::Invalid,
            stretch: Some((Duration::from_millis(500), Duration::from_secs(3))),
            evidence: "for 3 s".into(),
            values: vec![("share".into(), 0.25)],
            touches: "all".into(),
            advice: "none".into(),
        };
        let verdict = Verdict::new(vec![finding.clone(), Finding { stretch: None, ..finding }]);
        assert_eq!(Verdict::of_json(&verdict.json()), Some(verdict));
        assert_eq!(Verdict::of_json(&json!({ "level": "ok" })), None);
        assert_eq!(Verdict::of_json(&json!({ "level": "fine", "findings": [] })), None);
        let odd = json!({ "level": "ok", "findings": [3, { "name": "x", "level": "ok" }] });
        assert_eq!(Verdict::of_json(&odd), Some(Verdict::default()));
    }
}
