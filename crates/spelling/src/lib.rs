//! The known word that an unknown word was perhaps meant to be: the one place where "did you mean" is decided.
//!
//! Options, metrics, executors, imports, outputs and flags are all looked for here, by the same rule: a word that differs only
//! in case, or in `-`, `_` and blanks, was meant; so was one that a few slips of the keyboard lead to; so was the one
//! that begins with what was written: of two letters only a word of three.
#![forbid(unsafe_code)]

/// Longer words are no slip of the keyboard, and comparing them would take long.
const LONGEST: usize = 128;

/// The known word that was perhaps meant by `word`, if one is near. A word that is known itself has no other near it.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    let plain = plainly(word);
    let length = plain.chars().count();
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        if candidate == word {
            return None;
        }
        let other = plainly(candidate);
        let letters = other.chars().count();
        // `duration` for `dur` is meant, and `vus` for `vu`; `a` begins too much.
        let is_begun = match length {
            0 | 1 => false,
            2 => letters == 3,
            _ => true,
        } && other.starts_with(&plain);
        let slips = strsim::damerau_levenshtein(&plain, &other);
        let (slips, allowed) =
            if is_begun { (slips.min(1), 1) } else { (slips, slips_allowed(length.min(letters))) };
        if slips <= allowed && best.is_none_or(|(least, _)| slips < least) {
            best = Some((slips, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The same as a question: `did you mean "vus"?`
pub fn question<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|meant| format!("did you mean \"{meant}\"?"))
}

/// Of short words nearly every other is near.
fn slips_allowed(length: usize) -> usize {
    match length {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    }
}

fn plainly(word: &str) -> String {
    let is_gap = |c: &char| matches!(c, '-' | '_' | ' ');
    word.chars().filter(|c| !is_gap(c)).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_case_and_gaps_are_seen_through() {
        let known = ["vus", "duration", "iterations", "thresholds", "constant-vus", "k6/http"];
        for (word, meant) in [
            ("VUs", "vus"),
            ("vu", "vus"),
            ("treshold", "thresholds"),
            ("iteratons", "iterations"),
            ("constantVUs", "constant-vus"),
            ("constant_vus", "constant-vus"),
            ("k6/HTTP", "k6/http"),
            ("dura", "duration"),
            ("duratoin", "duration"),
        ] {
            assert_eq!(nearest(word, known), Some(meant), "{word}");
        }
    }

    #[test]
    fn what_is_far_or_right_has_no_nearest() {
        let known = ["vus", "duration", "http_reqs"];
        for word in ["", "zebra", "apple", "vus", "x", "v", "ht", "http_req_waiting"] {
            assert_eq!(nearest(word, known), None, "{word}");
        }
        assert_eq!(nearest(&"v".repeat(10_000), known), None);
    }

    #[test]
    fn a_question_names_it() {
        assert_eq!(
            question("http_req", ["http_reqs"]).as_deref(),
            Some("did you mean \"http_reqs\"?")
        );
    }
}
