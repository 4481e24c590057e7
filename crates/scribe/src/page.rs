//! Pages: a text that proves them, a name for them.

use brunt_correlate::{Place, Plan};
use brunt_html::{Document, Selector};
use brunt_traffic::{Exchange, Headers};

use crate::text::{self, quoted};

/// Pages that are longer are not read.
const PAGE_MAX: u64 = 8 << 20;

/// The longest name of a group.
const NAME_MAX: usize = 60;

/// The text of a response, if it has one that is not too long.
pub(crate) fn body_text(exchange: &Exchange) -> Option<String> {
    let response = exchange.response.as_ref()?;
    let is_small = response.body.size().is_some_and(|size| size <= PAGE_MAX);
    let bytes = is_small.then(|| response.body.read().ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The page of a response.
pub(crate) fn document(exchange: &Exchange) -> Option<Document> {
    let media = exchange.response.as_ref()?.headers.media_type();
    if !matches!(media.as_str(), "text/html" | "application/xhtml+xml") {
        return None;
    }
    Document::parse(&body_text(exchange)?).ok()
}

/// The text of the first of these elements, with single blanks.
pub(crate) fn first_text(document: &Document, selector: &str) -> Option<String> {
    let found = Selector::new(selector).find_first(document, document.root())?;
    let text = document.text(found).split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// A name for a step that begins with this exchange: its page's title or headline, or its path.
pub(crate) fn name(plan: &Plan, index: usize, own: &Exchange, last: &Exchange) -> String {
    let titles = document(last).map(|page| {
        ["h1", "title"]
            .into_iter()
            .filter_map(|selector| first_text(&page, selector))
            .collect::<Vec<_>>()
    });
    // Ids are not the same for the next user. `/admin/` stays, though a user typed this word as a name.
    let is_replaced = |at: usize| {
        let place = Place::Segment(at);
        plan.substitutions.iter().any(|one| one.exchange == index && one.place == place)
    };
    let segments = own.request.url.path().split('/').skip(1).enumerate().map(|(at, part)| {
        let varies = is_replaced(at) || part.chars().any(|char| char.is_ascii_digit());
        if varies { "…" } else { part }
    });
    let path = format!("{} /{}", own.request.method, segments.collect::<Vec<_>>().join("/"));
    let name = titles.into_iter().flatten().find(|name| is_stable(plan, name)).unwrap_or(path);
    text::shortened(&name, NAME_MAX)
}

/// A check that proves the answer: its name, and its test in JavaScript. It looks for nothing that changes from user to user.
pub(crate) fn proof(plan: &Plan, exchange: &Exchange) -> Option<(String, String)> {
    let body = body_text(exchange)?;
    let headers = &exchange.response.as_ref()?.headers;
    if headers.media_type().ends_with("json") {
        let serde_json::Value::Object(members) = serde_json::from_str(&body).ok()? else {
            return None;
        };
        return json(plan, &members, &body);
    }
    let page = document(exchange)?;
    for (selector, tag) in [("title", "title"), ("h1", "h1"), ("h2", "h2"), ("legend", "legend")] {
        let Some(name) = first_text(&page, selector).filter(|name| is_stable(plan, name)) else {
            continue;
        };
        let forms = [
            format!("<{tag}>{name}</{tag}>"),
            format!(">{name}</{tag}>"),
            format!(">{name}<"),
            name.clone(),
        ];
        if let Some(found) = forms.into_iter().find(|form| body.contains(form)) {
            let test = format!("(r) => (r.body || '').includes({})", quoted(&found));
            return Some((format!("page “{}”", text::shortened(&name, NAME_MAX)), test));
        }
    }
    None
}

/// The check of an object: that it says `true` where it did, that GraphQL tells no errors, that it has a member.
fn json(
    plan: &Plan,
    members: &serde_json::Map<String, serde_json::Value>,
    body: &str,
) -> Option<(String, String)> {
    let says_true =
        |key: &&str| members.get(*key).is_some_and(|value| value.as_bool() == Some(true));
    if let Some(key) = ["ok", "success"].iter().find(|key| says_true(key)) {
        let test = format!("(r) => /\"{key}\"\\s*:\\s*true/.test(r.body || '')");
        return Some((format!("says {key}"), test));
    }
    if members.get("data").is_some_and(serde_json::Value::is_object) && !body.contains("\"errors\"")
    {
        let test = "(r) => (r.body || '').includes('\"data\"') && !r.body.includes('\"errors\"')";
        return Some(("has data and no errors".to_owned(), test.to_owned()));
    }
    let is_plain = |key: &&String| text::is_identifier(key) && is_stable(plan, key);
    let key = members.keys().find(is_plain)?;
    let shown = format!("\"{key}\"");
    Some((format!("has {shown}"), format!("(r) => (r.body || '').includes({})", quoted(&shown))))
}

/// Whether a text is the same for all users, as far as one can tell: no digits, nothing typed, nothing of the session.
fn is_stable(plan: &Plan, text: &str) -> bool {
    let small = text.to_lowercase();
    let shows = |value: &str| value.chars().count() > 2 && small.contains(&value.to_lowercase());
    text.chars().count() <= 80
        && !text.chars().any(|char| char.is_ascii_digit())
        && !plan.inputs.iter().any(|own| shows(&own.recorded))
        && !plan.extractions.iter().any(|own| shows(&own.recorded))
        && !plan.made.iter().any(|own| shows(&own.recorded))
        && !plan.secrets.iter().any(|own| shows(&own.recorded))
}

/// Whether a browser's cache keeps a part of a page: for a time that is told, or for one that it guesses.
pub(crate) fn is_kept(headers: &Headers) -> bool {
    let control = headers.get("cache-control").unwrap_or_default().to_ascii_lowercase();
    let says = |word: &str| control.split(',').any(|part| part.trim() == word);
    if says("no-store") || says("no-cache") || says("max-age=0") {
        return false;
    }
    control.contains("max-age=")
        || ["expires", "last-modified"].iter().any(|name| headers.get(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str) -> (String, String) {
        let serde_json::Value::Object(members) = serde_json::from_str(body).expect("JSON") else {
            panic!("an object");
        };
        json(&Plan::default(), &members, body).expect("a check")
    }

    #[test]
    fn a_refusal_with_status_200_does_not_pass() {
        let (name, test) = check(r#"{"ok":true,"id":7}"#);
        assert_eq!(name, "says ok");
        assert_eq!(test, r#"(r) => /"ok"\s*:\s*true/.test(r.body || '')"#);
        let (name, test) = check(r#"{"data":{"order":{"id":7}}}"#);
        assert_eq!(name, "has data and no errors");
        assert!(test.contains(r#"!r.body.includes('"errors"')"#), "{test}");
    }

    #[test]
    fn a_list_of_errors_that_is_always_there_is_no_refusal() {
        let (name, _) = check(r#"{"data":{"save":{"errors":[]}}}"#);
        assert_eq!(name, "has \"data\"");
        assert_eq!(check(r#"{"ok":false,"orders":[]}"#).0, "has \"ok\"");
    }
}
