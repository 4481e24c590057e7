//! Dates, times and time zones.

use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime;
use jiff::{SignedDuration, Timestamp, tz};

use super::row::{
    Argument, Asked, Kind, Out, Rng, Row, argument, list, number, pick, text, whole, with,
};

const MONTHS: &str =
    "January|February|March|April|May|June|July|August|September|October|November|December";
const WEEKDAYS: &str = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday";
const REGIONS: &str = "Africa/Abidjan|Africa/Cairo|Africa/Johannesburg|Africa/Lagos|Africa/Nairobi|America/Anchorage|America/Argentina/Buenos_Aires|America/Bogota|America/Chicago|America/Denver|\
    America/Halifax|America/Lima|America/Los_Angeles|America/Mexico_City|America/New_York|America/Santiago|America/Sao_Paulo|America/Toronto|Asia/Bangkok|Asia/Dhaka|\
    Asia/Dubai|Asia/Hong_Kong|Asia/Istanbul|Asia/Jakarta|Asia/Karachi|Asia/Kathmandu|Asia/Kolkata|Asia/Manila|Asia/Seoul|Asia/Shanghai|Asia/Singapore|Asia/Tokyo|\
    Atlantic/Azores|Atlantic/Reykjavik|Australia/Adelaide|Australia/Brisbane|Australia/Perth|Australia/Sydney|Europe/Athens|Europe/Berlin|Europe/Dublin|Europe/Helsinki|\
    Europe/Kyiv|Europe/Lisbon|Europe/London|Europe/Madrid|Europe/Oslo|Europe/Paris|Europe/Prague|Europe/Rome|Europe/Stockholm|Europe/Vienna|Europe/Warsaw|Europe/Zurich|\
    Pacific/Auckland|Pacific/Fiji|Pacific/Honolulu|Pacific/Tongatapu";
/// Abbreviation, name, hours from UTC and cities.
const ZONES: &str = "HST=Hawaiian Standard Time=-10=Hawaii|AKST=Alaskan Standard Time=-9=Alaska|PST=Pacific Standard Time=-8=Los Angeles, Vancouver|MST=Mountain Standard Time=-7=Denver, Calgary|\
    CST=Central Standard Time=-6=Chicago, Winnipeg|EST=Eastern Standard Time=-5=New York, Toronto|AST=Atlantic Standard Time=-4=Halifax|NST=Newfoundland Standard Time=-3.5=St. John's|\
    BRT=Brasilia Time=-3=Brasília|AZOT=Azores Standard Time=-1=Azores|GMT=Greenwich Mean Time=0=London, Lisbon|WAT=West Africa Time=1=Lagos|CET=Central European Time=1=Berlin, Paris, Rome|\
    EET=Eastern European Time=2=Athens, Helsinki|SAST=South Africa Standard Time=2=Johannesburg|EAT=East Africa Time=3=Nairobi|TRT=Turkey Time=3=Istanbul|IRST=Iran Standard Time=3.5=Tehran|\
    GST=Gulf Standard Time=4=Dubai|PKT=Pakistan Standard Time=5=Karachi|IST=India Standard Time=5.5=Mumbai, New Delhi|NPT=Nepal Time=5.75=Kathmandu|ICT=Indochina Time=7=Bangkok, Hanoi|\
    SGT=Singapore Time=8=Singapore|AWST=Australian Western Standard Time=8=Perth|JST=Japan Standard Time=9=Tokyo|KST=Korea Standard Time=9=Seoul|ACST=Australian Central Standard Time=9.5=Darwin|\
    AEST=Australian Eastern Standard Time=10=Brisbane, Sydney|NZST=New Zealand Standard Time=12=Auckland|TOT=Tonga Standard Time=13=Nuku'alofa";

/// One part of a random zone.
fn zone(rng: &mut Rng, part: usize) -> &'static str {
    pick(rng, ZONES).split('=').nth(part).unwrap_or_default()
}

fn full_zone(rng: &mut Rng) -> String {
    let mut parts = pick(rng, ZONES).split('=').skip(2);
    let hours: f64 = parts.next().and_then(|hours| hours.parse().ok()).unwrap_or(0.0);
    let minutes = (hours.abs() * 60.0) as u32;
    let sign = if hours < 0.0 { '-' } else { '+' };
    format!(
        "(UTC{sign}{:02}:{:02}) {}",
        minutes / 60,
        minutes % 60,
        parts.next().unwrap_or_default()
    )
}

/// Layouts by the names that Go gives them, and what they are here.
const NAMED: &[(&str, &str)] = &[
    ("ANSIC", "%a %b %e %H:%M:%S %Y"),
    ("UnixDate", "%a %b %e %H:%M:%S UTC %Y"),
    ("RubyDate", "%a %b %d %H:%M:%S +0000 %Y"),
    ("RFC822", "%d %b %y %H:%M UTC"),
    ("RFC822Z", "%d %b %y %H:%M +0000"),
    ("RFC850", "%A, %d-%b-%y %H:%M:%S UTC"),
    ("RFC1123", "%a, %d %b %Y %H:%M:%S UTC"),
    ("RFC1123Z", "%a, %d %b %Y %H:%M:%S +0000"),
    ("RFC3339", "%Y-%m-%dT%H:%M:%SZ"),
    ("RFC3339Nano", "%Y-%m-%dT%H:%M:%S.%9fZ"),
];
/// Signs of a pattern such as `yyyy-MM-dd`, the longer ones first.
const SIGNS: &[(&str, &str)] = &[
    ("yyyy", "%Y"),
    ("yy", "%y"),
    ("MMMM", "%B"),
    ("MMM", "%b"),
    ("MM", "%m"),
    ("M", "%-m"),
    ("EEEE", "%A"),
    ("EEE", "%a"),
    ("dd", "%d"),
    ("d", "%-d"),
    ("HH", "%H"),
    ("H", "%-H"),
    ("hh", "%I"),
    ("h", "%-I"),
    ("mm", "%M"),
    ("m", "%-M"),
    ("ss", "%S"),
    ("s", "%-S"),
    ("SSS", "%3f"),
    ("a", "%p"),
    ("z", "UTC"),
    ("Z", "+0000"),
];

/// The format for `strftime`: from a name of Go's, or a pattern with texts in `'`.
fn layout(format: &str) -> String {
    if let Some((_, layout)) = NAMED.iter().find(|(name, _)| *name == format) {
        return (*layout).to_owned();
    }
    let mut layout = String::new();
    let mut rest = format;
    while let Some(sign) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let (text, after) = quoted.split_once('\'').unwrap_or((quoted, ""));
            layout.push_str(&if text.is_empty() {
                "'".to_owned()
            } else {
                text.replace('%', "%%")
            });
            rest = after;
        } else if let Some((from, to)) = SIGNS.iter().find(|(from, _)| rest.starts_with(from)) {
            layout.push_str(to);
            rest = rest.get(from.len()..).unwrap_or_default();
        } else {
            layout.push(sign);
            if sign == '%' {
                layout.push(sign);
            }
            rest = rest.get(sign.len_utf8()..).unwrap_or_default();
        }
    }
    layout
}

fn shown(seconds: i64, nanoseconds: i32, format: &str) -> Result<Out, String> {
    let moment = Timestamp::new(seconds, nanoseconds).map_err(|error| error.to_string())?;
    let moment: DateTime = tz::TimeZone::UTC.to_datetime(moment);
    let text = strtime::format(layout(format), moment)
        .map_err(|error| format!("no date can be shown as \"{format}\": {error}"))?;
    Ok(text.into())
}

/// Some nanosecond of a second.
fn nanosecond(rng: &mut Rng) -> i32 {
    rng.i32(0..1_000_000_000)
}

/// From 1900 to the end of this year.
fn date(asked: &mut Asked<'_>) -> Result<Out, String> {
    const FIRST: i64 = -2_208_988_800;
    // Not the moment itself, so that a seed gives the same dates in every run of a year.
    let year = tz::TimeZone::UTC.to_datetime(Timestamp::now()).year();
    let last = DateTime::new(year, 12, 31, 23, 59, 59, 0)
        .and_then(|end| tz::TimeZone::UTC.to_timestamp(end))
        .map_or(FIRST, Timestamp::as_second);
    let (seconds, nanoseconds) = (whole(asked.rng, FIRST, last), nanosecond(asked.rng));
    shown(seconds, nanoseconds, asked.given.text(0))
}

/// A day, or a moment, as the script gives it.
fn moment(text: &str, name: &str) -> Result<Timestamp, String> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    let civil = match text.parse::<DateTime>() {
        Ok(civil) => Ok(civil),
        Err(_) => text.parse::<Date>().map(|date| date.at(0, 0, 0, 0)),
    };
    civil
        .and_then(|civil| tz::TimeZone::UTC.to_timestamp(civil))
        .map_err(|_| format!("{name} is \"{text}\": give it as 2024-03-13 or 2024-03-13T12:00:00Z"))
}

fn date_range(asked: &mut Asked<'_>) -> Result<Out, String> {
    let from = moment(asked.given.text(0), "startdate")?.as_second();
    let to = moment(asked.given.text(1), "enddate")?.as_second();
    if from > to {
        return Err("startdate is after enddate".to_owned());
    }
    let seconds = whole(asked.rng, from, to);
    shown(seconds, 0, asked.given.text(2))
}

/// Up to a day away from now.
fn away(rng: &mut Rng, is_future: bool) -> String {
    let seconds = rng.i64(3600..=12 * 3600);
    let by = SignedDuration::from_secs(if is_future { seconds } else { -seconds });
    Timestamp::now().checked_add(by).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}

const FORMAT: &[Argument] = &[argument("format", Kind::Text(Some("RFC3339")))];
const RANGE: &[Argument] = &[
    argument("startdate", Kind::Text(Some("1970-01-01"))),
    argument("enddate", Kind::Text(Some("2024-12-31"))),
    argument("format", Kind::Text(Some("yyyy-MM-dd"))),
];

pub(super) const TIME: &[Row] = &[
    with("date", FORMAT, date),
    with("dateRange", RANGE, date_range),
    number("day", |rng| rng.u8(1..32).into()),
    text("futureTime", |rng| away(rng, true)),
    number("hour", |rng| rng.u8(..24).into()),
    number("minute", |rng| rng.u8(..60).into()),
    number("month", |rng| rng.u8(1..13).into()),
    list("monthString", MONTHS),
    number("nanosecond", |rng| nanosecond(rng).into()),
    text("pastTime", |rng| away(rng, false)),
    number("second", |rng| rng.u8(..60).into()),
    text("timezone", |rng| zone(rng, 1).to_owned()),
    text("timezoneAbbreviation", |rng| zone(rng, 0).to_owned()),
    text("timezoneFull", full_zone),
    number("timezoneOffset", |rng| zone(rng, 2).parse().unwrap_or(0.0)),
    list("timezoneRegion", REGIONS),
    list("weekday", WEEKDAYS),
    number("year", |rng| {
        let now = tz::TimeZone::UTC.to_datetime(Timestamp::now()).year();
        f64::from(rng.i16(1900..=now.max(1900)))
    }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_shown_by_name_or_by_pattern() {
        let text = |format: &str| match shown(951_782_400 + 3661, 5_000_000, format) {
            Ok(Out::Text(text)) => text,
            Ok(_) => "no text".to_owned(),
            Err(why) => why,
        };
        assert_eq!(text("RFC3339"), "2000-02-29T01:01:01Z");
        assert_eq!(text("RFC3339Nano"), "2000-02-29T01:01:01.005000000Z");
        assert_eq!(text("RFC850"), "Tuesday, 29-Feb-00 01:01:01 UTC");
        assert_eq!(text("yyyy-MM-dd HH:mm:ss.SSS"), "2000-02-29 01:01:01.005");
        assert_eq!(text("d. MMMM yy, h 'Uhr' a 100%"), "29. February 00, 1 Uhr AM 100%");
    }
}
