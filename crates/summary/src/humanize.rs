//! Numbers as a reader of k6's summary expects them.
//!
//! k6 writes its summary in JavaScript, so a plain number looks the way `Number.prototype.toString`
//! and `toFixed` make it look. Both are written out here, and everything else is built on them.

use std::fmt::Write as _;

/// The unit that `summaryTimeUnit` fixes for all times of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `s`
    Seconds,
    /// `ms`
    Milliseconds,
    /// `us`, printed as `µs`
    Microseconds,
}

impl Unit {
    /// Reads the option's text: `s`, `ms` or `us`; anything else is no unit.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "s" => Some(Self::Seconds),
            "ms" => Some(Self::Milliseconds),
            "us" => Some(Self::Microseconds),
            _ => None,
        }
    }

    /// The option's text, as a script wrote it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
        }
    }

    /// How many of this unit make one millisecond, and the printed suffix.
    fn scale(self) -> (f64, &'static str) {
        match self {
            Self::Seconds => (0.001, "s"),
            Self::Milliseconds => (1.0, "ms"),
            Self::Microseconds => (1000.0, "µs"),
        }
    }
}

/// A number as JavaScript's `String(value)` writes it: shortest digits that read back the same,
/// exponents from 1e21 up and below 1e-6.
pub fn js_number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) =
        scientific.split_once('e').expect("the `e` format always writes an exponent");
    let exponent: i32 = exponent.parse().expect("the `e` format writes a decimal exponent");
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = digits.len() as i32;
    // The place of the decimal point, counted from the first digit.
    let point = exponent + 1;

    let mut out = String::with_capacity(24);
    if value < 0.0 {
        out.push('-');
    }
    if count <= point && point <= 21 {
        out.push_str(&digits);
        out.extend(std::iter::repeat_n('0', (point - count) as usize));
    } else if 0 < point && point <= 21 {
        let (whole, fraction) = digits.split_at(point as usize);
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
    } else if -6 < point && point <= 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', (-point) as usize));
        out.push_str(&digits);
    } else {
        let (first, rest) = digits.split_at(1);
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "e{sign}{}", exponent.abs()).expect("a String takes what is written to it");
    }
    out
}

/// A number as JavaScript's `value.toFixed(decimals)` writes it: an exact half goes away from zero.
/// `decimals` is at most 6 here.
pub fn to_fixed(value: f64, decimals: u32) -> String {
    if !value.is_finite() || value.abs() >= 1e21 {
        return js_number(value);
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let magnitude = value.abs();
    // Rust sends an exact half to the even neighbour. Halves of the last decimal are exact in
    // binary only as odd multiples of 2^-(decimals+1), which this product shows without rounding.
    let halves = magnitude * f64::from(1u32 << (decimals + 1));
    if halves.fract() == 0.0 && halves as u128 % 2 == 1 {
        let unit = 10u128.pow(decimals);
        // Below 1e21 × 2^7 × 10^6, far from the end of u128.
        let scaled = (halves as u128 * unit).div_ceil(1 << (decimals + 1));
        let (whole, fraction) = (scaled / unit, scaled % unit);
        let point = if decimals == 0 {
            String::new()
        } else {
            format!(".{fraction:0>width$}", width = decimals as usize)
        };
        return format!("{sign}{whole}{point}");
    }
    format!("{sign}{magnitude:.prec$}", prec = decimals as usize)
}

/// A number with at most `decimals` decimals, rounded, without trailing zeros.
pub fn trimmed(value: f64, decimals: u32) -> String {
    to_fixed(value, decimals).parse().map_or_else(|_| js_number(value), js_number)
}

/// A share from 0 to 1 as a percentage, cut off after two decimals: 4/13 is `30.76%`.
pub fn percent(share: f64) -> String {
    format!("{}%", to_fixed((share * 100.0 * 100.0).trunc() / 100.0, 2))
}

/// A size in bytes with decimal units: one decimal below ten, none above (`1.3 kB`, `218 kB`).
pub fn bytes(size: f64) -> String {
    const UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    // Includes NaN and negative sizes, which only a bug could bring: they are shown as they are.
    if size.is_nan() || size < 10.0 {
        return format!("{} B", js_number(size));
    }
    let power = ((size.ln() / 1000f64.ln()).floor().max(0.0) as usize).min(UNITS.len() - 1);
    let scaled = (size / 1000f64.powi(power as i32) * 10.0 + 0.5).floor() / 10.0;
    let decimals = u32::from(scaled < 10.0);
    format!("{} {}", to_fixed(scaled, decimals), UNITS[power])
}

/// A time in milliseconds, in the `unit` asked for (two decimals always) or else in the one that
/// suits its size (cut off after two decimals, zeros dropped, no decimals above a minute).
pub fn duration(ms: f64, unit: Option<Unit>) -> String {
    if let Some(unit) = unit {
        let (scale, suffix) = unit.scale();
        return format!("{}{suffix}", to_fixed(ms * scale, 2));
    }
    if !ms.is_finite() {
        return js_number(ms);
    }
    // k6 shows negative times, which a custom trend can hold, in nanoseconds; and less than one as `0ns`.
    if ms < 0.000_001 && ms != 0.0 {
        return format!("{}ns", js_number((ms * 1_000_000.0).trunc()));
    }
    if ms < 0.001 {
        return brunt_duration::format((ms * 1_000_000.0) as i64);
    }
    if ms < 1.0 {
        return brunt_duration::format(hundredths(ms * 1000.0) * 10);
    }
    if ms < 1000.0 {
        return brunt_duration::format(hundredths(ms) * 10_000);
    }
    if ms <= 60_000.0 {
        return brunt_duration::format(hundredths(ms / 1000.0) * 10_000_000);
    }
    let (minutes, seconds) = ((ms / 60_000.0).trunc(), (ms % 60_000.0 / 1000.0) as i64);
    if minutes < 60.0 {
        return brunt_duration::format((minutes as i64 * 60 + seconds) * SECOND);
    }
    // A custom trend can hold more hours than a duration has room for: their number replaces the 1 of `1h2m3s`.
    let one = brunt_duration::format((3600 + (minutes % 60.0) as i64 * 60 + seconds) * SECOND);
    format!("{}{}", js_number((minutes / 60.0).trunc()), one.trim_start_matches('1'))
}

/// Nanoseconds.
const SECOND: i64 = 1_000_000_000;

/// Whole hundredths, the rest cut off.
fn hundredths(value: f64) -> i64 {
    (100.0 * value).trunc() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that k6 1.8.1 printed for these values, in runs of our own.
    #[test]
    fn numbers_read_as_in_javascript() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (10.0, "10"),
            (-7.25, "-7.25"),
            (1e20, "100000000000000000000"),
            (7.5e20, "750000000000000000000"),
            (1e21, "1e+21"),
            (7.000_000_000_000_002e299, "7.000000000000002e+299"),
            (0.000_001, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-9, "1.5e-9"),
            (3.165_484_551_281_321, "3.165484551281321"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(js_number(value), text);
        }
    }

    #[test]
    fn an_exact_half_is_rounded_away_from_zero() {
        for (value, decimals, text) in [
            (0.125, 2, "0.13"),
            (0.375, 2, "0.38"),
            (2.5, 0, "3"),
            (-2.5, 0, "-3"),
            (1.0 / 128.0, 6, "0.007813"),
            (3.0 / 128.0, 6, "0.023438"),
            (1.000_000_5, 6, "1.000001"),
            (12.345, 2, "12.35"),
            (1.005, 2, "1.00"),
            (1e21, 2, "1e+21"),
        ] {
            assert_eq!(to_fixed(value, decimals), text, "{value}");
        }
    }

    #[test]
    fn plain_numbers_keep_six_decimals() {
        for (value, text) in [
            (1_000_004.0, "1000004"),
            (16_392.340_842_9, "16392.340843"),
            (1.234_567_89, "1.234568"),
            (1e-9, "0"),
            (0.1 + 0.2, "0.3"),
            (123_456_789_012.5, "123456789012.5"),
            (50_351_313_757_490.086, "50351313757490.086"),
            (4.078_456_451_057_706_6e23, "4.0784564510577066e+23"),
        ] {
            assert_eq!(trimmed(value, 6), text);
        }
    }

    #[test]
    fn percentages_are_cut_not_rounded() {
        assert_eq!(percent(4.0 / 13.0), "30.76%");
        assert_eq!(percent(2.0 / 3.0), "66.66%");
        assert_eq!(percent(1.0), "100.00%");
        assert_eq!(percent(0.0), "0.00%");
        assert_eq!(percent(0.999_999), "99.99%");
    }

    #[test]
    fn bytes_have_decimal_units() {
        for (size, text) in [
            (0.0, "0 B"),
            (3.165_484_551_281_321, "3.165484551281321 B"),
            (11.83, "12 B"),
            (649.0, "649 B"),
            (999.6, "1000 B"),
            (1300.0, "1.3 kB"),
            (6340.0, "6.3 kB"),
            (9960.0, "10 kB"),
            (218_000.0, "218 kB"),
            (1.5e6, "1.5 MB"),
            (7.7e9, "7.7 GB"),
        ] {
            assert_eq!(bytes(size), text);
        }
    }

    #[test]
    fn a_time_takes_the_unit_that_suits_it() {
        for (ms, text) in [
            (0.0, "0s"),
            (0.000_000_4, "0ns"),
            (0.000_04, "40ns"),
            (0.000_999_9, "999ns"),
            (0.001, "1µs"),
            (0.999_999_9, "999.99µs"),
            (1.0, "1ms"),
            (999.999, "999.99ms"),
            (1000.0, "1s"),
            (1000.1, "1s"),
            (59_999.99, "59.99s"),
            (60_000.0, "1m0s"),
            (61_234.567, "1m1s"),
            (3_599_999.9, "59m59s"),
            (3_600_000.0, "1h0m0s"),
            (123_456_789.0, "34h17m36s"),
            (1e15, "277777777h46m40s"),
            (1e20, "27777777777777h46m40s"),
            (-5.0, "-5000000ns"),
            (-0.015_498_5, "-15498ns"),
        ] {
            assert_eq!(duration(ms, None), text, "{ms}");
        }
    }

    #[test]
    fn a_fixed_unit_always_has_two_decimals() {
        assert_eq!(duration(12_345.0, Some(Unit::Seconds)), "12.35s");
        assert_eq!(duration(0.5, Some(Unit::Milliseconds)), "0.50ms");
        assert_eq!(duration(0.130_2, Some(Unit::Microseconds)), "130.20µs");
        assert_eq!(duration(0.0, Some(Unit::Microseconds)), "0.00µs");
    }

    proptest::proptest! {
        /// Whatever is printed reads back as the same number.
        #[test]
        fn a_printed_number_reads_back(value in proptest::num::f64::NORMAL) {
            proptest::prop_assert_eq!(js_number(value).parse(), Ok(value));
        }
    }
}
