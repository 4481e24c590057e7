//! Which agents differ from the others: a slow network, a small machine, another target.

use brunt_runfile::AgentRow;

/// Of fewer agents it is unknown which one differs.
const AGENTS_MIN: usize = 3;

/// Durations above those of the others by this factor are marked.
const SLOWER: f64 = 2.0;

/// A smaller difference of durations is none, in milliseconds.
const SLOWER_MS: f64 = 1.0;

/// Less of its share of the iterations than this part of what the others made is marked.
const FEWER: f64 = 0.7;

/// Parts of failed requests above those of the others by this factor are marked, if they are at least [`FAILED_MIN`].
const MORE_FAILED: f64 = 3.0;

/// See [`MORE_FAILED`].
const FAILED_MIN: f64 = 0.01;

/// Puts a remark on each agent whose numbers are far from the median of all.
pub(super) fn mark(rows: &mut [AgentRow]) {
    let slow = |row: &AgentRow| row.http_req_duration_p95_ms;
    // A part of a run is no measure.
    let is_measure = |row: &AgentRow| row.share > 0.0 && row.whole && row.took_over.is_none();
    let work = |row: &AgentRow| is_measure(row).then(|| row.iterations as f64 / row.share);
    let failed =
        |row: &AgentRow| (row.requests > 0).then(|| row.failed as f64 / row.requests as f64);
    let (all_slow, all_work, all_failed) =
        (median(rows, slow), median(rows, work), median(rows, failed));
    for row in rows {
        let mut found = Vec::new();
        if let Some((own, all)) = slow(row).zip(all_slow)
            && own > all * SLOWER
            && own - all > SLOWER_MS
        {
            found.push(if all > 0.0 {
                format!("its p(95) is {:.1} times that of the others", own / all)
            } else {
                "its p(95) is far above that of the others".to_owned()
            });
        }
        if let Some((own, all)) = work(row).zip(all_work)
            && own < all * FEWER
        {
            found.push(format!("it made {:.0}% of its share of the iterations", own / all * 100.0));
        }
        if let Some((own, all)) = failed(row).zip(all_failed)
            && own >= FAILED_MIN
            && own > all * MORE_FAILED
        {
            let (own, all) = (own * 100.0, all * 100.0);
            found.push(format!("{own:.1}% of its requests failed, of the others {all:.1}%"));
        }
        row.is_outlier = !found.is_empty();
        row.remarks.extend(found);
    }
}

/// The number in the middle; none of too few.
fn median(rows: &[AgentRow], of: impl Fn(&AgentRow) -> Option<f64>) -> Option<f64> {
    let mut all: Vec<f64> = rows.iter().filter_map(of).collect();
    all.sort_by(f64::total_cmp);
    (all.len() >= AGENTS_MIN).then(|| all[all.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(p95: f64, iterations: u64, failed: u64) -> AgentRow {
        AgentRow {
            share: 0.25,
            whole: true,
            http_req_duration_p95_ms: Some(p95),
            iterations,
            requests: 1000,
            failed,
            ..AgentRow::default()
        }
    }

    #[test]
    fn the_one_that_differs_is_named_and_the_others_are_not() {
        let mut rows = vec![
            row(10.0, 1000, 0),
            row(35.0, 1000, 1),
            row(11.0, 500, 0),
            row(10.5, 1000, 300),
            row(10.0, 990, 2),
        ];
        mark(&mut rows);
        let told: Vec<String> = rows.iter().map(|row| row.remarks.join("; ")).collect();
        assert_eq!(
            told,
            [
                "",
                "its p(95) is 3.3 times that of the others",
                "it made 50% of its share of the iterations",
                "30.0% of its requests failed, of the others 0.1%",
                "",
            ]
        );
        assert_eq!(rows.iter().filter(|row| row.is_outlier).count(), 3);
    }

    #[test]
    fn of_two_it_is_unknown_which_differs() {
        let mut rows = vec![row(10.0, 1000, 0), row(90.0, 100, 900)];
        mark(&mut rows);
        assert!(rows.iter().all(|row| !row.is_outlier && row.remarks.is_empty()));
    }
}
