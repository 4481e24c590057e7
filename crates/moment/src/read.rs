//! Moments read.

use jiff::fmt::temporal::DateTimeParser;

use crate::EPOCH;

const PARSER: DateTimeParser = DateTimeParser::new();

/// Where the fraction of a second begins.
const FRACTION: usize = "2026-11-21T18:59:01".len();

/// As many digits of a fraction are read; more are cut off, as in Go.
const DIGITS_MAX: usize = 9;

/// Reads a moment: nanoseconds since the Unix epoch, and how many minutes its zone lies east of Greenwich (`None`: it has the
/// letter `Z`). Between date and time may be a `T`, a `t` or a space.
pub fn parse(text: &str) -> Option<(i128, Option<i16>)> {
    let bytes = text.as_bytes();
    // jiff reads all of ISO 8601 and some annotations, too.
    let signs = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if signs.iter().any(|(at, sign)| bytes.get(*at) != Some(sign)) {
        return None;
    }
    let mut end = FRACTION;
    if bytes.get(end) == Some(&b'.') {
        end += 1;
        end += bytes[end..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
    let minutes_east = match *bytes.get(end..)? {
        [b'Z' | b'z'] => None,
        [sign @ (b'+' | b'-'), hour_tens, hour, b':', tens, ones] => {
            let two = |tens: u8, ones: u8| {
                let digits = tens.is_ascii_digit() && ones.is_ascii_digit();
                digits.then(|| i16::from(tens - b'0') * 10 + i16::from(ones - b'0'))
            };
            let (hours, minutes) = (two(hour_tens, hour)?, two(tens, ones)?);
            // As in Go.
            if hours > 24 || minutes > 60 {
                return None;
            }
            let minutes = hours * 60 + minutes;
            Some(if sign == b'-' { -minutes } else { minutes })
        }
        _ => return None,
    };
    // jiff takes a sixtieth second for the one before it.
    if bytes[FRACTION - 2..FRACTION] == *b"60" {
        return None;
    }
    let time = PARSER.parse_datetime(&bytes[..end.min(FRACTION + 1 + DIGITS_MAX)]).ok()?;
    let east = i128::from(minutes_east.unwrap_or(0)) * 60_000_000_000;
    Some((time.duration_since(EPOCH).as_nanos() - east, minutes_east))
}

/// Reads moments one after the other; mostly the next one lies in the second of the one before, and only its fraction is new.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// The second that was read last, `2026-11-21T18:59:01`, with the text behind its fraction.
    second: [u8; FRACTION],
    zone: Vec<u8>,
    read: Option<(i128, Option<i16>)>,
}

impl Reader {
    /// As [`parse`].
    pub fn read(&mut self, text: &str) -> Option<(i128, Option<i16>)> {
        let (second, behind) = text.as_bytes().split_first_chunk::<FRACTION>()?;
        let (fraction, zone) = fraction(behind)?;
        if let Some((ns, minutes)) = self.read
            && *second == self.second
            && zone == self.zone
        {
            return Some((ns + i128::from(fraction), minutes));
        }
        let (ns, minutes) = parse(text)?;
        self.second = *second;
        self.zone.clear();
        self.zone.extend_from_slice(zone);
        self.read = Some((ns - i128::from(fraction), minutes));
        Some((ns, minutes))
    }
}

/// Nanoseconds, and the rest of the text: of `.5Z`, or of `Z`. `None` if there is a point without digits.
fn fraction(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let Some(behind) = bytes.strip_prefix(b".") else { return Some((0, bytes)) };
    let mut nanos = 0;
    let mut unit = 1_000_000_000;
    let digits = behind.iter().take_while(|byte| byte.is_ascii_digit());
    let mut count = 0;
    for digit in digits {
        // Behind the ninth digit it is 0.
        unit /= 10;
        nanos += unit * u32::from(digit - b'0');
        count += 1;
    }
    (count > 0).then_some((nanos, &behind[count..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Stamps, zone};

    #[test]
    fn moments_are_read_with_their_zone() {
        for (text, ns, minutes) in [
            ("1970-01-01T00:00:00Z", 0, None),
            ("2026-11-21T18:59:01.895402269Z", 1_795_287_541_895_402_269, None),
            ("2026-11-21t18:59:01.8954022691234z", 1_795_287_541_895_402_269, None),
            ("2026-11-22T00:29:01.5+05:30", 1_795_287_541_500_000_000, Some(330)),
            ("2026-11-21 18:59:01+00:00", 1_795_287_541_000_000_000, Some(0)),
            ("2000-02-28T23:00:00.000000001-01:00", 951_782_400_000_000_001, Some(-60)),
            ("1969-12-31T23:59:59Z", -1_000_000_000, None),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000_000, None),
            ("9999-12-31T23:59:59.999999999Z", 253_402_300_799_999_999_999, None),
            ("1970-01-02T00:00:00+24:00", 0, Some(1440)),
        ] {
            assert_eq!(parse(text), Some((ns, minutes)), "{text}");
            let mut reader = Reader::default();
            for _ in 0..2 {
                assert_eq!(reader.read(text), Some((ns, minutes)), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "2026-11-21",
            "2026-11-21T18:59:01",
            "2026-11-21T18:59:01.Z",
            "2026-11-21T18:59:01,5Z",
            "2026-11-21T18:59:01.Zx",
            "2026-11-21T18:59:01+0100",
            "2026-11-21T18:59:01+01",
            "2026-11-21T18:59:01+01:00[Europe/Berlin]",
            "2026-11-21T18:59:01+99:00",
            "20261121T185901Z",
            "x026-11-21T18:59:01Z",
            "2026-13-21T18:59:01Z",
            "2026-02-30T18:59:01Z",
            "2026-11-21T24:59:01Z",
            "2026-11-21T18:60:01Z",
            "2026-11-21T18:59:60Z",
            "2026-11-21T18:59:01+25:00",
            "2026-11-21T18:59:0é",
        ] {
            assert_eq!(parse(text), None, "{text}");
            let mut reader = Reader::default();
            reader.read("2026-11-21T18:59:01Z");
            assert_eq!(reader.read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn writing_then_reading_gives_the_same(ns: u64, minutes in -1439_i16..1440) {
            let mut out = Vec::new();
            Stamps::new(zone(minutes)).push_nano(&mut out, ns);
            let read = parse(std::str::from_utf8(&out).unwrap());
            let zone = (minutes != 0).then_some(minutes);
            prop_assert_eq!(read, Some((i128::from(ns), zone)));
        }

        #[test]
        fn what_was_read_before_changes_nothing(
            texts in prop::collection::vec("2026-11-21T18:59:0[0-3](\\.[0-9]{0,11})?(Z|[+]0[0-1]:00)", 1..20),
        ) {
            let mut reader = Reader::default();
            for text in texts {
                prop_assert_eq!(reader.read(&text), parse(&text), "{}", text);
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "[-+:.TZ0-9é ]{0,40}") {
            let _ = parse(&text);
        }
    }
}
