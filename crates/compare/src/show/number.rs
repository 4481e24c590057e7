//! Numbers with as many digits as tell something.

use crate::comparison::Row;
use crate::measure::{Measure, Scale};

/// Changes beyond this are not told to the digit.
const CHANGE_MAX: f64 = 100.0;

/// Three digits: `0.0123`, `1.23`, `12.3`, `123`, `1 234`.
pub(super) fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "∞".into();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if size >= 999.5 {
        return grouped(value);
    }
    // The digits of the rounded number count: 9.996 is 10.0.
    let digits = (0..=6).find(|digits| {
        let rounded = (size * 10_f64.powi(*digits)).round();
        rounded >= 99.5
    });
    let text = format!("{value:.*}", digits.unwrap_or(6) as usize);
    if text.parse::<f64>() == Ok(0.0) { "0".into() } else { text }
}

/// A whole number with its thousands apart.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut out = String::from(if value < 0.0 { "−" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// `5 %`, `0.1 %`.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} %")
}

/// A value of a figure with its unit.
pub(super) fn value(row: &Row, value: Option<f64>) -> String {
    let Some(value) = value else { return "–".into() };
    match &row.measure {
        Measure::Requests | Measure::Iterations => format!("{}/s", significant(value)),
        Measure::Failed | Measure::Checks | Measure::Threshold { is_share: true } => {
            format!("{} %", significant(value * 100.0))
        }
        Measure::Duration(..) => duration(value),
        Measure::Threshold { is_share: false } => significant(value),
    }
}

fn duration(ms: f64) -> String {
    match ms.abs() {
        size if size < 0.9995 => format!("{} µs", significant(ms * 1000.0)),
        size if size < 999.5 => format!("{} ms", significant(ms)),
        _ => format!("{} s", significant(ms / 1000.0)),
    }
}

/// A change with its sign: `+10.2 %`; of shares in percentage points: `+0.12 pp`.
pub(super) fn change(change: f64, scale: Scale) -> String {
    format!("{}{}", signed(change, scale), unit(scale))
}

/// The ends of an interval: `+8.1 … +12.3 %`.
pub(super) fn interval(low: f64, high: f64, scale: Scale) -> String {
    format!("{} … {}{}", signed(low, scale), signed(high, scale), unit(scale))
}

fn unit(scale: Scale) -> &'static str {
    match scale {
        Scale::Ratio => " %",
        Scale::Points => " pp",
    }
}

fn signed(change: f64, scale: Scale) -> String {
    if change.is_nan() {
        return "?".into();
    }
    if change > CHANGE_MAX {
        return "> +9999".into();
    }
    let digits = match scale {
        Scale::Ratio if change.abs() >= 1.0 => 0,
        Scale::Ratio => 1,
        Scale::Points => 2,
    };
    let text = format!("{:.digits$}", (change * 100.0).abs());
    let is_zero = text.chars().all(|digit| matches!(digit, '0' | '.'));
    let sign = if is_zero {
        ""
    } else if change < 0.0 {
        "−"
    } else {
        "+"
    };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_told() {
        let told =
            [0.0, 0.012_345, 0.999_9, 1.234, 9.996, 12.345, 99.96, 123.4, 999.6, 1_234_567.0];
        let told = told.map(significant);
        let wanted =
            ["0", "0.0123", "1.00", "1.23", "10.0", "12.3", "100", "123", "1 000", "1 234 567"];
        assert_eq!(told, wanted);
        assert_eq!(significant(1e-9), "0");
        assert_eq!(significant(f64::INFINITY), "∞");
    }

    #[test]
    fn durations_have_a_fitting_unit() {
        let told = [0.012, 0.9999, 12.34, 999.7, 65_432.1].map(duration);
        assert_eq!(told, ["12.0 µs", "1.00 ms", "12.3 ms", "1.00 s", "65.4 s"]);
    }

    #[test]
    fn changes_have_a_sign_and_a_unit() {
        assert_eq!(change(0.102, Scale::Ratio), "+10.2 %");
        assert_eq!(change(-0.091, Scale::Ratio), "−9.1 %");
        assert_eq!(change(0.000_01, Scale::Ratio), "0.0 %");
        assert_eq!(change(1.5, Scale::Ratio), "+150 %");
        assert_eq!(change(0.0012, Scale::Points), "+0.12 pp");
        assert_eq!(change(f64::INFINITY, Scale::Ratio), "> +9999 %");
        assert_eq!(interval(-0.01, 0.02, Scale::Ratio), "−1.0 … +2.0 %");
        assert_eq!([percent(0.05), percent(0.001)], ["5 %", "0.1 %"]);
    }
}
