//! Numbers in text, as Go reads them.

use std::borrow::Cow;

/// A decimal or hexadecimal number, with an exponent or without (hexadecimal: with one), also with `_` between digits; an
/// infinity, or `nan`, which has no sign. `None` also for a decimal number that is too large.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let plain = without_underscores(text)?;
    let text = plain.as_ref();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        let number = hexadecimal(digits)?;
        return Some(if text.starts_with('-') { -number } else { number });
    }
    let number: f64 = text.parse().ok()?;
    if number.is_nan() && text.len() > unsigned.len() {
        return None;
    }
    let is_too_large = number.is_infinite() && unsigned.starts_with(|c: char| !c.is_alphabetic());
    (!is_too_large).then_some(number)
}

/// The text without its underscores; `None` if one of them does not stand between digits.
fn without_underscores(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('_') {
        return Some(Cow::Borrowed(text));
    }
    let bytes = text.as_bytes();
    // The letters of `1e3` and `0x1p4` are no digits.
    let is_hexadecimal = text.contains(['x', 'X']);
    let is_digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at)).is_some_and(|byte| {
            if is_hexadecimal { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() }
        })
    };
    let stands_well = |at: usize| {
        let behind_prefix = matches!(bytes.get(at.wrapping_sub(1)), Some(b'x' | b'X'));
        (is_digit(at.checked_sub(1)) || behind_prefix) && is_digit(Some(at + 1))
    };
    let mut places = text.match_indices('_').map(|(at, _)| at);
    places.all(stands_well).then(|| Cow::Owned(text.replace('_', "")))
}

/// `1.8p4`: the exponent is a power of two, and must be there.
fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let mut number = 0.0_f64;
    for digit in whole.chars().chain(part.chars()) {
        number = number * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let exponent: i32 = exponent.parse().ok()?;
    let places = i32::try_from(part.len()).ok()?.checked_mul(4)?;
    let number = number * f64::from(exponent.checked_sub(places)?).exp2();
    number.is_finite().then_some(number)
}

/// Milliseconds as nanoseconds. A value that is not a number, or doesn't fit, is the smallest there is: the result of
/// Go's conversion on the processors that most tests run on.
pub fn nanos_of_millis(millis: f64) -> i64 {
    let nanos = millis * 1e6;
    // 2^63 is the first that doesn't fit.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&nanos);
    if fits { nanos as i64 } else { i64::MIN }
}
