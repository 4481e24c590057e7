//! The routes of a run: the file that names them, the thresholds that want them, and which of those never came.

use std::sync::Arc;

use brunt_metrics::{Selector, Summary};
use brunt_routes::{Book, Patterns};

use super::plan::Plan;
use crate::{
    bounded,
    failure::{Failure, Outcome},
    settings::RunSettings,
};

/// The most bytes of a file of patterns: of each line a kilobyte, and comments.
const PATTERNS_MAX: u64 = 1 << 20;

/// The book of routes; none if requests are not to be told apart by them and neither a threshold nor the system tags ask for
/// that.
///
/// # Errors
/// The file of `--routes` can't be read, or a line of it is no pattern (104).
pub(super) fn book(settings: &RunSettings, plan: &Plan) -> Outcome<Option<Arc<Book>>> {
    let text = read(settings)?;
    let book = book_of(text.as_deref(), settings.no_routes, plan);
    if book.is_none() && text.is_some() {
        log::warn!("--routes names routes, but --no-routes leaves them out");
    }
    Ok(book)
}

/// The text of `--routes`, each line of which is a pattern.
///
/// # Errors
/// As those of [`book`].
pub(crate) fn read(settings: &RunSettings) -> Outcome<Option<String>> {
    let Some(path) = &settings.routes else { return Ok(None) };
    let shown = path.display();
    let text = bounded::read_text(path, PATTERNS_MAX)
        .map_err(|error| Failure::config(format!("--routes: {shown} can't be read: {error}")))?;
    Patterns::parse(&text).map_err(|error| {
        Failure::config(format!("--routes: {shown}:{error}"))
            .hint("a line is a pattern, such as GET /users/{id} or /files/{path...}")
    })?;
    Ok(Some(text))
}

/// The book of routes; none if they are not wanted. `text`: the patterns, which were read once already.
pub(crate) fn book_of(text: Option<&str>, no_routes: bool, plan: &Plan) -> Option<Arc<Book>> {
    let wanted = plan.judged_routes();
    // Somebody who asks for the tag of that name wants them in outputs.
    if no_routes && wanted.is_empty() && !plan.tags_routes() {
        return None;
    }
    let patterns = text.and_then(|text| Patterns::parse(text).ok()).unwrap_or_default();
    Some(Arc::new(Book::new(patterns, wanted)))
}

/// The route that the selector of a threshold names, without its method.
pub(super) fn named_in(selector: &str) -> Option<String> {
    let (_, route) =
        Selector::parse(selector).ok()?.tags.into_iter().find(|(key, _)| key == "route")?;
    Some(without_method(&route).to_owned())
}

fn without_method(route: &str) -> &str {
    let is_method =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase());
    match route.split_once(' ') {
        Some((method, rest)) if is_method(method) => rest.trim_start(),
        _ => route,
    }
}

/// Warns of thresholds on routes that never came: a slip of the keyboard would pass for a threshold that holds.
pub(super) fn warn_of_missing(summary: &Summary) {
    for metric in summary.metrics.iter().filter(|metric| metric.named && !metric.observed) {
        let Some(route) = named_in(&metric.name) else { continue };
        let threshold = &metric.name;
        let known = summary.routes.iter().flat_map(|one| [one.path(), one.route.as_str()]);
        match (brunt_spelling::nearest(&route, known), summary.routes.first()) {
            (Some(meant), _) => log::warn!(
                hint = format!("did you mean {meant}?").as_str();
                "the threshold on \"{threshold}\" saw nothing: no request was of the route {route}"
            ),
            (None, Some(first)) => log::warn!(
                hint = format!("the summary lists the routes that came, such as {}", first.path()).as_str();
                "the threshold on \"{threshold}\" saw nothing: no request was of the route {route}"
            ),
            (None, None) => log::warn!(
                "the threshold on \"{threshold}\" saw nothing: no request was of the route {route}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_names_its_route_without_the_method() {
        for (selector, route) in [
            ("http_reqs{route:/users/{id}}", Some("/users/{id}")),
            ("http_reqs{status:200,route: 'GET /a?x={id}' }", Some("/a?x={id}")),
            ("http_reqs{route:my name}", Some("my name")),
            ("http_reqs{route:http://a:8/x/{id}}", Some("http://a:8/x/{id}")),
            ("http_reqs{name:/users/{id}}", None),
            ("http_reqs", None),
        ] {
            assert_eq!(named_in(selector).as_deref(), route, "{selector}");
        }
    }
}
