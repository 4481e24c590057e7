//! Numbers as Go prints them, without going through the formatting machinery where it can be helped.

use std::io::Write;

/// The shortest digits that read back as `value`, with an exponent below 10⁻⁴ and from 10⁶ on: Go's
/// `%g` (`1e+06`, `1.5`, `1e-05`, `-0`). `value` is finite.
pub(crate) fn push_general(out: &mut Vec<u8>, value: f64) {
    let size = value.abs();
    if let Some(millionths) = millionths(value)
        && size < 1e6
        && (size >= 1e-4 || millionths == 0)
    {
        push_millionths(out, millionths);
        let zeros = out.iter().rev().take_while(|digit| **digit == b'0').count().min(6);
        out.truncate(out.len() - zeros);
        if zeros == 6 {
            out.pop();
        }
    } else if size == 0.0 || (1e-4..1e6).contains(&size) {
        let _ = write!(out, "{value}");
    } else {
        let start = out.len();
        let _ = write!(out, "{value:e}");
        // Rust writes `1e6`, Go `1e+06`.
        let Some(at) = out[start..].iter().position(|byte| *byte == b'e') else {
            return;
        };
        let exponent = out.split_off(start + at + 1);
        let (sign, digits) = match exponent.split_first() {
            Some((b'-', digits)) => (b'-', digits),
            _ => (b'+', &exponent[..]),
        };
        out.push(sign);
        if digits.len() < 2 {
            out.push(b'0');
        }
        out.extend_from_slice(digits);
    }
}

/// The shortest digits that read back as `value`, never with an exponent. `value` is finite.
pub(crate) fn push_decimal(out: &mut Vec<u8>, value: f64) {
    match millionths(value) {
        Some(millionths) if millionths % 1_000_000 == 0 => {
            if millionths < 0 {
                out.push(b'-');
            }
            push_whole(out, millionths.unsigned_abs() / 1_000_000, 1);
        }
        Some(millionths) => {
            push_millionths(out, millionths);
            let zeros = out.iter().rev().take_while(|digit| **digit == b'0').count();
            out.truncate(out.len() - zeros);
        }
        None => {
            let _ = write!(out, "{value}");
        }
    }
}

/// With six decimals: Go's `%f`.
pub(crate) fn push_fixed(out: &mut Vec<u8>, value: f64) {
    if let Some(millionths) = millionths(value) {
        push_millionths(out, millionths);
    } else if value.is_infinite() {
        out.extend_from_slice(if value > 0.0 { b"+Inf" } else { b"-Inf" });
    } else {
        let _ = write!(out, "{value:.6}");
    }
}

/// `value` in millionths, if it is that double which is nearest to a whole number of them. As most
/// are: times are whole nanoseconds and written in milliseconds.
///
/// Of 15 digits or fewer, so those digits are the shortest that read back as it.
#[allow(clippy::float_cmp, reason = "the very same double is what is asked for")]
fn millionths(value: f64) -> Option<i64> {
    let scaled = (value * 1e6).round();
    let exact = scaled.abs() < 1e15 && scaled / 1e6 == value;
    let negative_zero = value == 0.0 && value.is_sign_negative();
    (exact && !negative_zero).then_some(scaled as i64)
}

fn push_millionths(out: &mut Vec<u8>, millionths: i64) {
    if millionths < 0 {
        out.push(b'-');
    }
    let size = millionths.unsigned_abs();
    push_whole(out, size / 1_000_000, 1);
    out.push(b'.');
    push_whole(out, size % 1_000_000, 6);
}

/// The decimal digits of a whole number, with zeros in front up to `width`.
pub(crate) fn push_whole(out: &mut Vec<u8>, mut number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while number > 0 {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits[at.min(digits.len() - width)..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn general(value: f64) -> String {
        let mut out = b"7000".to_vec();
        push_general(&mut out, value);
        String::from_utf8(out).unwrap()[4..].to_owned()
    }

    fn fixed(value: f64) -> String {
        let mut out = Vec::new();
        push_fixed(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_read_as_in_go() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-3.0, "-3"),
            (100.0, "100"),
            (0.007_391, "0.007391"),
            (0.0001, "0.0001"),
            (0.000_012_34, "1.234e-05"),
            (1e-7, "1e-07"),
            (100_000.5, "100000.5"),
            (999_999.0, "999999"),
            (1e6, "1e+06"),
            (-1_234_567.0, "-1.234567e+06"),
            (123_456_789.125, "1.23456789125e+08"),
            (1e21, "1e+21"),
            (1e300, "1e+300"),
            (0.1 + 0.2, "0.30000000000000004"),
        ] {
            assert_eq!(general(value), text);
        }
    }

    #[test]
    fn six_decimals_are_rounded_as_in_go() {
        for (value, text) in [
            (1.0, "1.000000"),
            (1.893_025, "1.893025"),
            (0.1 + 0.2, "0.300000"),
            (-2.5, "-2.500000"),
            (1e21, "1000000000000000000000.000000"),
            (5e-7, "0.000000"),
            (f64::INFINITY, "+Inf"),
        ] {
            assert_eq!(fixed(value), text);
        }
    }

    proptest! {
        #[test]
        fn every_number_reads_back_by_no_more_digits_than_needed(
            value in prop_oneof![
                proptest::num::f64::NORMAL,
                -1e7..1e7f64,
                (0..100_000_000_000u64).prop_map(|nanos| nanos as f64 / 1e6),
            ]
        ) {
            let text = general(value);
            prop_assert_eq!(text.parse::<f64>().unwrap(), value);
            let digits = |text: &str| {
                let mantissa = text.split('e').next().unwrap_or_default().replace(['.', '-'], "");
                mantissa.trim_matches('0').len()
            };
            prop_assert_eq!(digits(&text), digits(&format!("{value:e}")), "{}", text);
            prop_assert_eq!(fixed(value), format!("{value:.6}"));
            let mut decimal = Vec::new();
            push_decimal(&mut decimal, value);
            prop_assert_eq!(String::from_utf8(decimal).unwrap(), format!("{value}"));
        }
    }
}
