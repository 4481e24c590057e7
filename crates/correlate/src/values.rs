//! The looks of a text: a token, a number, a word.

/// How likely it is that two equal texts are one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Words, sentences, `true`: equal by chance or by the application's design.
    Weak,
    /// Short numbers and codes: one value if the places fit together.
    Medium,
    /// Long and random: one value.
    Strong,
}

/// The strength of a text.
pub(crate) fn strength(text: &str) -> Strength {
    let size = text.len();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if digits == size {
        return if size >= 9 {
            Strength::Strong
        } else if size == 0 {
            Strength::Weak
        } else {
            Strength::Medium
        };
    }
    if is_date(text) {
        return Strength::Medium;
    }
    if text.bytes().any(|byte| byte == b' ' || byte == b'\t') || !text.is_ascii() {
        return Strength::Weak;
    }
    if size >= 8 && digits > 0 && looks_random(text) {
        return Strength::Strong;
    }
    if size >= 16 && case_changes(text) * 5 >= size {
        return Strength::Strong;
    }
    if digits > 0 { Strength::Medium } else { Strength::Weak }
}

/// `2026-11-26`, `10:00`, `1.5`, `-3`.
fn is_date(text: &str) -> bool {
    text.len() <= 32
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"-:./,+TZ ".contains(&byte))
        && !words(text).any(|word| word.len() >= 9)
}

/// The runs of letters and digits of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether one of its words is: `f:table:0:bump` and `report2024` are names, `a3f9c2d1` is not.
fn looks_random(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.bytes().any(|byte| is(&byte));
    // A plus sign is a letter of base64, and of nothing else without blanks.
    let is_base64 = text.len() >= 16
        && text.contains('+')
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    is_base64 || is_uuid(text) || words(text).any(is_random_word) || is_base64_of_short_words(text)
}

/// Whether digits and letters alternate as they do not in words and names of things.
fn is_random_word(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    if digits == word.len() {
        return word.len() >= 9;
    }
    let mut runs = 0;
    let mut last = 0;
    for byte in word.bytes() {
        let class = match byte {
            b'0'..=b'9' => 1,
            b'a'..=b'z' => 2,
            _ => 3,
        };
        runs += usize::from(class != last);
        last = class;
    }
    // Random base64 changes its class at about two of three letters, random hex at about half of them.
    let is_hex = is_hex(word) && digits > 0;
    word.len() >= 8 && (runs >= 4 && runs * 5 >= word.len() && digits > 0 || is_hex && runs >= 3)
}

/// Base64 in which `+`, `/`, `-` and `_` leave no long word.
fn is_base64_of_short_words(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte);
    text.len() >= 16
        && text.bytes().all(is_letter)
        && case_changes(text) * 4 >= text.len()
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

fn case_changes(text: &str) -> usize {
    let letters: Vec<bool> = text
        .bytes()
        .filter(u8::is_ascii_alphabetic)
        .map(|byte| byte.is_ascii_uppercase())
        .collect();
    letters.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| {
            if matches!(index, 8 | 13 | 18 | 23) { byte == b'-' } else { byte.is_ascii_hexdigit() }
        })
}

/// Only digits, at least one.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Hexadecimal digits only.
pub(crate) fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Letters of base64's URL alphabet only.
pub(crate) fn is_base64url(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// A name without case and marks: `order_id`, `orderId` and `order-id` are `orderid`.
pub(crate) fn key_of(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// `orders` to `order`, `categories` to `category`.
pub(crate) fn singular(word: &str) -> &str {
    if let Some(stem) = word.strip_suffix("ses").filter(|stem| stem.ends_with('s')) {
        return stem;
    }
    word.strip_suffix('s').filter(|stem| !stem.ends_with('s')).unwrap_or(word)
}

/// Names of values that applications give for one page, session or user: each ends a normalized key.
const TOKENS: [&str; 27] = [
    "viewstate",
    "eventvalidation",
    "viewstategenerator",
    "requestverificationtoken",
    "csrfmiddlewaretoken",
    "authenticitytoken",
    "csrf",
    "xsrf",
    "token",
    "csrftoken",
    "xsrftoken",
    "nonce",
    "state",
    "samlresponse",
    "samlrequest",
    "relaystate",
    "jsessionid",
    "sessionid",
    "sid",
    "clientwindow",
    "jfwid",
    "ticket",
    "assertion",
    "execution",
    "jwt",
    "accesstoken",
    "signature",
];

/// Whether a name is one of those of tokens.
pub(crate) fn is_token_name(key: &str) -> bool {
    TOKENS.iter().any(|token| key.ends_with(token))
}

/// Whether a normalized key names a thing: `id`, `orderid`, `pk`, `version`.
pub(crate) fn is_id_name(key: &str) -> bool {
    const ENDS: [&str; 23] = [
        "id",
        "ids",
        "uuid",
        "guid",
        "pk",
        "ref",
        "number",
        "cursor",
        "after",
        "before",
        "version",
        "etag",
        "slug",
        "code",
        "seq",
        "revision",
        "rev",
        "handle",
        "offset",
        "updatedat",
        "lastmodified",
        "rowversion",
        "eventargument",
    ];
    ENDS.iter().any(|end| key.ends_with(end)) || matches!(key, "key" | "no" | "v0" | "node")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_strong_and_words_are_weak() {
        for text in [
            "3f2a9c1d",
            "123e4567-e89b-12d3-a456-426614174000",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x1Y2",
            "1732615200123",
            "-3405228078197978502:-989624667687942685",
            "Tm90ZTo1NDY=",
            "dGhpc0lzQVRva2Vu",
        ] {
            assert_eq!(strength(text), Strength::Strong, "{text}");
        }
        for text in ["42", "7", "A12", "2026-11-26", "report2024", "v1.2", "f:table:0:bump"] {
            assert_eq!(strength(text), Strength::Medium, "{text}");
        }
        for text in ["true", "en", "Buy some milk 2", "application", "", "getCurrentUser"] {
            assert_eq!(strength(text), Strength::Weak, "{text}");
        }
    }

    #[test]
    fn names_of_one_thing_have_one_key() {
        assert_eq!(key_of("order_id"), key_of("orderId"));
        assert_eq!(singular("orders"), "order");
        assert_eq!(singular("address"), "address");
    }
}
