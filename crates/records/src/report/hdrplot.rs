//! The table that the plotter of HdrHistogram reads.

use super::table;
use crate::Summary;

pub(super) fn table(summary: &Summary) -> String {
    let shares = shares();
    let values = summary.latencies().quantiles(&shares);
    let header = ["Value(ms)", "Percentile", "TotalCount", "1/(1-Percentile)"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (share, value) in shares.iter().zip(values) {
        let inverse = if *share >= 1.0 { 10_000_000.0 } else { 1.0 / (1.0 - share) };
        rows.push(vec![
            format!("{:.6}", value as f64 / 1e6),
            format!("{share:.6}"),
            ((share * summary.requests() as f64 + 0.5) as u64).to_string(),
            format!("{inverse:.6}"),
        ]);
    }
    table::table(&rows)
}

/// HdrHistogram's: five equal steps for each half of the way to 1, rounded to six digits, each once.
fn shares() -> Vec<f64> {
    let mut millionths: Vec<u64> = (0..20)
        .flat_map(|half| {
            let rest = 0.5_f64.powi(half);
            (0..5).map(move |step| 1.0 - rest + rest / 10.0 * f64::from(step))
        })
        .map(|share| (share * 1e6).round() as u64)
        .collect();
    millionths.push(1_000_000);
    millionths.dedup();
    millionths.into_iter().map(|share| share as f64 / 1e6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_those_of_hdrhistogram() {
        let shares = shares();
        assert_eq!(shares.len(), 94);
        let texts: Vec<String> = shares.iter().map(|share| format!("{share:.6}")).collect();
        assert_eq!(
            texts[..7],
            ["0.000000", "0.100000", "0.200000", "0.300000", "0.400000", "0.500000", "0.550000"]
        );
        assert_eq!(
            texts[82..],
            [
                "0.999988", "0.999989", "0.999991", "0.999992", "0.999993", "0.999994", "0.999995",
                "0.999996", "0.999997", "0.999998", "0.999999", "1.000000"
            ]
        );
    }
}
