//! The order in which names are listed.
//!
//! k6 sorts metric names with JavaScript's `localeCompare`, whose root collation puts punctuation
//! before digits before letters, ignores case at first and then prefers the lower case. For the
//! ASCII in which metric names are written this is exact; other characters follow the letters, by
//! code point.

use std::cmp::Ordering;

/// Printable ASCII that is no letter and no digit, as the root collation orders it.
const PUNCTUATION: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Compares two metric names as k6 lists them.
///
/// A submetric (`name{tag:value}`) follows its parent directly, whatever other names share a prefix.
pub fn by_name(a: &str, b: &str) -> Ordering {
    let (a_parent, a_tags) = split(a);
    let (b_parent, b_tags) = split(b);
    collate(a_parent, b_parent).then_with(|| match (a_tags, b_tags) {
        (Some(a), Some(b)) => collate(a, b),
        // The parent itself first.
        (a, b) => a.is_some().cmp(&b.is_some()),
    })
}

/// The parent's name and, for a submetric, the rest from the brace on.
pub fn split(name: &str) -> (&str, Option<&str>) {
    match name.find('{') {
        Some(at) => (&name[..at], Some(&name[at..])),
        None => (name, None),
    }
}

fn collate(a: &str, b: &str) -> Ordering {
    let primary = a.chars().map(weight).cmp(b.chars().map(weight));
    // Upper case is above lower case in the tie break: `ab` < `aB` < `Ab` is decided from the left.
    let case = || a.chars().map(char::is_uppercase).cmp(b.chars().map(char::is_uppercase));
    primary.then_with(case).then_with(|| a.cmp(b))
}

/// Class, then place within the class; case is left out.
fn weight(c: char) -> (u8, u32) {
    if let Some(place) = PUNCTUATION.find(c) {
        return (1, place as u32);
    }
    let lower = c.to_lowercase().next().unwrap_or(c);
    match lower {
        '0'..='9' => (2, lower as u32),
        'a'..='z' => (3, lower as u32),
        _ if lower.is_control() => (0, lower as u32),
        _ => (4, lower as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which k6 1.8.1 printed these, in runs of our own.
    #[test]
    fn names_stand_as_k6_lists_them() {
        let listed = [
            "__",
            "_1",
            "_a",
            "a1",
            "A1",
            "A2",
            "ab",
            "aB",
            "AB",
            "http_req_duration",
            "http_req_duration{ab:c d}",
            "http_req_duration{expected_response:true}",
            "http_req_duration_",
            "http_req_duration_x",
            "http_req_duration2",
            "http_req_durationx",
            "http_req_durationx{a:b}",
            "Http_req_durationx",
            "vus",
            "vus_max",
            "vusfoo",
            "w_w",
            "w1",
            "w9",
            "wA",
            "ww",
            "ww{a:b}",
            "ww{c:d}",
            "wW",
            "WW",
            "www",
            "zz",
            "zZ",
            "Zz",
        ];
        assert_sorted(&listed);
    }

    #[test]
    fn punctuation_of_tags_stands_as_k6_lists_it() {
        let listed = [
            "sp{a b:c}",
            "sp{a_b:c}",
            "sp{a-b:c}",
            "sp{a:_}",
            "sp{a:-}",
            "sp{a:;}",
            "sp{a:::}",
            "sp{a:!}",
            "sp{a:?}",
            "sp{a:.}",
            "sp{a:\"q\"}",
            "sp{a:(q)}",
            "sp{a:[q]}",
            "sp{a:@}",
            "sp{a:*}",
            "sp{a:/x}",
            "sp{a:\\}",
            "sp{a:&}",
            "sp{a:#}",
            "sp{a:%}",
            "sp{a:`}",
            "sp{a:^}",
            "sp{a:+}",
            "sp{a:<}",
            "sp{a:=}",
            "sp{a:>}",
            "sp{a:|}",
            "sp{a:~}",
            "sp{a:$}",
            "sp{a:9}",
            "sp{a:c,x:y}",
            "sp{a:c}",
            "sp{A:c}",
            "sp{a:e}",
            "sp{a:f}",
            "sp{a.b:c}",
            "sp{ab:c d}",
            "sp_b{x:y}",
        ];
        assert_sorted(&listed);
    }

    fn assert_sorted(listed: &[&str]) {
        let mut names = listed.to_vec();
        names.reverse();
        names.sort_by(|a, b| by_name(a, b));
        assert_eq!(names, listed);
    }
}
