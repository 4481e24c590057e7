//! What users type, and what must stay secret.

use crate::plan::Place;
use crate::request::Spot;
use crate::values::{Strength, key_of, strength};

/// Whether a name is that of a password or a key.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let key = key_of(name);
    const ENDS: [&str; 16] = [
        "password",
        "passwd",
        "pwd",
        "passphrase",
        "password1",
        "password2",
        "clientsecret",
        "secret",
        "apikey",
        "subscriptionkey",
        "otp",
        "passcode",
        "privatekey",
        "accesskey",
        "pincode",
        "credential",
    ];
    ENDS.iter().any(|end| key.ends_with(end))
        || matches!(key.as_str(), "pass" | "pin" | "cvv" | "cvc")
}

/// Whether a name is that of a token: a secret if no response gave its value.
pub(crate) fn is_token(name: &str) -> bool {
    let key = key_of(name);
    const ENDS: [&str; 10] = [
        "token",
        "authorization",
        "session",
        "sessionid",
        "sessid",
        "jwt",
        "auth",
        "bearer",
        "signature",
        "sid",
    ];
    ENDS.iter().any(|end| key.ends_with(end))
}

/// Whether a user typed this, as far as its name and text tell.
pub(crate) fn is_typed(spot: &Spot) -> bool {
    let text = spot.text.trim();
    if text.is_empty() || text.len() > 4_000 {
        return false;
    }
    let key = key_of(&spot.name);
    const SEARCH: [&str; 9] =
        ["q", "query", "search", "term", "keyword", "keywords", "filter", "searchterm", "s"];
    const TYPED: [&str; 52] = [
        "username",
        "user",
        "login",
        "email",
        "mail",
        "name",
        "firstname",
        "lastname",
        "fullname",
        "displayname",
        "title",
        "subject",
        "description",
        "note",
        "notes",
        "text",
        "comment",
        "comments",
        "message",
        "body",
        "content",
        "summary",
        "caption",
        "label",
        "street",
        "city",
        "zip",
        "zipcode",
        "postcode",
        "address",
        "address1",
        "address2",
        "phone",
        "mobile",
        "company",
        "bio",
        "about",
        "reason",
        "question",
        "answer",
        "search",
        "term",
        "keyword",
        "keywords",
        "searchterm",
        "nickname",
        "surname",
        "headline",
        "remark",
        "details",
        "memo",
        "userid",
    ];
    const CHOSEN: [&str; 12] = [
        "operationname",
        "typename",
        "modelname",
        "fieldname",
        "columnname",
        "eventname",
        "appname",
        "hostname",
        "methodname",
        "classname",
        "filename",
        "componentname",
    ];
    if CHOSEN.iter().any(|end| key.ends_with(end)) {
        return false;
    }
    let is_word_like =
        !matches!(text, "true" | "false" | "on" | "off" | "null") && !is_number_like(text);
    match spot.place {
        Place::Query(_) => SEARCH.contains(&key.as_str()) && strength(text) != Strength::Strong,
        Place::Json(_) | Place::MessageJson(..) => {
            if is_document(text) {
                return false;
            }
            is_word_like
                && strength(text) != Strength::Strong
                && (TYPED.contains(&key.as_str())
                    || SEARCH.contains(&key.as_str())
                    || TYPED.iter().any(|end| end.len() > 3 && key.ends_with(end))
                    || text.contains(' ') && text.chars().any(char::is_alphabetic))
        }
        Place::Field(_) | Place::Part(_) => {
            is_word_like
                && strength(text) != Strength::Strong
                && (TYPED.contains(&key.as_str())
                    || SEARCH.contains(&key.as_str())
                    || text.contains(' ')
                        && text.chars().any(char::is_alphabetic)
                        && !is_document(text))
        }
        _ => false,
    }
}

fn is_number_like(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || b".,-+: ".contains(&byte))
}

/// Documents of GraphQL, HTML, XML, JSON: not typed into a field.
fn is_document(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(['{', '[', '<'])
        || ["query", "mutation", "subscription", "fragment"]
            .iter()
            .any(|word| text.starts_with(word))
            && text.contains('{')
}
