//! Pages: title, headings, forms with their fields, words of failures, the elements that a page is made of.

use std::collections::{BTreeMap, BTreeSet};

use brunt_html::{Document, Kind, NodeId};

use crate::address::{is_made, plain};
use crate::body::{Difference, says};
use crate::errors;

/// A page whose elements are mostly others is another page.
const ALIKE_LEAST: f64 = 0.5;

/// A page with other words in its head needs to be as much alike as this, to be the same page with other words.
const ALIKE_IF_RENAMED: f64 = 0.8;

/// Pages with fewer kinds of elements are not judged by these.
const ELEMENTS_LEAST: usize = 8;

/// The parts of a page that are compared.
struct Page {
    title: String,
    headings: Vec<String>,
    forms: BTreeMap<String, Form>,
    has_password: bool,
    /// Kinds of elements: name and classes.
    elements: BTreeSet<String>,
    /// The text that a user sees, in small letters.
    text: String,
    /// Pieces of it, in small letters, with the way to each.
    pieces: Vec<(String, String)>,
}

/// A form, or those of one kind.
#[derive(Default)]
struct Form {
    fields: BTreeSet<String>,
    /// Its action or id has a made part, or there are several: it belongs to an entry of a list.
    is_of_list: bool,
    count: usize,
}

impl Page {
    fn read(text: &str) -> Option<Self> {
        let document = Document::parse(text).ok()?;
        let mut page = Self {
            title: String::new(),
            headings: Vec::new(),
            forms: BTreeMap::new(),
            has_password: false,
            elements: BTreeSet::new(),
            text: String::new(),
            pieces: Vec::new(),
        };
        for node in document.descendants(document.root()) {
            match document.kind(node) {
                Kind::Element => page.element(&document, node),
                Kind::Text => page.text(&document, node),
                _ => {}
            }
        }
        Some(page)
    }

    fn element(&mut self, document: &Document, node: NodeId) {
        let tag = document.tag(node);
        self.elements.insert(element(document, node));
        match tag {
            "title" if self.title.is_empty() => {
                self.title = squeeze(&document.text(node));
            }
            "h1" | "h2" => self.headings.push(squeeze(&document.text(node))),
            "form" => {
                let (key, is_made) = form_key(document, node);
                let form = self.forms.entry(key).or_default();
                form.count += 1;
                form.is_of_list |= is_made || form.count > 1;
            }
            "input" | "select" | "textarea" | "button" => {
                let is_password = document
                    .attribute(node, "type")
                    .is_some_and(|kind| kind.eq_ignore_ascii_case("password"));
                self.has_password |= is_password;
                let name = document.attribute(node, "name").unwrap_or_default();
                let form = document.ancestors(node).find(|above| document.tag(*above) == "form");
                if let Some(form) = form.filter(|_| !name.is_empty()) {
                    let (key, _) = form_key(document, form);
                    self.forms.entry(key).or_default().fields.insert(plain(name));
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, document: &Document, node: NodeId) {
        let Some(parent) = document.parent(node) else { return };
        let unseen = ["script", "style", "template", "option", "textarea", "noscript"];
        if unseen.contains(&document.tag(parent)) {
            return;
        }
        let text = squeeze(&document.text(node)).to_lowercase();
        if text.is_empty() {
            return;
        }
        let mut way: Vec<String> = vec![element(document, parent)];
        way.extend(document.ancestors(parent).take(5).map(|above| element(document, above)));
        self.text.push_str(&text);
        self.text.push('\n');
        self.pieces.push((way.join(" < "), text));
    }
}

/// Name and classes of an element, without made parts.
fn element(document: &Document, node: NodeId) -> String {
    let mut out = document.tag(node).to_owned();
    let classes = document.attribute(node, "class").unwrap_or_default();
    for class in classes.split_ascii_whitespace().take(6) {
        out.push('.');
        out.push_str(&plain(class));
    }
    out
}

/// The name of a form: its id, else its name, else its action's path; and whether a part of it is made.
fn form_key(document: &Document, node: NodeId) -> (String, bool) {
    let attribute = |name: &str| document.attribute(node, name).filter(|text| !text.is_empty());
    let action = attribute("action").unwrap_or_default();
    let action = action.split(['?', '#', ';']).next().unwrap_or_default();
    let path = match action.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => action,
    };
    let has_made = |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(is_made);
    let key = attribute("id").or_else(|| attribute("name")).unwrap_or(path);
    (plain(key), has_made(key) || has_made(path))
}

/// A text with one blank for each white space.
fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a title that are neither numbers nor made.
fn words(text: &str) -> BTreeSet<String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.chars().count() > 1 && !is_made(word))
        .map(str::to_lowercase)
        .collect()
}

/// Compares two pages.
pub(crate) fn compare(recorded: &str, replayed: &str) -> Vec<Difference> {
    let (Some(old), Some(new)) = (Page::read(recorded), Page::read(replayed)) else {
        return vec![Difference::note("is too large or too deep a page to be compared")];
    };
    let mut found = Vec::new();
    let same = new.elements.intersection(&old.elements).count();
    let alike = if old.elements.is_empty() { 1.0 } else { same as f64 / old.elements.len() as f64 };
    let is_judged = old.elements.len() >= ELEMENTS_LEAST;
    if new.has_password && !old.has_password {
        found.push(Difference::fault(
            "asks for a password: it is a login, and the recorded one is not",
        ));
    }
    let lost = forms(&old, &new, &mut found);
    heads(&old, &new, alike, lost, &mut found);
    failures(&old, &new, &mut found);
    if is_judged && alike < ALIKE_LEAST {
        found.push(Difference::fault(format!(
            "is another page: {same} of {} kinds of elements are there",
            old.elements.len()
        )));
    }
    found
}

/// Whether two pages say the same to a user, but for numbers and made words; `None` if one can't be read.
pub(crate) fn says_the_same(one: &str, other: &str) -> Option<bool> {
    let texts = |text: &str| -> Option<Vec<String>> {
        let page = Page::read(text)?;
        Some(page.pieces.iter().map(|(_, text)| plain(text)).collect())
    };
    Some(texts(one)? == texts(other)?)
}

/// Forms and fields that are gone; whether a form is.
fn forms(old: &Page, new: &Page, found: &mut Vec<Difference>) -> bool {
    let mut lost = false;
    for (key, form) in &old.forms {
        let by_fields = |other: &&Form| !form.fields.is_empty() && other.fields == form.fields;
        let name = if key.is_empty() { "without a name" } else { key };
        let Some(other) = new.forms.get(key).or_else(|| new.forms.values().find(by_fields)) else {
            let fields: Vec<&str> = form.fields.iter().take(6).map(String::as_str).collect();
            let text = format!("has no form {name} (fields {})", fields.join(", "));
            lost |= !form.is_of_list;
            found.push(Difference { is_fault: !form.is_of_list, text });
            continue;
        };
        let is_missing = |field: &&String| !other.fields.contains(*field);
        let missing: Vec<&str> =
            form.fields.iter().filter(is_missing).map(String::as_str).collect();
        if !missing.is_empty() {
            let is_fault = !form.is_of_list && missing.iter().any(|field| !field.contains('#'));
            let text = format!("has the form {name} without the fields {}", missing.join(", "));
            found.push(Difference { is_fault, text });
        }
    }
    lost
}

/// Title and headings.
fn heads(old: &Page, new: &Page, alike: f64, lost: bool, found: &mut Vec<Difference>) {
    let is_same = plain(&old.title) == plain(&new.title);
    if !is_same {
        let (before, after) = (words(&old.title), words(&new.title));
        let shared = before.intersection(&after).count() as f64;
        let share = shared / before.len().max(after.len()).max(1) as f64;
        let is_other = share < 0.5 && (before.len() + after.len() > 0);
        let is_fault = is_other
            && (alike < ALIKE_IF_RENAMED || lost || old.elements.len() < ELEMENTS_LEAST)
            || alike < 0.6;
        let text = format!("has the title {:?}, recorded {:?}", cut(&new.title), cut(&old.title));
        found.push(Difference { is_fault, text });
    }
    let heading =
        |page: &Page| page.headings.iter().map(|text| plain(text)).collect::<BTreeSet<_>>();
    let (before, after) = (heading(old), heading(new));
    if is_same && !before.is_empty() && before.intersection(&after).next().is_none() {
        let none_alike = before.iter().flat_map(|text| words(text)).collect::<BTreeSet<_>>();
        let others = after.iter().flat_map(|text| words(text)).collect::<BTreeSet<_>>();
        let is_other = none_alike.intersection(&others).next().is_none();
        let first = |page: &Page| page.headings.first().map(|text| cut(text)).unwrap_or_default();
        let text = format!("has the heading {:?}, recorded {:?}", first(new), first(old));
        found.push(Difference { is_fault: is_other && (alike < ALIKE_IF_RENAMED || lost), text });
    }
}

/// Words of failures that are new. In a place that the recorded page has, too, they may be of an entry of a list.
fn failures(old: &Page, new: &Page, found: &mut Vec<Difference>) {
    let known: BTreeSet<&str> = old.pieces.iter().map(|(way, _)| way.as_str()).collect();
    let mut noted = false;
    for (way, text) in &new.pieces {
        let Some(word) = errors::new_word_lower(text, &old.text) else { continue };
        let own = way.split(" < ").next().unwrap_or_default();
        let tag = own.split('.').next().unwrap_or_default();
        let is_entry = known.contains(way.as_str())
            && (matches!(
                tag,
                "a" | "td"
                    | "li"
                    | "dd"
                    | "span"
                    | "p"
                    | "small"
                    | "code"
                    | "pre"
                    | "em"
                    | "strong"
                    | "b"
                    | "i"
                    | "blockquote"
            ) && way.split(" < ").any(|one| {
                let tag = one.split('.').next().unwrap_or_default();
                matches!(tag, "td" | "li" | "article" | "dd" | "blockquote")
            }));
        let has_message = way.split(" < ").take(3).any(is_message);
        if !is_entry || has_message {
            found.push(Difference::fault(says(word)));
            return;
        }
        if !noted {
            noted = true;
            found.push(Difference::note(format!("says \"{word}\" in a list")));
        }
    }
}

/// Whether an element's classes say that it has a message.
fn is_message(element: &str) -> bool {
    const PARTS: [&str; 11] = [
        "error", "alert", "danger", "warn", "invalid", "message", "flash", "notice", "feedback",
        "toast", "fail",
    ];
    element.split('.').skip(1).any(|class| PARTS.iter().any(|part| class.contains(part)))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &str = r#"<!doctype html><html><head><title>Orders</title><link rel="stylesheet" href="a.css"></head>
        <body><nav class="top"><a href="/">Home</a></nav><h1>Orders</h1>
        <form id="f" action="/orders" method="post"><input type="hidden" name="csrf" value="A1">
        <input name="filter"><button name="go">Go</button></form>
        <table class="list"><tr><td class="n">1</td><td>anvil</td></tr></table>
        <footer>26 November 2026, 5 visitors</footer></body></html>"#;

    fn faults(new: &str) -> Vec<String> {
        let found = compare(ORDERS, new);
        found.into_iter().filter(|one| one.is_fault).map(|one| one.text).collect()
    }

    #[test]
    fn other_entries_dates_and_counters_are_no_faults() {
        for (from, to) in [
            ("A1", "B2"),
            ("26 November 2026, 5 visitors", "1 January 2027, 17 visitors"),
            (
                "<td>anvil</td>",
                "<td>hammer</td></tr><tr><td class=\"n\">2</td><td>payment failed</td>",
            ),
            ("<tr><td class=\"n\">1</td><td>anvil</td></tr>", ""),
            ("<title>Orders</title>", "<title>Orders (12)</title>"),
            ("</nav>", "</nav><div class=\"ad banner-77\"><img src=\"x\">Buy now</div>"),
            ("<h1>Orders</h1>", "<h1>Orders of Anna</h1>"),
        ] {
            let new = ORDERS.replace(from, to);
            assert_ne!(new, ORDERS, "{from}");
            assert_eq!(faults(&new), Vec::<String>::new(), "{to}");
        }
    }

    #[test]
    fn errors_logins_and_other_pages_are_faults() {
        let error = "<html><head><title>Error</title></head><body><h1>Error</h1><p>The view has expired</p></body></html>";
        let login = r#"<html><head><title>Log in</title></head><body><form id="login"><input name="user">
            <input type="password" name="password"></form></body></html>"#;
        for (new, said) in [
            (error.to_owned(), "title"),
            (login.to_owned(), "password"),
            (
                ORDERS.replace("</h1>", "</h1><div class=\"msg\">The token is invalid</div>"),
                "invalid",
            ),
            (ORDERS.replace("</h1>", "</h1><ul><li>Access denied</li></ul>"), "denied"),
            (ORDERS.replace("<td>anvil</td>", "<td class=\"error\">token expired</td>"), "expired"),
            (
                ORDERS.replace("id=\"f\"", "id=\"other\"").replace("name=\"csrf\"", "name=\"x\""),
                "no form f",
            ),
            (ORDERS.replace("name=\"csrf\"", "name=\"x\""), "without the fields csrf"),
        ] {
            let found = faults(&new);
            assert!(found.iter().any(|text| text.contains(said)), "{said}: {found:?}\n{new}");
        }
    }
}
