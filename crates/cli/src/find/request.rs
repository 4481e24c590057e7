//! The settings of a search.

use std::time::Duration;

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A table with bars.
    Terminal,
    /// For programs.
    Json,
}

/// The goals of a search and its bounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// `METRIC EXPRESSION`, as they were written; none: the thresholds of the script.
    pub(crate) goals: Vec<String>,
    /// The load is a number of VUs, not of iterations per second.
    pub(crate) by_vus: bool,
    /// The first load.
    pub(crate) from: f64,
    /// The highest.
    pub(crate) max: f64,
    /// How long a load is held and measured.
    pub(crate) hold: Duration,
    /// How long the system may take to become itself again between steps.
    pub(crate) recovery: Duration,
    /// The gap that is narrow enough, as a part of the load: 0.05.
    pub(crate) precision: f64,
    /// Steps after which the search gives up.
    pub(crate) steps_max: usize,
    /// VUs of all scenarios together.
    pub(crate) vus_max: u64,
    pub(crate) form: Form,
}

impl Request {
    /// `388/s`, `12 VUs`.
    pub(crate) fn load(&self, load: f64) -> String {
        if self.by_vus {
            let word = if load.total_cmp(&1.0).is_eq() { "VU" } else { "VUs" };
            format!("{load:.0} {word}")
        } else {
            format!("{}/s", number(load))
        }
    }
}

/// A number with three digits that count, and no zeros behind the point.
pub(crate) fn number(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let numbers = [0.0, 0.25, 1.0, 12.34, 388.0, 1230.0, 9.999];
        assert_eq!(numbers.map(number), ["0", "0.25", "1", "12.3", "388", "1230", "10"]);
    }
}
