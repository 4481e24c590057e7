//! Names that others chose, made harmless: they are text, whatever is in them.

use std::fmt::Write as _;

/// At most this many characters of a name are shown.
const NAME_MAX: usize = 300;

/// A name on one line: characters that move the cursor, turn the direction of writing or are not seen are told by their
/// number.
pub fn plain(name: &str) -> String {
    plain_up_to(name, NAME_MAX)
}

/// The same of a text of which more characters are shown.
pub(crate) fn plain_up_to(name: &str, most: usize) -> String {
    let mut out = String::with_capacity(name.len().min(most));
    for (count, char) in name.chars().enumerate() {
        if count == most {
            out.push('…');
            break;
        }
        if is_hidden(char) {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(char));
        } else {
            out.push(char);
        }
    }
    out
}

/// For HTML, in text and between quotes.
pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in plain(text).chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// For Markdown, in a table as well: characters that could mean something are told by their number, as entities, which
/// Markdown never reads as markup.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text: Vec<char> = plain(text).chars().collect();
    let is_word = |index: usize| text.get(index).is_some_and(|char| char.is_alphanumeric());
    for (index, char) in text.iter().enumerate() {
        // Between letters an underscore is one.
        let is_inner = *char == '_' && index > 0 && is_word(index - 1) && is_word(index + 1);
        let is_harmless =
            !char.is_ascii_punctuation() || is_inner || matches!(char, '/' | ',' | '%');
        if is_harmless {
            out.push(*char);
        } else {
            let _ = write!(out, "&#{};", u32::from(*char));
        }
    }
    out
}

/// For XML 1.0, in text and between quotes, of any length. Line breaks stay; other characters that XML has not, and
/// those that are not seen, are told by their number.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // An attribute would lose them.
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            other if is_hidden(other) || matches!(other, '\u{fffe}' | '\u{ffff}') => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(other));
            }
            other => out.push(other),
        }
    }
    out
}

/// Characters that move the cursor, turn the direction of writing or are not seen.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_moves_or_hides_is_told_by_its_number() {
        assert_eq!(plain("a\u{1b}[31m\n\u{202e}b\u{9b}"), "a\\u{1b}[31m\\u{a}\\u{202e}b\\u{9b}");
        assert_eq!(plain("Grüße 你好"), "Grüße 你好");
        assert_eq!(plain(&"x".repeat(10_000)).chars().count(), NAME_MAX + 1);
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(html("<script>'\"&"), "&lt;script&gt;&#39;&quot;&amp;");
        assert_eq!(markdown("a|b *c* @you `x`"), "a&#124;b &#42;c&#42; &#64;you &#96;x&#96;");
        assert_eq!(markdown("http_req_duration _x_"), "http_req_duration &#95;x&#95;");
        assert_eq!(markdown("GET /users/{id}"), "GET /users/&#123;id&#125;");
    }

    #[test]
    fn xml_has_no_character_that_it_must_not_have() {
        assert_eq!(xml("a\u{0}b\u{1b}\n<\u{ffff}"), "a\\u{0}b\\u{1b}&#10;&lt;\\u{ffff}");
    }

    proptest! {
        #[test]
        fn nothing_of_a_name_is_markup(text in any::<String>()) {
            let html = html(&text);
            prop_assert!(!html.contains(['<', '>', '"', '\'', '\n']));
            let markdown = markdown(&text);
            prop_assert!(!markdown.contains(['<', '>', '|', '*', '`', '[', '@', '\\', '\n', '~']));
        }
    }
}
