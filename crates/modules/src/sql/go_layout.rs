//! Moments as Go writes them: a layout shows how the second of January 2006, 15:04:05, would look.

use std::fmt::Write as _;

use brunt_sql::Moment;

use super::go_time::{Civil, Zone};

/// The layout of Go's `String`.
pub(super) const STRING: &str = "2006-01-02 15:04:05.999999999 -0700 MST";
/// The layout of JSON.
pub(super) const RFC3339: &str = "2006-01-02T15:04:05.999999999Z07:00";

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// The parts of a layout, longer ones before those that they begin with.
const PARTS: [&str; 35] = [
    "January",
    "Jan",
    "Monday",
    "Mon",
    "MST",
    "002",
    "01",
    "02",
    "03",
    "04",
    "05",
    "06",
    "2006",
    "15",
    "-07:00:00",
    "-07:00",
    "-070000",
    "-0700",
    "-07",
    "Z07:00:00",
    "Z07:00",
    "Z070000",
    "Z0700",
    "Z07",
    "PM",
    "pm",
    "__2",
    "_2006",
    "_2",
    "1",
    "2",
    "3",
    "4",
    "5",
    ".",
];

/// A moment in this layout.
pub(super) fn format(moment: Moment, zone: Zone, layout: &str) -> String {
    let civil = Civil::of(moment);
    let mut out = String::with_capacity(layout.len() + 8);
    let mut rest = layout;
    while let Some(first) = rest.chars().next() {
        let part = PARTS.iter().find(|part| rest.starts_with(**part));
        let taken = match part {
            Some(&".") => fraction(&mut out, moment, rest),
            // `January` is a month, `Janus` is not.
            Some(&("Jan" | "Mon")) if rest[3..].starts_with(|c: char| c.is_ascii_lowercase()) => 0,
            Some(&"_2006") => {
                out.push('_');
                write_part(&mut out, moment, civil, zone, "2006");
                5
            }
            Some(part) => {
                write_part(&mut out, moment, civil, zone, part);
                part.len()
            }
            None if first == ',' => fraction(&mut out, moment, rest),
            None => 0,
        };
        if taken == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            rest = &rest[taken..];
        }
    }
    out
}

/// `.000`, `.999` and the same with a comma, where no further digit follows. Gives the bytes of the layout that it was.
fn fraction(out: &mut String, moment: Moment, rest: &str) -> usize {
    let digit = match rest.as_bytes().get(1) {
        Some(digit @ (b'0' | b'9')) => *digit,
        _ => return 0,
    };
    let count = rest.as_bytes()[1..].iter().take_while(|byte| **byte == digit).count();
    if rest.as_bytes().get(1 + count).is_some_and(u8::is_ascii_digit) {
        return 0;
    }
    let digits = format!("{:09}", moment.nanos);
    let mut shown = &digits[..count.min(9)];
    if digit == b'9' {
        shown = shown.trim_end_matches('0');
    }
    if !shown.is_empty() {
        out.push_str(&rest[..1]);
        out.push_str(shown);
    }
    1 + count
}

fn write_part(out: &mut String, moment: Moment, civil: Civil, zone: Zone, part: &str) {
    let month = MONTHS[civil.month as usize - 1];
    let day = DAYS[civil.weekday as usize];
    let twelve = match civil.hour % 12 {
        0 => 12,
        hour => hour,
    };
    let done = match part {
        "January" => write!(out, "{month}"),
        "Jan" => write!(out, "{}", &month[..3]),
        "Monday" => write!(out, "{day}"),
        "Mon" => write!(out, "{}", &day[..3]),
        "1" => write!(out, "{}", civil.month),
        "01" => write!(out, "{:02}", civil.month),
        "2" => write!(out, "{}", civil.day),
        "_2" => write!(out, "{:2}", civil.day),
        "02" => write!(out, "{:02}", civil.day),
        "__2" => write!(out, "{:3}", civil.year_day),
        "002" => write!(out, "{:03}", civil.year_day),
        "15" => write!(out, "{:02}", civil.hour),
        "3" => write!(out, "{twelve}"),
        "03" => write!(out, "{twelve:02}"),
        "4" => write!(out, "{}", civil.minute),
        "04" => write!(out, "{:02}", civil.minute),
        "5" => write!(out, "{}", civil.second),
        "05" => write!(out, "{:02}", civil.second),
        "06" => write!(out, "{:02}", civil.year.rem_euclid(100)),
        "2006" if civil.year < 0 => write!(out, "-{:04}", -civil.year),
        "2006" => write!(out, "{:04}", civil.year),
        "PM" => write!(out, "{}", if civil.hour >= 12 { "PM" } else { "AM" }),
        "pm" => write!(out, "{}", if civil.hour >= 12 { "pm" } else { "am" }),
        "MST" => write!(out, "{}", zone.name(moment)),
        _ => {
            write_offset(out, moment.offset_seconds, part);
            Ok(())
        }
    };
    done.expect("a String takes all");
}

fn write_offset(out: &mut String, seconds: i32, part: &str) {
    if part.starts_with('Z') && seconds == 0 {
        out.push('Z');
        return;
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let size = seconds.unsigned_abs();
    let colon = if part.contains(':') { ":" } else { "" };
    let (hours, minutes, rest) = (size / 3600, size / 60 % 60, size % 60);
    let done = match part.chars().filter(char::is_ascii_digit).count() {
        2 => write!(out, "{sign}{hours:02}"),
        4 => write!(out, "{sign}{hours:02}{colon}{minutes:02}"),
        _ => write!(out, "{sign}{hours:02}{colon}{minutes:02}{colon}{rest:02}"),
    };
    done.expect("a String takes all");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_gos() {
        let moment =
            Moment { unix_seconds: 1_709_210_096, nanos: 789_000_000, offset_seconds: 3600 };
        for (layout, text) in [
            (STRING, "2024-02-29 13:34:56.789 +0100 +0100"),
            (RFC3339, "2024-02-29T13:34:56.789+01:00"),
            ("Mon Jan _2 15:04:05 2006", "Thu Feb 29 13:34:56 2024"),
            ("Monday, 02-Jan-06 3:04PM MST", "Thursday, 29-Feb-24 1:34PM +0100"),
            (
                "1/2/06 03:4:5 pm .000000 ,99 002 -07 Janus",
                "2/29/24 01:34:56 pm .789000 ,78 060 +01 Janus",
            ),
            ("é.0.1", "é.7.2"),
            ("", ""),
        ] {
            assert_eq!(format(moment, Zone::Number, layout), text, "{layout}");
        }
        let zero = Moment { unix_seconds: -62_135_596_800, nanos: 0, offset_seconds: 0 };
        assert_eq!(format(zero, Zone::Utc, STRING), "0001-01-01 00:00:00 +0000 UTC");
        assert_eq!(format(zero, Zone::Utc, RFC3339), "0001-01-01T00:00:00Z");
    }
}
