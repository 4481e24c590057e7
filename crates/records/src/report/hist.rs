//! Bars of `#`: how many latencies fell into each bucket.

use super::table;
use brunt_duration::format;

use crate::Summary;

/// The bar of all hits is so long.
const BAR: f64 = 75.0;

pub(super) fn table(summary: &Summary) -> String {
    let buckets: Vec<(u64, u64)> = summary.buckets().collect();
    let bound = |index: usize| match buckets.get(index) {
        Some((bound, _)) => format(*bound as i64),
        None => "+Inf".to_owned(),
    };
    // The two bounds are one cell, aligned within.
    let lower: Vec<String> =
        (0..buckets.len()).map(|index| format!("[{},", bound(index))).collect();
    let width = lower.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    let mut rows = vec![["Bucket", "#", "%", "Histogram"].map(str::to_owned).to_vec()];
    for (index, (_, count)) in buckets.iter().enumerate() {
        let share = *count as f64 / summary.requests().max(1) as f64;
        rows.push(vec![
            format!("{:width$}   {}]", lower[index], bound(index + 1)),
            count.to_string(),
            format!("{:.2}%", share * 100.0),
            "#".repeat((share * BAR) as usize),
        ]);
    }
    table::table(&rows)
}
