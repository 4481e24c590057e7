//! Cookie dates, RFC 6265 §5.1.1: whatever looks like one.

/// Seconds since the Unix epoch.
pub(super) fn parse(text: &str) -> Option<i64> {
    let is_delimiter = |char: char| !(char.is_ascii_alphanumeric() || char == ':');
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        if time.is_none()
            && let Some(found) = parse_time(token)
        {
            time = Some(found);
        } else if day.is_none() && token.len() <= 2 && is_number(token) {
            day = token.parse::<i64>().ok();
        } else if month.is_none()
            && let Some(found) = parse_month(token)
        {
            month = Some(found);
        } else if year.is_none() && (2..=4).contains(&token.len()) && is_number(token) {
            year = token.parse::<i64>().ok();
        }
    }
    let (time, day, month) = (time?, day?, month?);
    let year = match year? {
        year @ 70..=99 => year + 1900,
        year @ 0..=69 => year + 2000,
        year => year,
    };
    if !(1..=31).contains(&day) || year < 1601 {
        return None;
    }
    // A day that does not exist is none, RFC 6265 says.
    brunt_moment::unix_seconds((year, month, day), time)
}

fn is_number(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_digit())
}

/// `hh:mm:ss`
fn parse_time(token: &str) -> Option<(i64, i64, i64)> {
    let mut parts = token.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let fits = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    (fits && parts.next().is_none()).then_some((hour, minute, second))
}

/// 1 to 12.
fn parse_month(token: &str) -> Option<i64> {
    const NAMES: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    let name = token.get(..3)?.to_ascii_lowercase();
    let at = NAMES.find(&name)?;
    (at % 3 == 0).then_some(at as i64 / 3 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_usual_forms_mean_the_same() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(parse(text), Some(784_111_777), "{text}");
        }
        assert_eq!(parse("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(parse("Fri, 31-Dec-9999 23:59:59 GMT"), Some(253_402_300_799));
        assert_eq!(parse("Fri, 29-Feb-2096 23:59:59 GMT"), Some(3_981_398_399));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "0",
            "tomorrow",
            "Sun, 06 Nov 1994",
            "99 Nov 1994 08:49:37",
            "6 Nov 1994 25:00:00",
            "31 Nov 1994 08:49:37",
            "29 Feb 1994 08:49:37",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
