//! Pages: a text that proves them, a name for them.

use brunt_correlate::Plan;
use brunt_html::{Document, Selector};
use brunt_traffic::{Exchange, Headers};

use crate::text;

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
pub(crate) fn name(plan: &Plan, own: &Exchange, last: &Exchange) -> String {
    let titles = document(last).map(|page| {
        ["h1", "title"]
            .into_iter()
            .filter_map(|selector| first_text(&page, selector))
            .collect::<Vec<_>>()
    });
    // Ids are not the same for the next user.
    let segments = own.request.url.path().split('/');
    let stable: Vec<&str> =
        segments.map(|part| if is_stable(plan, part) { part } else { "…" }).collect();
    let path = format!("{} {}", own.request.method, stable.join("/"));
    let name = titles.into_iter().flatten().find(|name| is_stable(plan, name)).unwrap_or(path);
    text::shortened(&name, NAME_MAX)
}

/// A text of the body that proves the answer, and what to call it; none that changes from user to user.
pub(crate) fn proof(plan: &Plan, exchange: &Exchange) -> Option<(String, String)> {
    let body = body_text(exchange)?;
    let headers = &exchange.response.as_ref()?.headers;
    if headers.media_type().ends_with("json") {
        let serde_json::Value::Object(members) = serde_json::from_str(&body).ok()? else {
            return None;
        };
        let is_plain = |key: &&String| text::is_identifier(key) && is_stable(plan, key);
        let key = members.keys().find(is_plain)?;
        let shown = format!("\"{key}\"");
        return body.contains(&shown).then(|| (format!("has {shown}"), shown));
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
            return Some((format!("page “{}”", text::shortened(&name, NAME_MAX)), found));
        }
    }
    None
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
