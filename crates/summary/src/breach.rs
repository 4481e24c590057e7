//! When a threshold was broken first, in words.

use std::time::Duration;

use brunt_duration::wait;
use brunt_metrics::summary::ThresholdResult;

/// `first broken at 1m12s, for 8s`. Nothing if it never was, or only the end of the test tells.
pub(crate) fn told(threshold: &ThresholdResult) -> Option<String> {
    let breach = threshold.breach?;
    let is_in_time = threshold.timing.is_in_time();
    if !is_in_time && breach.lasted.is_zero() {
        return None;
    }
    // One in time that was broken only for a moment, less than its `for`, is no breach; the metrics crate keeps none.
    let lasted = match breach.lasted {
        lasted if lasted.is_zero() => String::new(),
        lasted => format!(", for {}", shown(lasted)),
    };
    Some(format!("first broken at {}{lasted}", shown(breach.at)))
}

/// Tenths of a second.
fn shown(time: Duration) -> String {
    let tenths = (time.as_millis() + 50) / 100;
    wait::format(Duration::from_millis(u64::try_from(tenths * 100).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use brunt_metrics::Timing;
    use brunt_metrics::summary::Breach;

    use super::*;

    #[test]
    fn the_first_breach_is_told_with_its_moment_and_its_length() {
        let told_of = |window: Option<u64>, at: u64, lasted: u64| {
            let timing = Timing { window: window.map(Duration::from_secs), ..Timing::default() };
            let (at, lasted) = (Duration::from_millis(at), Duration::from_millis(lasted));
            let breach = Some(Breach { at, lasted, value: None });
            told(&ThresholdResult { timing, breach, ..ThresholdResult::default() })
        };
        let said = told_of(Some(30), 72_012, 8_030);
        assert_eq!(said.as_deref(), Some("first broken at 1m12s, for 8s"));
        assert_eq!(told_of(Some(30), 1_260, 0).as_deref(), Some("first broken at 1.3s"));
        assert_eq!(told_of(None, 2_000, 2_000).as_deref(), Some("first broken at 2s, for 2s"));
        assert_eq!(told_of(None, 2_000, 0), None);
        assert_eq!(told(&ThresholdResult::default()), None);
    }
}
