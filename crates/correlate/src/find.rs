//! Applies finders to responses, as scripts do.

use brunt_html::{Document, NodeId, Selector, form};

use crate::change::{between, change};
use crate::json::Json;
use crate::plan::{Finder, Piece, Source};
use crate::reply::Reply;

/// The value that a source gives on a response: the found text after the source's changes. `text_of` gives the texts of pieces in
/// selectors and paths, joined: [`Plan::recorded`](crate::Plan::recorded) gives the recorded ones. `None` if there is no such text.
pub fn find(
    source: &Source,
    reply: &Reply<'_>,
    text_of: &dyn Fn(&[Piece]) -> Option<String>,
) -> Option<String> {
    change(found(&source.finder, reply, text_of)?, &source.changes, text_of)
}

fn found(
    finder: &Finder,
    reply: &Reply<'_>,
    text_of: &dyn Fn(&[Piece]) -> Option<String>,
) -> Option<String> {
    match finder {
        Finder::Header(name) => reply.headers.get(name).map(str::to_owned),
        Finder::Cookie(name) => {
            reply.cookies.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
        }
        Finder::Url => Some(reply.url.as_str().to_owned()),
        Finder::Json(path) => {
            reply.json()?.at(path, text_of).and_then(Json::text).map(str::to_owned)
        }
        Finder::Field { .. } | Finder::Attribute { .. } | Finder::Text { .. } => {
            in_document(finder, reply.document()?, text_of)
        }
        Finder::Between { left, right, nth } => {
            between(&reply.body, left, right, *nth).map(str::to_owned)
        }
        Finder::Update { id, inside } => {
            let text = updates(&reply.body).find(|(own, _)| own.contains(id.as_str()))?.1;
            within(inside.as_deref(), text, text_of)
        }
        Finder::Message { nth, inside } => {
            within(inside.as_deref(), reply.messages.get(*nth)?, text_of)
        }
        Finder::Event { nth, inside } => {
            within(inside.as_deref(), reply.events.get(*nth)?, text_of)
        }
    }
}

/// In a text that is a part of a response.
fn within(
    inside: Option<&Finder>,
    text: &str,
    text_of: &dyn Fn(&[Piece]) -> Option<String>,
) -> Option<String> {
    match inside {
        None => Some(text.to_owned()),
        Some(Finder::Json(path)) => {
            Json::parse(text)?.at(path, text_of).and_then(Json::text).map(str::to_owned)
        }
        Some(Finder::Between { left, right, nth }) => {
            between(text, left, right, *nth).map(str::to_owned)
        }
        Some(finder) => in_document(finder, &Document::parse(text).ok()?, text_of),
    }
}

fn in_document(
    finder: &Finder,
    document: &Document,
    text_of: &dyn Fn(&[Piece]) -> Option<String>,
) -> Option<String> {
    let node = |selector: &[Piece], nth: usize| -> Option<NodeId> {
        let selector = Selector::new(&text_of(selector)?);
        selector.find(document, &[document.root()]).get(nth).copied()
    };
    match finder {
        Finder::Field { selector, nth } => field_text(document, node(selector, *nth)?),
        Finder::Attribute { selector, nth, attribute } => {
            document.attribute(node(selector, *nth)?, attribute).map(str::to_owned)
        }
        Finder::Text { selector, nth } => {
            Some(document.text(node(selector, *nth)?).trim().to_owned())
        }
        _ => None,
    }
}

/// The value of a field, as the script reads it.
pub(crate) fn field_text(document: &Document, node: NodeId) -> Option<String> {
    match form::value(document, node)? {
        form::Field::Text(text) => Some(text),
        form::Field::List(texts) => texts.into_iter().next(),
    }
}

/// Ids and texts of the `<update>`s of a partial response of JSF.
pub(crate) fn updates(body: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = body;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find("<update ")?;
            rest = &rest[at + "<update ".len()..];
            let head = &rest[..rest.find('>')?];
            let id = between(head, "id=\"", "\"", 0).or_else(|| between(head, "id='", "'", 0));
            let body = &rest[head.len() + 1..];
            let Some(id) = id else { continue };
            let Some(text) = body.trim_start().strip_prefix("<![CDATA[") else { continue };
            let end = text.find("]]>")?;
            rest = &text[end..];
            return Some((id, &text[..end]));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_have_ids_and_texts() {
        let body = "<?xml version='1.0'?><partial-response id=\"j_id1\"><changes><update id=\"f\"><![CDATA[<b>]]></update>\
                    <update id=\"j_id1:javax.faces.ViewState:0\"><![CDATA[12:34]]></update></changes>";
        let all: Vec<_> = updates(body).collect();
        assert_eq!(all, [("f", "<b>"), ("j_id1:javax.faces.ViewState:0", "12:34")]);
    }
}
