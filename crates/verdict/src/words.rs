//! A verdict in words.

use std::fmt::Write as _;
use std::time::Duration;

use crate::finding::{Finding, Level, Verdict};

impl Verdict {
    /// One sentence.
    pub fn sentence(&self) -> String {
        let names = |level: Level| {
            let of = self.findings.iter().filter(|finding| finding.level == level);
            of.map(|finding| finding.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        match self.level() {
            Level::Ok => "The generator did not disturb these numbers.".to_owned(),
            Level::Doubtful => format!("Take these numbers with care: {}.", names(Level::Doubtful)),
            Level::Invalid => {
                format!(
                    "These numbers are not those of the target alone: {}.",
                    names(Level::Invalid)
                )
            }
        }
    }

    /// All findings for a terminal, with a blank line before them; empty if there are none.
    pub fn text(&self, colour: bool) -> String {
        let mut out = String::new();
        if self.findings.is_empty() {
            return out;
        }
        let paint = |text: &str, level: Level| match (colour, level) {
            (false, _) | (true, Level::Ok) => text.to_owned(),
            (true, Level::Doubtful) => format!("\u{1b}[33m{text}\u{1b}[0m"),
            (true, Level::Invalid) => format!("\u{1b}[31m{text}\u{1b}[0m"),
        };
        let level = self.level();
        let word = format!("verdict: {}", level.text());
        // Writing to a String can't fail.
        let _ = writeln!(out, "\n  {}. {}", paint(&word, level), self.sentence());
        for finding in &self.findings {
            let mark = if finding.level == Level::Invalid { '✗' } else { '!' };
            let name = format!("{mark} {}", finding.name);
            let when = finding.when().map(|when| format!(", {when}")).unwrap_or_default();
            let _ = writeln!(
                out,
                "\n    {} ({}{when})",
                paint(&name, finding.level),
                finding.level.text()
            );
            let _ = writeln!(out, "      {}", finding.evidence);
            let _ = writeln!(out, "      touches: {}", finding.touches);
            let _ = writeln!(out, "      try: {}", finding.advice);
        }
        out
    }
}

impl Finding {
    /// All of it in one line.
    pub fn line(&self) -> String {
        let when = self.when().map(|when| format!(", {when}")).unwrap_or_default();
        let Self { name, evidence, touches, advice, .. } = self;
        format!("{name} ({}{when}): {evidence}. Touches {touches}; try {advice}", self.level.text())
    }

    /// `12s to 34s`, from the start of the run.
    pub fn when(&self) -> Option<String> {
        let moment = |moment: Duration| {
            let seconds = moment.as_secs();
            match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
                (0, 0, _) => format!("{:.1}s", moment.as_secs_f64()),
                (0, minutes, seconds) => format!("{minutes}m{seconds:02}s"),
                (hours, minutes, seconds) => format!("{hours}h{minutes:02}m{seconds:02}s"),
            }
        };
        self.stretch.map(|(from, to)| format!("{} to {}", moment(from), moment(to)))
    }
}

/// A name that others chose, on one line: no more than 200 characters, none of which moves the cursor.
pub(crate) fn plain(name: &str) -> String {
    name.chars().take(200).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A share as `12 %`, small ones as `0.4 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Milliseconds, such as `0.35 ms`, `12 ms`.
pub(crate) fn millis(millis: f64) -> String {
    match millis {
        small if small < 1.0 => format!("{small:.2} ms"),
        small if small < 10.0 => format!("{small:.1} ms"),
        large => format!("{large:.0} ms"),
    }
}

/// Bytes as mebibytes.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict() -> Verdict {
        Verdict::new(vec![
            Finding {
                name: "late-starts".into(),
                level: Level::Doubtful,
                evidence: "99 % of starts were at most 3 ms late".into(),
                touches: "durations".into(),
                advice: "more cores".into(),
                ..Finding::default()
            },
            Finding {
                name: "cpu-throttled".into(),
                level: Level::Invalid,
                stretch: Some((Duration::from_millis(1500), Duration::from_secs(75))),
                evidence: "5 %".into(),
                values: vec![("share".into(), 0.05)],
                touches: "all".into(),
                advice: "a higher quota".into(),
            },
        ])
    }

    #[test]
    fn the_worst_finding_comes_first() {
        let text = verdict().text(false);
        assert_eq!(
            text,
            "\n  verdict: invalid. These numbers are not those of the target alone: cpu-throttled.\n\
             \n    ✗ cpu-throttled (invalid, 1.5s to 1m15s)\n      5 %\n      touches: all\n      try: a higher quota\n\
             \n    ! late-starts (doubtful)\n      99 % of starts were at most 3 ms late\n      touches: durations\n      try: more cores\n"
        );
        assert!(verdict().text(true).contains("\u{1b}[31m✗ cpu-throttled\u{1b}[0m"));
    }

    #[test]
    fn all_well_needs_no_words() {
        let well = Verdict::default();
        assert_eq!((well.text(true), well.level()), (String::new(), Level::Ok));
        assert_eq!(well.json(), serde_json::json!({ "level": "ok", "findings": [] }));
    }

    #[test]
    fn json_has_moments_in_seconds() {
        let json = verdict().json();
        assert_eq!(
            (json["level"].as_str(), json["findings"][0]["to"].as_f64()),
            (Some("invalid"), Some(75.0))
        );
        assert_eq!(json["findings"][0]["values"]["share"].as_f64(), Some(0.05));
        assert!(json["findings"][1]["from"].is_null());
    }
}
