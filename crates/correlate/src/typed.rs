//! Texts that users type, and those that must stay secret.

use crate::plan::Place;
use crate::request::Spot;
use crate::values::{Strength, key_of, strength};

/// Ends of the names of passwords and keys.
const SECRETS: [&str; 16] = [
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

/// Ends of the names of tokens: secrets if no response gave their values.
const TOKENS: [&str; 10] = [
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

/// Names of fields that search.
const SEARCH: [&str; 15] = [
    "q",
    "query",
    "search",
    "term",
    "keyword",
    "keywords",
    "filter",
    "searchterm",
    "s",
    "matching",
    "contains",
    "needle",
    "phrase",
    "lookup",
    "startswith",
];

/// Names of fields that people fill in; the long ones also as ends of names.
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

/// Ends of names that only look so: programs fill them in.
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

/// Whether a name is that of a password or a key.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let key = key_of(name);
    SECRETS.iter().any(|end| key.ends_with(end))
        || matches!(key.as_str(), "pass" | "pin" | "cvv" | "cvc")
}

/// Whether a name is that of a token.
pub(crate) fn is_token(name: &str) -> bool {
    let key = key_of(name);
    TOKENS.iter().any(|end| key.ends_with(end))
}

/// Whether a user typed this, as far as its name and text tell.
pub(crate) fn is_typed(spot: &Spot) -> bool {
    let text = spot.text.trim();
    let key = key_of(&spot.name);
    if text.is_empty()
        || text.len() > 4_000
        || CHOSEN.iter().any(|end| key.ends_with(end))
        || strength(text) == Strength::Strong
    {
        return false;
    }
    let is_search = SEARCH.contains(&key.as_str());
    let is_field = matches!(
        spot.place,
        Place::Json(_) | Place::MessageJson(..) | Place::Field(_) | Place::Part(_)
    );
    if !is_field {
        return is_search && matches!(spot.place, Place::Query(_));
    }
    let is_word =
        !matches!(text, "true" | "false" | "on" | "off" | "null") && !is_number_like(text);
    let is_sentence = text.contains(' ') && text.chars().any(char::is_alphabetic);
    let is_named = TYPED.iter().any(|name| key == *name || name.len() > 3 && key.ends_with(name));
    is_word && !is_document(text) && (is_named || is_search || is_sentence)
}

fn is_number_like(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || b".,-+: ".contains(&byte))
}

/// Documents of GraphQL, HTML, XML, JSON: not typed into a field.
fn is_document(text: &str) -> bool {
    const WORDS: [&str; 4] = ["query", "mutation", "subscription", "fragment"];
    let text = text.trim_start();
    text.starts_with(['{', '[', '<'])
        || text.contains('{') && WORDS.iter().any(|word| text.starts_with(word))
}
