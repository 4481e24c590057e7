//! Durations as k6 reads them: days may stand in front, and a number alone is milliseconds.

use crate::{DurationError, float, parse};

const DAY: i64 = 86_400_000_000_000;

/// Reads `1d`, `1d12h`, `-1d1h`, or any text of [`parse`]. Before the first `d` is a whole number, whose sign holds
/// for all; after it a duration without days, or nothing. Too large a value wraps, as there.
///
/// # Errors
/// The text is no duration.
pub fn parse_days(text: &str) -> Result<i64, DurationError> {
    let Some((days, rest)) = text.split_once('d') else { return parse(text) };
    let days: i64 = days.parse().map_err(|_| {
        let digits = days.strip_prefix(['-', '+']).unwrap_or(days);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            DurationError::DaysRange(days.to_owned())
        } else {
            DurationError::Days(days.to_owned())
        }
    })?;
    let whole = days.wrapping_mul(DAY);
    if rest.is_empty() {
        return Ok(whole);
    }
    if rest.starts_with('-') {
        return Err(DurationError::Minus(rest.to_owned()));
    }
    let rest = parse(rest)?;
    Ok(if days < 0 { whole.wrapping_sub(rest) } else { whole.wrapping_add(rest) })
}

/// Reads a number of milliseconds in any form in which Go writes numbers (`1500`, `1e3`, `Inf`), or what [`parse_days`] reads.
///
/// # Errors
/// The text is no duration.
pub fn parse_millis(text: &str) -> Result<i64, DurationError> {
    match float::parse(text) {
        Some(millis) => Ok(float::nanos_of_millis(millis)),
        None => parse_days(text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format;

    /// The readings of k6 1.8.1 for these as `setupTimeout`, as a scenario's `duration` and `gracefulStop`, as the
    /// duration of a stage, and as `timeout` of a request.
    #[test]
    fn texts_mean_what_they_mean_in_k6() {
        let cases = [
            ("1s", "1s"),
            ("1d", "24h0m0s"),
            ("1d1h", "25h0m0s"),
            ("0d", "0s"),
            ("00d", "0s"),
            ("01d", "24h0m0s"),
            ("0d1s", "1s"),
            ("1d0", "24h0m0s"),
            ("1d0s", "24h0m0s"),
            ("1d.5h", "24h30m0s"),
            ("1d1.5h", "25h30m0s"),
            ("1d+1h", "25h0m0s"),
            ("-1d", "-24h0m0s"),
            ("-1d1h", "-25h0m0s"),
            ("+1d", "24h0m0s"),
            ("+0d1h", "1h0m0s"),
            ("-0d1h", "1h0m0s"),
            ("106751d", "2562024h0m0s"),
            ("106752d", "-2562047h34m33.709551616s"),
            ("99999999999d", "1734552h44m48.761856s"),
            ("1m1h", "1h1m0s"),
            ("1s1s", "2s"),
            ("1", "1ms"),
            ("+1", "1ms"),
            ("-1", "-1ms"),
            ("0", "0s"),
            ("-0", "0s"),
            ("00", "0s"),
            ("0.0", "0s"),
            ("-0s", "0s"),
            ("1.", "1ms"),
            (".5", "500µs"),
            ("1e3", "1s"),
            ("1_000", "1s"),
            ("0x1p4", "16ms"),
            ("1e15", "-2562047h47m16.854775808s"),
            ("9223372036854", "2562047h47m16.853999616s"),
            ("Inf", "-2562047h47m16.854775808s"),
            ("-Inf", "-2562047h47m16.854775808s"),
            ("infinity", "-2562047h47m16.854775808s"),
            ("nan", "-2562047h47m16.854775808s"),
            ("NaN", "-2562047h47m16.854775808s"),
            ("1e1_0", "2777h46m40s"),
            ("0x_1p4", "16ms"),
            ("0xa_ap4", "2.72s"),
            ("2562047h", "2562047h0m0s"),
        ];
        for (text, shown) in cases {
            assert_eq!(parse_millis(text).map(format).as_deref(), Ok(shown), "{text}");
        }
    }

    /// The words of k6 1.8.1, without their prefix.
    #[test]
    fn what_is_no_duration_is_told_as_k6_tells_it() {
        let cases = [
            ("1.5d", r#"strconv.ParseInt: parsing "1.5": invalid syntax"#),
            ("1h2d", r#"strconv.ParseInt: parsing "1h2": invalid syntax"#),
            ("1s1d", r#"strconv.ParseInt: parsing "1s1": invalid syntax"#),
            ("1E2d", r#"strconv.ParseInt: parsing "1E2": invalid syntax"#),
            ("1_0d", r#"strconv.ParseInt: parsing "1_0": invalid syntax"#),
            ("d", r#"strconv.ParseInt: parsing "": invalid syntax"#),
            ("1 d", r#"strconv.ParseInt: parsing "1 ": invalid syntax"#),
            ("1d1d", r#"time: unknown unit "d" in duration "1d""#),
            ("1d1m1d", r#"time: unknown unit "d" in duration "1m1d""#),
            ("1dd", r#"time: invalid duration "d""#),
            ("1d ", r#"time: invalid duration " ""#),
            ("1d1", r#"time: missing unit in duration "1""#),
            ("1d-1h", "invalid time format '-1h'"),
            ("1e3s", r#"time: unknown unit "e" in duration "1e3s""#),
            ("1e400", r#"time: unknown unit "e" in duration "1e400""#),
            ("0x10", r#"time: unknown unit "x" in duration "0x10""#),
            ("1h30", r#"time: missing unit in duration "1h30""#),
            ("1w", r#"time: unknown unit "w" in duration "1w""#),
            ("", r#"time: invalid duration """#),
            (" 1s", r#"time: invalid duration " 1s""#),
            ("--1s", r#"time: invalid duration "--1s""#),
            ("2562048h", r#"time: invalid duration "2562048h""#),
            ("-nan", r#"time: invalid duration "-nan""#),
            ("+nan", r#"time: invalid duration "+nan""#),
            ("1_e3", r#"time: unknown unit "_e" in duration "1_e3""#),
            ("1e_3", r#"time: unknown unit "e_" in duration "1e_3""#),
            ("0x1_p4", r#"time: unknown unit "x" in duration "0x1_p4""#),
            ("_1", r#"time: invalid duration "_1""#),
            ("1_", r#"time: unknown unit "_" in duration "1_""#),
            ("infs", r#"time: invalid duration "infs""#),
        ];
        for (text, said) in cases {
            assert_eq!(parse_millis(text).unwrap_err().to_string(), said, "{text}");
        }
    }

    proptest! {
        #[test]
        fn printing_then_parsing_gives_the_same(ns in i64::MIN + 1..i64::MAX) {
            prop_assert_eq!(parse_millis(&format(ns)), Ok(ns));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[-+.0-9a-zµ_ ]{0,20}") {
            let _ = parse_millis(&text);
        }
    }
}
