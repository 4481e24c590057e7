//! Moments and durations of HAR files.

use std::time::Duration;

use super::model::{Entry, Timings};

/// No time of an entry is taken for longer: a day.
const LONGEST: f64 = 86_400_000.0;

/// Nanoseconds since 1970, of RFC 3339 and what exporters write for it: no zone, a zone without a colon, milliseconds as a
/// number.
pub(super) fn moment(text: &str) -> Option<i128> {
    let text = text.trim();
    if let Some((ns, _)) = brunt_moment::parse(text) {
        return Some(ns);
    }
    if let Ok(number) = text.parse::<f64>() {
        return since_1970(number);
    }
    let at = text.len().checked_sub(5)?;
    let zone = text.get(at..)?;
    let is_bare = zone.starts_with(['+', '-']) && zone[1..].bytes().all(|b| b.is_ascii_digit());
    let mended = if is_bare {
        format!("{}{}:{}", &text[..at], &zone[..3], &zone[3..])
    } else {
        format!("{text}Z")
    };
    brunt_moment::parse(&mended).map(|(ns, _)| ns)
}

/// Nanoseconds since 1970 of seconds, milliseconds or microseconds: told by their size.
pub(super) fn since_1970(number: f64) -> Option<i128> {
    let to_ns = match number {
        n if !n.is_finite() || n < 1e8 => return None,
        n if n < 1e11 => 1e9,
        n if n < 1e14 => 1e6,
        n if n < 1e17 => 1e3,
        _ => return None,
    };
    // Microseconds are all that a float of this size has.
    Some((number * to_ns / 1e3).round() as i128 * 1000)
}

/// From the begin of an entry to its end: `time`, or the sum of its phases where that is missing, as Firefox has it.
pub(super) fn length(entry: &Entry) -> Duration {
    let phases = |timings: &Timings| {
        let all = [
            timings.blocked,
            timings.dns,
            timings.connect,
            timings.send,
            timings.wait,
            timings.receive,
        ];
        all.iter().filter_map(|phase| phase.0).filter(|ms| *ms > 0.0).sum::<f64>()
    };
    let ms = entry.time.0.filter(|ms| *ms > 0.0).unwrap_or_else(|| phases(&entry.timings));
    Duration::from_micros((ms.clamp(0.0, LONGEST) * 1e3).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_all_writings() {
        let expected = Some(1_795_714_809_958_000_000);
        for text in [
            "2026-11-26T17:40:09.958Z",
            "2026-11-26T18:40:09.958+01:00",
            "2026-11-26T18:40:09.958+0100",
            "2026-11-26T17:40:09.958",
            "1795714809958",
            "1795714809.958",
        ] {
            assert_eq!(moment(text), expected, "{text}");
        }
        for text in ["", "yesterday", "12", "1e300", "ä+0100", "é2345"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn a_missing_time_is_the_sum_of_the_phases() {
        let json = r#"{"time": null, "timings": {"blocked": 1, "dns": -1, "connect": 2.5, "ssl": 2, "send": 0, "wait": 10, "receive": 1}}"#;
        let entry: Entry = serde_json::from_str(json).expect("JSON");
        assert_eq!(length(&entry), Duration::from_micros(14_500));
        let entry: Entry = serde_json::from_str(r#"{"time": 1e300}"#).expect("JSON");
        assert_eq!(length(&entry), Duration::from_hours(24));
    }
}
