//! A time in the script's hands as Go's `time.Time`, which the drivers of xk6-sql give: its methods, its texts.

use std::cmp::Ordering;
use std::ffi::CStr;
use std::sync::LazyLock;

use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value};
use brunt_sql::{Driver, Moment, calendar};

use super::go_layout::{self, RFC3339, STRING};
use crate::go_error::{go_type, throw_go};
use crate::reading::text_or_empty;

const DAY: i64 = 86_400;

/// How the zone of a time is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    /// `UTC`, if it is that.
    Utc,
    /// By its number, as PostgreSQL's driver names the zone of values that have none.
    Number,
}

impl Zone {
    /// The zone of a column's values, by the type that the driver names.
    pub(super) fn of(driver: Driver, type_name: &str) -> Self {
        match driver {
            Driver::Postgres if matches!(type_name, "DATE" | "TIMESTAMP" | "TIMETZ") => {
                Self::Number
            }
            _ => Self::Utc,
        }
    }

    /// The name.
    pub(super) fn name(self, moment: Moment) -> String {
        if self == Self::Utc && moment.offset_seconds == 0 {
            return "UTC".to_owned();
        }
        go_layout::format(moment, Self::Utc, "-0700")
    }
}

/// A moment in the calendar of its zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i64,
    /// 1 to 12.
    pub(super) month: u8,
    pub(super) day: u8,
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
    /// 0 is Sunday.
    pub(super) weekday: u8,
    /// From 1.
    pub(super) year_day: u16,
}

impl Civil {
    /// The Gregorian calendar, however far.
    pub(super) fn of(moment: Moment) -> Self {
        let seconds = moment.unix_seconds.saturating_add(i64::from(moment.offset_seconds));
        let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let (year, month, day) = calendar::civil(days);
        let year_day = days - calendar::days(year, 1, 1) + 1;
        let small = |number: i64| u8::try_from(number).expect("a part of a date is small");
        Self {
            year,
            month: small(month),
            day: small(day),
            hour: small(second / 3600),
            minute: small(second / 60 % 60),
            second: small(second % 60),
            weekday: small((days + 4).rem_euclid(7)),
            year_day: u16::try_from(year_day).expect("a day of a year"),
        }
    }

    /// The seconds since 1970 of a date, whose month and day may lie outside of their year and month.
    fn seconds(year: i64, month: i64, day: i64) -> i64 {
        let year = year.saturating_add((month - 1).div_euclid(12)).clamp(-300_000_000, 300_000_000);
        let month = (month - 1).rem_euclid(12) + 1;
        let days = calendar::days(year, month, 1);
        days.saturating_add(day - 1).saturating_mul(DAY)
    }
}

/// The object.
pub(super) struct GoTime {
    moment: Moment,
    zone: Zone,
}

impl GoTime {
    pub(super) fn moment(&self) -> Moment {
        self.moment
    }
}

/// An object of a moment.
///
/// # Errors
/// If there is no memory.
pub(super) fn make(ctx: Ctx<'_>, moment: Moment, zone: Zone) -> JsResult<'_> {
    ctx.instance(GoTime { moment, zone })
}

impl Class for GoTime {
    const NAME: &'static CStr = c"Object";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| calendar(arithmetic(Members::new())));
        &MEMBERS
    }
}

fn arithmetic(members: Members) -> Members {
    members
        .method(c"unix", 0, |call| number(&call, |time| time.unix_seconds as f64))
        .method(c"unixMilli", 0, |call| number(&call, |time| (nanos(time) / 1_000_000) as f64))
        .method(c"unixMicro", 0, |call| number(&call, |time| (nanos(time) / 1000) as f64))
        .method(c"unixNano", 0, |call| number(&call, |time| nanos(time) as f64))
        .method(c"before", 1, |call| compare(&call, |order| order == Ordering::Less))
        .method(c"after", 1, |call| compare(&call, |order| order == Ordering::Greater))
        .method(c"equal", 1, |call| compare(&call, |order| order == Ordering::Equal))
        .method(c"compare", 1, |call| {
            let order = nanos(this(&call)?.moment).cmp(&nanos(other(&call)?));
            Ok(call.ctx().int(order as i32))
        })
        .method(c"sub", 1, |call| {
            let span = nanos(this(&call)?.moment) - nanos(other(&call)?);
            Ok(call.ctx().number(span.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as f64))
        })
        .method(c"add", 1, |call| {
            let time = this(&call)?;
            let span = i128::from(call.argument(0).to_integer()?);
            make(call.ctx(), at(nanos(time.moment) + span, time.moment.offset_seconds), time.zone)
        })
        .method(c"addDate", 3, |call| {
            let (years, months, days) = (
                call.argument(0).to_integer()?,
                call.argument(1).to_integer()?,
                call.argument(2).to_integer()?,
            );
            let time = this(&call)?;
            let (civil, before) = (Civil::of(time.moment), time.moment);
            let year = civil.year.saturating_add(years);
            let limit = |number: i64| number.clamp(-1 << 40, 1 << 40);
            let date = Civil::seconds(
                year,
                limit(months) + i64::from(civil.month),
                limit(days) + i64::from(civil.day),
            );
            let of_day = (before.unix_seconds + i64::from(before.offset_seconds)).rem_euclid(DAY);
            let unix_seconds =
                date.saturating_add(of_day).saturating_sub(i64::from(before.offset_seconds));
            make(call.ctx(), Moment { unix_seconds, ..before }, time.zone)
        })
        .method(c"truncate", 1, |call| rounded(&call, false))
        .method(c"round", 1, |call| rounded(&call, true))
        .method(c"isZero", 0, |call| {
            let time = this(&call)?.moment;
            Ok(call.ctx().bool(nanos(time) == i128::from(ZERO) * 1_000_000_000))
        })
}

/// Seconds since 1970 of the first of January of the year 1, Go's zero.
const ZERO: i64 = -62_135_596_800;

fn calendar(members: Members) -> Members {
    members
        .method(c"year", 0, |call| part(&call, |civil| civil.year as f64))
        .method(c"month", 0, |call| part(&call, |civil| f64::from(civil.month)))
        .method(c"day", 0, |call| part(&call, |civil| f64::from(civil.day)))
        .method(c"hour", 0, |call| part(&call, |civil| f64::from(civil.hour)))
        .method(c"minute", 0, |call| part(&call, |civil| f64::from(civil.minute)))
        .method(c"second", 0, |call| part(&call, |civil| f64::from(civil.second)))
        .method(c"nanosecond", 0, |call| number(&call, |time| f64::from(time.nanos)))
        .method(c"weekday", 0, |call| part(&call, |civil| f64::from(civil.weekday)))
        .method(c"yearDay", 0, |call| part(&call, |civil| f64::from(civil.year_day)))
        .method(c"date", 0, |call| {
            let civil = Civil::of(this(&call)?.moment);
            parts(&call, &[civil.year as f64, f64::from(civil.month), f64::from(civil.day)])
        })
        .method(c"clock", 0, |call| {
            let civil = Civil::of(this(&call)?.moment);
            parts(&call, &[civil.hour, civil.minute, civil.second].map(f64::from))
        })
        .method(c"zone", 0, |call| {
            let (ctx, time) = (call.ctx(), this(&call)?);
            let name = ctx.string(&time.zone.name(time.moment))?;
            ctx.array_from([name, ctx.int(time.moment.offset_seconds)])
        })
        .method(c"utc", 0, |call| in_utc(&call))
        .method(c"uTC", 0, |call| in_utc(&call))
        .method(c"local", 0, |call| in_utc(&call))
        .method(c"format", 1, |call| {
            let layout = text_or_empty(&call.argument(0))?;
            let time = this(&call)?;
            call.ctx().string(&go_layout::format(time.moment, time.zone, &layout))
        })
        .method(c"string", 0, |call| text(&call, STRING))
        .method(c"toString", 0, |call| text(&call, STRING))
        .method(c"toJSON", 1, |call| {
            let year = Civil::of(this(&call)?.moment).year;
            if !(0..10_000).contains(&year) {
                let why = "Time.MarshalJSON: year outside of range [0,9999]";
                return Err(throw_go(call.ctx(), why));
            }
            text(&call, RFC3339)
        })
}

fn this(call: &Call<'_>) -> JsResult<'static, GoTime> {
    match call.this().instance::<GoTime>() {
        Some(time) => Ok(GoTime { moment: time.moment, zone: time.zone }),
        None => Err(call.ctx().throw_type("this is not a time of k6/x/sql")),
    }
}

/// The argument as a time.
fn other(call: &Call<'_>) -> JsResult<'static, Moment> {
    let value = call.argument(0);
    if let Some(time) = value.instance::<GoTime>() {
        return Ok(time.moment);
    }
    if value.is_date() {
        let ms = value.to_number()?;
        if ms.is_finite() {
            return Ok(at((ms * 1e6) as i128, 0));
        }
    }
    let kind = go_type(&value);
    Err(throw_go(call.ctx(), &format!("could not convert {kind} to time.Time")))
}

fn nanos(moment: Moment) -> i128 {
    i128::from(moment.unix_seconds) * 1_000_000_000 + i128::from(moment.nanos)
}

/// The moment of these nanoseconds since 1970, as far as there are such.
fn at(nanos: i128, offset_seconds: i32) -> Moment {
    let seconds = nanos.div_euclid(1_000_000_000);
    let unix_seconds =
        i64::try_from(seconds).unwrap_or(if seconds < 0 { i64::MIN } else { i64::MAX });
    let nanos = u32::try_from(nanos.rem_euclid(1_000_000_000)).expect("less than a second");
    Moment { unix_seconds, nanos, offset_seconds }
}

fn number<'js>(call: &Call<'js>, of: impl FnOnce(Moment) -> f64) -> JsResult<'js> {
    Ok(call.ctx().number(of(this(call)?.moment)))
}

fn part<'js>(call: &Call<'js>, of: impl FnOnce(Civil) -> f64) -> JsResult<'js> {
    Ok(call.ctx().number(of(Civil::of(this(call)?.moment))))
}

fn parts<'js>(call: &Call<'js>, numbers: &[f64]) -> JsResult<'js> {
    let ctx = call.ctx();
    let numbers: Vec<Value<'js>> = numbers.iter().map(|number| ctx.number(*number)).collect();
    ctx.array_from(numbers)
}

fn compare<'js>(call: &Call<'js>, is_so: impl FnOnce(Ordering) -> bool) -> JsResult<'js> {
    let order = nanos(this(call)?.moment).cmp(&nanos(other(call)?));
    Ok(call.ctx().bool(is_so(order)))
}

fn in_utc<'js>(call: &Call<'js>) -> JsResult<'js> {
    make(call.ctx(), Moment { offset_seconds: 0, ..this(call)?.moment }, Zone::Utc)
}

fn text<'js>(call: &Call<'js>, layout: &str) -> JsResult<'js> {
    let time = this(call)?;
    call.ctx().string(&go_layout::format(time.moment, time.zone, layout))
}

/// A multiple of a duration since Go's zero.
fn rounded<'js>(call: &Call<'js>, to_nearest: bool) -> JsResult<'js> {
    let time = this(call)?;
    let step = i128::from(call.argument(0).to_integer()?);
    if step <= 0 {
        return make(call.ctx(), time.moment, time.zone);
    }
    let since = nanos(time.moment) - i128::from(ZERO) * 1_000_000_000;
    let over = since.rem_euclid(step);
    let up = if to_nearest && over * 2 >= step { step } else { 0 };
    let moment = at(nanos(time.moment) - over + up, time.moment.offset_seconds);
    make(call.ctx(), moment, time.zone)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn dates_are_those_of_the_calendar(seconds in -377_000_000_000i64..250_000_000_000) {
            let civil = Civil::of(Moment { unix_seconds: seconds, nanos: 0, offset_seconds: 0 });
            let known = jiff::Timestamp::from_second(seconds).unwrap().to_zoned(jiff::tz::TimeZone::UTC);
            prop_assert_eq!(civil.year, i64::from(known.year()));
            prop_assert_eq!(civil.month as i8, known.month());
            prop_assert_eq!(civil.day as i8, known.day());
            prop_assert_eq!(civil.year_day as i16, known.day_of_year());
            prop_assert_eq!(civil.weekday as i8, known.weekday().to_sunday_zero_offset());
            let day = seconds.div_euclid(DAY) * DAY;
            let parts = (civil.year, i64::from(civil.month), i64::from(civil.day));
            prop_assert_eq!(Civil::seconds(parts.0, parts.1, parts.2), day);
        }
    }
}
