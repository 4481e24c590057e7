//! One verdict on a test of many generators: each agent judges its own machine, the leader the numbers of all.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use brunt_metrics::Summary;
use brunt_runfile::AgentRow;
use brunt_schedule::Scenario;
use brunt_verdict::{Finding, History, Level, Signals, Verdict, judge};

use crate::run::trust::{self, Beginning};

/// Agents that are told with their evidence in one finding; more are counted.
const NAMED_MAX: usize = 3;

/// The findings that only the whole tells: percentiles that stand on few samples, a warm-up. `times`: start and end of the run, in
/// nanoseconds.
pub(super) fn of_whole(
    summary: &Summary,
    scenarios: &[Scenario],
    (start, end): (u64, u64),
    beginning: &Beginning,
) -> Verdict {
    let mut history = History::default();
    history.start(start);
    history.add(&Signals { from: start, to: end, ..Signals::default() });
    judge(&history, &trust::of_whole(summary, scenarios, (start, end), beginning))
}

/// The verdict on all: a finding of several agents is one, with the worst of its levels, and names them.
pub(super) fn together(agents: &[AgentRow], own: Verdict, has_begun: bool) -> Verdict {
    let mut found: BTreeMap<String, Vec<(&AgentRow, Finding)>> = BTreeMap::new();
    let mut silent: Vec<&AgentRow> = Vec::new();
    for row in agents {
        match Verdict::of_json(&row.verdict) {
            Some(verdict) => {
                for finding in verdict.findings {
                    found.entry(finding.name.clone()).or_default().push((row, finding));
                }
            }
            None if has_begun && row.host.is_some() => silent.push(row),
            None => {}
        }
    }
    let mut findings = own.findings;
    let count = agents_of(agents.iter());
    findings.extend(found.into_values().filter_map(|of| one_of(of, count)));
    findings.extend(unknown(&silent, count));
    Verdict::new(findings)
}

/// How many agents these are: a load that was taken over is no further one, unless there is no other.
fn agents_of<'a>(rows: impl Iterator<Item = &'a AgentRow>) -> usize {
    rows.filter(|row| row.took_over.is_none()).count().max(1)
}

/// The finding of several agents.
fn one_of(mut all: Vec<(&AgentRow, Finding)>, agents: usize) -> Option<Finding> {
    // A stable sort: among equals the lower seat comes first.
    all.sort_by_key(|(_, finding)| Reverse(finding.level));
    let stretches = all.iter().map(|(_, finding)| finding.stretch);
    let stretch = stretches.reduce(|a, b| Some((a?.0.min(b?.0), a?.1.max(b?.1)))).flatten();
    let (count, named) = (all.len(), agents_of(all.iter().map(|(row, _)| *row)));
    let told: Vec<String> = all
        .iter()
        .take(NAMED_MAX)
        .map(|(row, finding)| format!("{}: {}", name(row), finding.evidence))
        .collect();
    let more = count.saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let (row, worst) = all.into_iter().next()?;
    let mut values = worst.values;
    values.extend([("seat".to_owned(), f64::from(row.seat)), ("seats".to_owned(), count as f64)]);
    let evidence = format!("{named} of {agents} agents: {}{more}", told.join("; "));
    Some(Finding { stretch, evidence, values, ..worst })
}

/// Agents that were lost before they could tell how their generators fared.
fn unknown(silent: &[&AgentRow], agents: usize) -> Option<Finding> {
    let first = silent.first()?;
    let names: Vec<String> = silent.iter().take(NAMED_MAX).map(|row| name(row)).collect();
    let more = silent.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(Finding {
        name: "generator-unknown".to_owned(),
        level: Level::Doubtful,
        stretch: None,
        evidence: format!(
            "{} of {agents} agents did not tell how their generators fared: {}{more}",
            agents_of(silent.iter().copied()),
            names.join(", ")
        ),
        values: vec![
            ("seat".to_owned(), f64::from(first.seat)),
            ("seats".to_owned(), silent.len() as f64),
        ],
        touches: "all numbers: those of these agents may be bent".to_owned(),
        advice: "see the section Agents for why they did not come to their end".to_owned(),
    })
}

/// `seat 3 (host)`
fn name(row: &AgentRow) -> String {
    format!("seat {} ({})", row.seat, row.host.as_deref().unwrap_or("-"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn row(seat: u32, findings: &[Finding]) -> AgentRow {
        let verdict = Verdict::new(findings.to_vec()).json();
        AgentRow { seat, host: Some(format!("h{seat}")), verdict, ..AgentRow::default() }
    }

    fn finding(level: Level, evidence: &str, from: u64, to: u64) -> Finding {
        Finding {
            name: "cpu-throttled".into(),
            level,
            stretch: Some((Duration::from_secs(from), Duration::from_secs(to))),
            evidence: evidence.into(),
            values: vec![("share".into(), 0.5)],
            touches: "all durations".into(),
            advice: "a higher quota".into(),
        }
    }

    #[test]
    fn a_finding_of_several_agents_is_one_and_names_them() {
        let rows = [
            row(1, &[]),
            row(2, &[finding(Level::Doubtful, "a little", 3, 9)]),
            row(3, &[finding(Level::Invalid, "much", 1, 5)]),
        ];
        let verdict = together(&rows, Verdict::default(), true);
        assert_eq!(verdict.level(), Level::Invalid);
        let [one] = &verdict.findings[..] else { panic!("{verdict:?}") };
        let told = "2 of 3 agents: seat 3 (h3): much; seat 2 (h2): a little";
        assert_eq!(one.evidence, told);
        assert_eq!(one.stretch, Some((Duration::from_secs(1), Duration::from_secs(9))));
        assert_eq!(one.values[1..], [("seat".to_owned(), 3.0), ("seats".to_owned(), 2.0)]);
    }

    #[test]
    fn agents_without_a_word_make_the_numbers_doubtful() {
        let lost = AgentRow { seat: 2, host: Some("h2".into()), ..AgentRow::default() };
        let never = AgentRow { seat: 3, ..AgentRow::default() };
        let verdict = together(&[row(1, &[]), lost, never], Verdict::default(), true);
        assert_eq!(verdict.findings.len(), 1);
        assert_eq!(verdict.findings[0].name, "generator-unknown");
        assert!(verdict.findings[0].evidence.ends_with("seat 2 (h2)"), "{verdict:?}");
        let fine = [row(1, &[])];
        assert_eq!(together(&fine, Verdict::default(), true).findings, []);
    }
}
