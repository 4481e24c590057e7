//! The Gregorian calendar as arithmetic, however far: for dates of databases, which go beyond those of a calendar library.

/// Days from the first of March of the year 0 to 1970.
const TO_1970: i64 = 719_468;

/// Days from 1970 to a day. The year 0 is the year before the year 1. A day beyond the end of its month counts on.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - TO_1970
}

/// The day that is this many days after 1970: year, month, day.
pub fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + TO_1970;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates_and_dates_are_days() {
        for (date, number) in [
            ((1970, 1, 1), 0),
            ((1969, 12, 31), -1),
            ((2000, 2, 29), 11_016),
            ((1900, 3, 1), -25_508),
            ((0, 3, 1), -719_468),
            ((-4713, 11, 24), -2_440_588),
        ] {
            assert_eq!((days(date.0, date.1, date.2), civil(number)), (number, date));
        }
        for number in (-3_000_000..3_000_000).step_by(997) {
            let (year, month, day) = civil(number);
            assert_eq!(days(year, month, day), number);
        }
    }
}
