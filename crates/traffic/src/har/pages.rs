//! Pages of a HAR file as steps of a session, where they tell something.

use url::Url;

use super::model::{Page, Program};
use crate::{Exchange, Step};

/// The steps of a session: one at the first exchange of each page.
///
/// `pages` has for each exchange the id of its page. A session of one page has no steps. Playwright writes one page for a
/// whole tab, under the title that it had last: no steps, too. Browsers whose titles are URLs give the path, with the method in
/// front of it unless it is GET.
pub(super) fn steps(
    exchanges: &[Exchange],
    pages: &[String],
    told: &[Page],
    creator: &Program,
) -> Vec<Step> {
    if creator.name.as_str() == "Playwright" {
        return Vec::new();
    }
    // Names that a user gave to parts of the session.
    let are_given = matches!(creator.name.as_str(), "Brunt" | "k6-studio" | "k6 Studio");
    let mut seen: Vec<&str> = Vec::new();
    let mut steps = Vec::new();
    for (exchange, page) in exchanges.iter().zip(pages) {
        if page.is_empty() || seen.contains(&page.as_str()) {
            continue;
        }
        seen.push(page);
        let title = told.iter().find(|own| own.id.as_str() == page);
        let title = title.map_or("", |own| own.title.as_str()).trim();
        let is_given = are_given && !title.is_empty();
        let name = if is_given { title.to_owned() } else { name(title, exchange) };
        steps.push(Step { at: exchange.sent, name });
    }
    if steps.len() < 2 && !are_given { Vec::new() } else { steps }
}

/// The name of a step.
fn name(title: &str, first: &Exchange) -> String {
    if !title.is_empty() && Url::parse(title).is_err() {
        return title.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let url = Url::parse(title).ok().filter(Url::has_host);
    let path = path(url.as_ref().unwrap_or(&first.request.url));
    match first.request.method.as_str() {
        "GET" => path,
        method => format!("{method} {path}"),
    }
}

/// The path of a URL without what differs from run to run: `/orders/70010/edit;jsessionid=1` is `/orders/{id}/edit`.
fn path(url: &Url) -> String {
    let segments = url.path().split('/').map(|segment| {
        let segment = segment.split(';').next().unwrap_or_default();
        let digits = segment.bytes().filter(u8::is_ascii_digit).count();
        let is_hex = segment.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        let is_number = digits > 0 && digits == segment.len();
        let is_long = segment.len() >= 20 && digits >= 4;
        if is_number || is_hex && segment.len() >= 12 && digits > 0 || is_long {
            "{id}"
        } else {
            segment
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_steps_have_no_ids() {
        for (url, expected) in [
            ("http://a.test/", "/"),
            ("http://a.test/orders/70010/edit;jsessionid=A1?x=1", "/orders/{id}/edit"),
            ("http://a.test/u/5240d742-c90f-44cb-88ae-081a8254c679", "/u/{id}"),
            ("http://a.test/cafe/added/list2", "/cafe/added/list2"),
        ] {
            assert_eq!(path(&Url::parse(url).expect("a URL")), expected);
        }
    }
}
