//! The measurements of warm-ups, in words.

use brunt_metrics::LeftOut;

/// `warm-up left out: 120 iterations, 240 requests`.
pub(crate) fn told(left_out: &LeftOut) -> String {
    let parts = [
        (left_out.iterations, "iterations"),
        (left_out.requests, "requests"),
        (left_out.checks, "checks"),
        (left_out.dropped_iterations, "dropped iterations"),
    ];
    let told = parts.into_iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, what)| format!("{count} {what}")).collect();
    format!("warm-up left out: {}", told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_was_is_told() {
        let left_out = LeftOut { iterations: 12, checks: 24, ..LeftOut::default() };
        assert_eq!(told(&left_out), "warm-up left out: 12 iterations, 24 checks");
    }
}
