//! Words of failures.

/// Texts that pages have when something went wrong, in small letters. Tested as whole words.
const WORDS: [&str; 64] = [
    "error",
    "errors",
    "exception",
    "expired",
    "denied",
    "invalid",
    "forbidden",
    "unauthorized",
    "unauthorised",
    "failed",
    "failure",
    "incorrect",
    "not found",
    "not allowed",
    "not permitted",
    "not valid",
    "not match",
    "try again",
    "timed out",
    "unavailable",
    "went wrong",
    "must log in",
    "please log in",
    "please login",
    "please sign in",
    "logged out",
    "signed out",
    "csrf",
    "traceback",
    "stack trace",
    "mismatch",
    "rejected",
    "refused",
    "is required",
    "required field",
    "already exists",
    "already been",
    "already in use",
    "already taken",
    "already registered",
    "duplicate",
    "wrong password",
    "bad request",
    "bad credentials",
    "conflict",
    "no longer",
    "session has",
    "session is",
    "out of date",
    "too many requests",
    "captcha",
    "does not exist",
    "doesn't exist",
    "cannot be",
    "could not be",
    "can't be",
    "fehler",
    "ungültig",
    "abgelaufen",
    "verweigert",
    "erreur",
    "expirée",
    "inválido",
    "caducado",
];

/// The first of these words in a text that another text has not.
pub(crate) fn new_word(text: &str, known: &str) -> Option<&'static str> {
    let (text, known) = (text.to_lowercase(), known.to_lowercase());
    new_word_lower(&text, &known)
}

/// Likewise, of texts in small letters.
pub(crate) fn new_word_lower(text: &str, known: &str) -> Option<&'static str> {
    WORDS.into_iter().find(|word| has(text, word) && !has(known, word))
}

/// Whether a text has this as whole words; a class of Java ends with them, too: `ViewExpiredException`.
fn has(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        !is_part(after) && (!is_part(before) || word == "exception")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_if_it_is_whole_and_new() {
        assert_eq!(new_word("The token has Expired.", "welcome"), Some("expired"));
        assert_eq!(new_word("javax.faces.ViewExpiredException", ""), Some("exception"));
        assert_eq!(new_word("Errors: 0", "errors: 3"), None);
        assert_eq!(new_word("invalidate the terror", ""), None);
        assert_eq!(new_word("Your order was sent", ""), None);
    }
}
