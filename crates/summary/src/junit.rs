//! A summary as JUnit's XML, which GitLab, Azure, Jenkins and GitHub's actions read: each threshold and each check is a test case.
//!
//! ```text
//! testsuites > testsuite (thresholds, checks) > testcase > failure
//! ```

use std::fmt::Write as _;

use brunt_metrics::summary::Summary;

use crate::humanize::js_number;

/// The facts of a run beside its numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// The name of the whole.
    pub name: &'a str,
    /// When it started: `2026-11-23T16:40:46`.
    pub timestamp: &'a str,
    /// The machine.
    pub hostname: &'a str,
    /// Why the run was cut short, if it was: one more case that failed.
    pub aborted: Option<&'a str>,
}

/// A test case.
struct Case {
    class: String,
    name: String,
    /// In a line, and in full.
    failure: Option<(String, String)>,
}

/// The whole file.
pub fn render(summary: &Summary, facts: &Facts<'_>) -> String {
    let suites =
        [("thresholds", thresholds(summary)), ("checks", checks(summary)), ("run", run(facts))];
    let seconds = format!("{:.3}", summary.run.as_secs_f64());
    let all = suites.iter().flat_map(|(_, cases)| cases);
    let (tests, failures) = counts(all);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a String can't fail.
    let _ = writeln!(
        out,
        "<testsuites name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"{seconds}\">",
        escaped(facts.name)
    );
    for (id, (name, cases)) in suites.iter().filter(|(_, cases)| !cases.is_empty()).enumerate() {
        let (tests, failures) = counts(cases.iter());
        let _ = writeln!(
            out,
            "  <testsuite id=\"{id}\" name=\"{} {name}\" package=\"{0}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" \
             skipped=\"0\" time=\"{seconds}\" timestamp=\"{}\" hostname=\"{}\">",
            escaped(facts.name),
            escaped(facts.timestamp),
            escaped(if facts.hostname.is_empty() { "localhost" } else { facts.hostname })
        );
        for Case { class, name, failure } in cases {
            let _ = write!(
                out,
                "    <testcase name=\"{}\" classname=\"{}\" time=\"{seconds}\"",
                escaped(name),
                escaped(class)
            );
            match failure {
                None => out.push_str("/>\n"),
                Some((line, whole)) => {
                    let _ = writeln!(
                        out,
                        ">\n      <failure message=\"{}\" type=\"failure\">{}</failure>\n    </testcase>",
                        escaped(line),
                        escaped(whole)
                    );
                }
            }
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn counts<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> (usize, usize) {
    (cases.clone().count(), cases.filter(|case| case.failure.is_some()).count())
}

fn thresholds(summary: &Summary) -> Vec<Case> {
    let metrics = summary.metrics.iter().chain(&summary.own);
    let case = |metric: &str, source: &str, ok: bool, aggregation: &str, value: Option<f64>| {
        let value = value.map_or("no value".to_owned(), js_number);
        let line = format!("{metric}: {source} does not hold: {aggregation} = {value}");
        Case {
            class: metric.to_owned(),
            name: format!("{metric} {source}"),
            failure: (!ok).then(|| (line.clone(), line)),
        }
    };
    let cases = metrics.flat_map(|metric| {
        metric.thresholds.iter().map(|result| {
            case(&metric.name, &result.source, result.ok, &result.aggregation, result.value)
        })
    });
    cases.collect()
}

fn checks(summary: &Summary) -> Vec<Case> {
    let case = |check: &brunt_metrics::CheckSummary| {
        let class = check.group.trim_start_matches("::").replace("::", ".");
        let (all, fails) = (check.passes + check.fails, check.fails);
        let line = format!("{fails} of {all} failed");
        Case {
            class: if class.is_empty() { "checks".to_owned() } else { class },
            name: check.name.clone(),
            failure: (fails > 0).then(|| (line.clone(), format!("{}: {line}", check.name))),
        }
    };
    summary.checks.iter().map(case).collect()
}

/// The run itself: a file without any case is refused by some readers.
fn run(facts: &Facts<'_>) -> Vec<Case> {
    let failure = facts.aborted.map(|why| (why.to_owned(), why.to_owned()));
    vec![Case { class: "run".to_owned(), name: "the run came to its end".to_owned(), failure }]
}

/// A text as XML 1.0 may hold it, in an attribute or an element.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", u32::from(letter));
            }
            // No XML can hold these.
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        assert_eq!(
            escaped("<a b=\"c\">&'\n\0"),
            "&lt;a b=&quot;c&quot;&gt;&amp;&apos;&#10;\u{fffd}"
        );
    }

    #[test]
    fn cases_are_counted_and_told() {
        let check = |name: &str, fails| brunt_metrics::CheckSummary {
            name: name.into(),
            group: "::outer::inner".into(),
            passes: 3,
            fails,
        };
        let summary = Summary {
            run: std::time::Duration::from_millis(1500),
            checks: vec![check("good", 0), check("<bad>", 2)],
            trend_stats: Vec::new(),
            metrics: Vec::new(),
            own: Vec::new(),
            root: brunt_metrics::GroupSummary::default(),
            scenarios: Vec::new(),
            groups: Vec::new(),
            exceptions: brunt_metrics::Exceptions::default(),
            dropped: brunt_metrics::Dropped::default(),
        };
        let facts =
            Facts { name: "a", timestamp: "2026-11-23T16:40:46", hostname: "h", aborted: None };
        let text = render(&summary, &facts);
        assert!(text.contains("<testsuites name=\"a\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"1.500\">"), "{text}");
        assert!(
            text.contains("<testcase name=\"good\" classname=\"outer.inner\" time=\"1.500\"/>"),
            "{text}"
        );
        assert!(text.contains("<failure message=\"2 of 5 failed\" type=\"failure\">&lt;bad&gt;: 2 of 5 failed</failure>"), "{text}");
        let aborted = render(&summary, &Facts { aborted: Some("stopped"), ..facts });
        assert!(
            aborted.contains("failures=\"2\"") && aborted.contains("<failure message=\"stopped\"")
        );
    }
}
