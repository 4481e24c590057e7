//! Which rows a reader sees: people do not read ten thousand.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::comparison::{Comparison, Row};
use crate::measure::{Measure, Statistic, Subject};
use crate::verdict::Verdict;

/// Rows under a heading.
#[derive(Debug)]
pub(super) struct Section<'a> {
    pub(super) title: Title<'a>,
    pub(super) rows: Vec<&'a Row>,
}

/// A heading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Title<'a> {
    All,
    Route(&'a str),
    Checks,
    Thresholds,
}

/// The rows that are shown, and how many others there are by verdict.
#[derive(Debug)]
pub(super) struct Sections<'a> {
    pub(super) sections: Vec<Section<'a>>,
    pub(super) hidden: BTreeMap<Verdict, usize>,
}

/// How much is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Routes, checks and thresholds each: those with the worst verdicts first, then those with the most requests.
    pub(super) most: usize,
    /// Whether every figure of a route is shown, not only the telling ones.
    pub(super) is_whole: bool,
}

impl<'a> Sections<'a> {
    pub(super) fn of(comparison: &'a Comparison, room: Room) -> Self {
        let main = comparison.rows.iter().find_map(|row| match &row.measure {
            Measure::Duration(metric, _) if row.is_primary => Some(metric),
            _ => None,
        });
        let is_shown = |row: &Row| room.is_whole || is_telling(row, main);
        let rows = |wanted: fn(&Subject) -> bool| {
            comparison.rows.iter().filter(move |row| wanted(&row.subject))
        };
        let mut sections = Vec::new();
        let all = rows(|subject| *subject == Subject::All).filter(|row| is_shown(row)).collect();
        sections.push(Section { title: Title::All, rows: all });

        let mut routes: Vec<(&str, Vec<&Row>)> = Vec::new();
        for row in rows(|subject| matches!(subject, Subject::Route(_))) {
            match routes.last_mut() {
                Some((name, rows)) if *name == row.subject.name() => rows.push(row),
                _ => routes.push((row.subject.name(), vec![row])),
            }
        }
        // A stable sort: among equals those with the most requests stay in front.
        routes.sort_by_key(|(_, rows)| std::cmp::Reverse(worst(rows)));
        for (name, rows) in routes.into_iter().take(room.most) {
            let rows = rows.into_iter().filter(|row| is_shown(row)).collect();
            sections.push(Section { title: Title::Route(name), rows });
        }
        for (title, wanted) in [
            (
                Title::Checks,
                (|subject| matches!(subject, Subject::Check(_))) as fn(&Subject) -> bool,
            ),
            (Title::Thresholds, |subject| matches!(subject, Subject::Threshold(_))),
        ] {
            let mut rows: Vec<&Row> = rows(wanted).collect();
            rows.sort_by_key(|row| std::cmp::Reverse(row.verdict));
            rows.truncate(room.most);
            sections.push(Section { title, rows });
        }
        sections.retain(|section| !section.rows.is_empty());

        let mut hidden: BTreeMap<Verdict, usize> = BTreeMap::new();
        for row in &comparison.rows {
            *hidden.entry(row.verdict).or_default() += 1;
        }
        for row in sections.iter().flat_map(|section| &section.rows) {
            if let Some(count) = hidden.get_mut(&row.verdict) {
                *count -= 1;
            }
        }
        hidden.retain(|_, count| *count > 0);
        Self { sections, hidden }
    }

    /// How many rows are not shown: `36 more figures: 30 same, 6 unclear`. None if there are none.
    pub(super) fn more(&self) -> Option<String> {
        let count: usize = self.hidden.values().sum();
        let parts: Vec<String> = self
            .hidden
            .iter()
            .rev()
            .map(|(verdict, count)| format!("{count} {}", verdict.word()))
            .collect();
        (count > 0).then(|| format!("{count} more figures: {}", parts.join(", ")))
    }
}

fn worst(rows: &[&Row]) -> Option<Verdict> {
    rows.iter().map(|row| row.verdict).filter(|verdict| *verdict != Verdict::Unclear).max()
}

/// Whether a row tells something where there is little room: the main duration and the rates, and whatever changed.
fn is_telling(row: &Row, main: Option<&Arc<str>>) -> bool {
    if matches!(row.verdict, Verdict::Better | Verdict::Worse) {
        return true;
    }
    match (&row.subject, &row.measure) {
        (Subject::All, Measure::Duration(metric, _)) => Some(metric) == main,
        (Subject::Route(_), Measure::Duration(metric, statistic)) => {
            Some(metric) == main && matches!(statistic, Statistic::P50 | Statistic::P95)
        }
        (Subject::Route(_), measure) => *measure == Measure::Failed,
        _ => true,
    }
}
