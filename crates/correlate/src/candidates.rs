//! From a place in a response to the finders that find it again.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use brunt_html::{Document, NodeId};
use brunt_traffic::Recording;

use crate::change::url_encode;
use crate::find::{field_text, find, updates};
use crate::json::Json;
use crate::plan::{Change, Finder, PathStep, Piece, Source};
use crate::reply::Reply;
use crate::selectors::{Known, Selected, Wish};
use crate::sources::{Draft, Origin};
use crate::values::strength;

/// Responses that are kept parsed.
const KEPT: usize = 12;

/// Sources of one extraction, at the most.
const CANDIDATES_MAX: usize = 6;

/// A source, and how much speaks against it: for one user at first, and for several at once.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) source: Source,
    pub(crate) cost: u32,
}

/// Recorded responses, the last few of them parsed.
pub(crate) struct Replies<'a> {
    recording: &'a Recording,
    kept: RefCell<Vec<(usize, Rc<Reply<'a>>)>>,
}

impl<'a> Replies<'a> {
    pub(crate) fn new(recording: &'a Recording) -> Self {
        Self { recording, kept: RefCell::default() }
    }

    pub(crate) fn get(&self, exchange: usize) -> Option<Rc<Reply<'a>>> {
        let mut kept = self.kept.borrow_mut();
        if let Some(at) = kept.iter().position(|(own, _)| *own == exchange) {
            let entry = kept.remove(at);
            kept.push(entry);
        } else {
            let reply = Rc::new(Reply::recorded(self.recording, exchange)?);
            if kept.len() >= KEPT {
                kept.remove(0);
            }
            kept.push((exchange, reply));
        }
        kept.last().map(|(_, reply)| Rc::clone(reply))
    }
}

/// The sources for a text out of its places in one response, the best first. Each gives the text on the recorded response.
pub(crate) fn candidates(
    reply: &Reply<'_>,
    origins: &[&Origin],
    text: &str,
    known: &Known,
    text_of: &dyn Fn(&[Piece]) -> Option<String>,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let maker = Maker { reply, text, known, text_of };
    for origin in origins {
        for (finder, cost) in maker.finders(&origin.draft, &origin.changes) {
            let source = Source { finder, changes: origin.changes.clone() };
            let cost = cost + changes_cost(&origin.changes);
            if found.iter().any(|own| own.source == source) {
                continue;
            }
            found.push(Candidate { source, cost });
        }
    }
    found.sort_by_key(|candidate| candidate.cost);
    found.truncate(3 * CANDIDATES_MAX);
    found.retain(|own| find(&own.source, reply, text_of).as_deref() == Some(text));
    found.truncate(CANDIDATES_MAX);
    found
}

fn changes_cost(changes: &[Change]) -> u32 {
    changes
        .iter()
        .map(|change| match change {
            Change::Split(..) => 15,
            Change::Between(..) => 12,
            Change::Json(_) => 5,
            _ => 2,
        })
        .sum()
}

struct Maker<'a> {
    reply: &'a Reply<'a>,
    text: &'a str,
    known: &'a Known,
    text_of: &'a dyn Fn(&[Piece]) -> Option<String>,
}

impl Maker<'_> {
    /// Finders for a place, and how much speaks against each.
    fn finders(&self, draft: &Draft, changes: &[Change]) -> Vec<(Finder, u32)> {
        match draft {
            Draft::Field(_) | Draft::Attribute(..) | Draft::Text(_) => self
                .reply
                .document()
                .map(|document| self.in_document(document, draft, changes))
                .unwrap_or_default(),
            Draft::Json(path) => self
                .reply
                .json()
                .map(|json| self.paths(json, path))
                .unwrap_or_default()
                .into_iter()
                .map(|(path, cost)| (Finder::Json(path), cost))
                .collect(),
            Draft::Update(nth, inside) => self.in_update(*nth, inside.as_deref(), changes),
            Draft::Header(name) => vec![(Finder::Header(name.clone()), 8)],
            Draft::Cookie(name) => vec![(Finder::Cookie(name.clone()), 14)],
            Draft::Url => vec![(Finder::Url, 6)],
            Draft::Literal(at, size) => self.literal(*at, *size).into_iter().collect(),
            Draft::Whole => {
                let all = Finder::Between { left: String::new(), right: String::new(), nth: 0 };
                vec![(all, 10)]
            }
            Draft::Message(nth, path) => {
                let json = self.reply.messages.get(*nth).and_then(|text| Json::parse(text));
                self.inside(json.as_ref(), path.as_deref())
                    .into_iter()
                    .map(|(inside, cost)| (Finder::Message { nth: *nth, inside }, cost + 4))
                    .collect()
            }
            Draft::Event(nth, path) => {
                let json = self.reply.events.get(*nth).and_then(|text| Json::parse(text));
                self.inside(json.as_ref(), path.as_deref())
                    .into_iter()
                    .map(|(inside, cost)| (Finder::Event { nth: *nth, inside }, cost + 4))
                    .collect()
            }
        }
    }

    fn inside(
        &self,
        json: Option<&Json>,
        path: Option<&[PathStep]>,
    ) -> Vec<(Option<Box<Finder>>, u32)> {
        match (json, path) {
            (_, None) => vec![(None, 6)],
            (Some(json), Some(path)) => self
                .paths(json, path)
                .into_iter()
                .map(|(path, cost)| (Some(Box::new(Finder::Json(path))), cost))
                .collect(),
            (None, Some(_)) => Vec::new(),
        }
    }

    fn in_update(
        &self,
        nth: usize,
        inside: Option<&Draft>,
        changes: &[Change],
    ) -> Vec<(Finder, u32)> {
        let Some((id, text)) = updates(&self.reply.body).nth(nth) else { return Vec::new() };
        let id = update_id(id);
        let is_first =
            updates(&self.reply.body).position(|(own, _)| own.contains(&id)) == Some(nth);
        if !is_first {
            return Vec::new();
        }
        let Some(inside) = inside else {
            return vec![(Finder::Update { id, inside: None }, 0)];
        };
        let Ok(document) = Document::parse(text) else { return Vec::new() };
        self.in_document(&document, inside, changes)
            .into_iter()
            .map(|(finder, cost)| {
                (Finder::Update { id: id.clone(), inside: Some(Box::new(finder)) }, cost + 2)
            })
            .collect()
    }

    fn in_document(
        &self,
        document: &Document,
        draft: &Draft,
        changes: &[Change],
    ) -> Vec<(Finder, u32)> {
        let (node, attribute) = match draft {
            Draft::Field(node) | Draft::Text(node) => (*node, None),
            Draft::Attribute(node, name) => (*node, Some(name.as_str())),
            _ => return Vec::new(),
        };
        let whole = attribute.and_then(|name| document.attribute(node, name));
        let place = whole.and_then(|text| place_of(text, self.text, changes));
        let read = |node: NodeId| -> Option<String> {
            match draft {
                Draft::Field(_) => field_text(document, node),
                Draft::Text(_) => Some(document.text(node).trim().to_owned()),
                _ => document.attribute(node, attribute?).map(str::to_owned),
            }
        };
        let value_of = |node: NodeId| crate::change::change(read(node)?, changes, self.text_of);
        let wish = Wish {
            document,
            node,
            value: self.text,
            attribute: attribute
                .zip(whole)
                .map(|(name, text)| (name, text, place.clone().unwrap_or_default())),
            known: self.known,
            given: None,
            text_of: self.text_of,
            value_of: &value_of,
        };
        let kind = match draft {
            Draft::Field(_) => 0,
            Draft::Attribute(..) if document.tag(node) == "meta" => 0,
            Draft::Attribute(..) => 10,
            _ => 18,
        };
        wish.selectors()
            .into_iter()
            .map(|selected| {
                let cost = kind + selected_cost(&selected);
                let Selected { selector, nth, .. } = selected;
                let finder = match (draft, attribute) {
                    (Draft::Field(_), _) => Finder::Field { selector, nth },
                    (_, Some(attribute)) => {
                        Finder::Attribute { selector, nth, attribute: attribute.to_owned() }
                    }
                    _ => Finder::Text { selector, nth },
                };
                (finder, cost)
            })
            .collect()
    }

    /// Paths to a leaf: by the text of a member beside it, by index.
    fn paths(&self, json: &Json, path: &[PathStep]) -> Vec<(Vec<PathStep>, u32)> {
        let mut all = Vec::new();
        let mut by_index = 0;
        for (at, step) in path.iter().enumerate() {
            let PathStep::Index(index) = step else { continue };
            let Some(Json::Array(elements)) = json.at(&path[..at], self.text_of) else { continue };
            by_index += if elements.len() == 1 {
                6
            } else if *index == 0 {
                24
            } else {
                34
            };
            for (member, is_typed) in self.marks(elements, *index) {
                let mut path = path.to_vec();
                path[at] = member;
                all.push((path, if is_typed { 14 } else { 28 }));
            }
        }
        all.push((path.to_vec(), by_index));
        all.sort_by_key(|(_, cost)| *cost);
        all.truncate(3);
        all
    }

    /// Members that tell an element from the others of its array.
    fn marks(&self, elements: &[Json], index: usize) -> Vec<(PathStep, bool)> {
        const NAMES: [&str; 8] =
            ["name", "title", "label", "slug", "sku", "code", "username", "email"];
        let Some(Json::Object(members)) = elements.get(index) else { return Vec::new() };
        if elements.len() < 2 {
            return Vec::new();
        }
        let mut marks = Vec::new();
        for (key, value) in members {
            let Json::String(text) = value else { continue };
            if text == self.text || text.is_empty() || text.len() > 80 {
                continue;
            }
            let first = elements.iter().position(|element| {
                element.member(key).and_then(Json::text) == Some(text.as_str())
            });
            if first != Some(index) {
                continue;
            }
            let piece = self.known.get(text);
            let is_typed = matches!(piece, Some(Piece::Input(_)));
            let is_name = NAMES.contains(&key.to_ascii_lowercase().as_str());
            if is_typed || is_name {
                let is = vec![piece.cloned().unwrap_or_else(|| Piece::Literal(text.clone()))];
                marks.push((PathStep::Where { key: key.clone(), is }, is_typed));
            }
        }
        marks.sort_by_key(|(_, is_typed)| !is_typed);
        marks.truncate(1);
        marks
    }

    /// By the texts around it.
    fn literal(&self, at: usize, size: usize) -> Option<(Finder, u32)> {
        let body = self.reply.body.as_ref();
        let inside = body.get(at..at + size)?;
        let right: String = body.get(at + size..)?.chars().next().map(String::from)?;
        let line = body[..at].rfind('\n').map_or(0, |end| end + 1);
        let begins: Vec<usize> =
            body[line..at].char_indices().map(|(begin, _)| line + begin).rev().take(80).collect();
        let mut last = None;
        for begin in begins {
            let left = &body[begin..at];
            let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            let is_edge = !body[..begin].chars().next_back().is_some_and(is_word);
            if left.len() < 4 || !is_edge || left.starts_with(char::is_whitespace) {
                continue;
            }
            let holds = strength(left) == crate::values::Strength::Strong || left.contains(inside);
            if holds {
                break;
            }
            let nth = nth_between(body, left, at)?;
            last = Some((left, nth));
            if nth == 0 && memchr::memmem::find_iter(body.as_bytes(), left).take(2).count() == 1 {
                break;
            }
        }
        let (left, nth) = last?;
        let cost = if nth == 0 { 20 } else { 34 };
        Some((Finder::Between { left: left.to_owned(), right, nth }, cost))
    }
}

/// Which of the places behind `left` is this one.
fn nth_between(body: &str, left: &str, at: usize) -> Option<usize> {
    let mut nth = 0;
    let mut from = 0;
    loop {
        let begin = from + body.get(from..)?.find(left)? + left.len();
        if begin == at {
            return Some(nth);
        }
        if begin > at {
            return None;
        }
        nth += 1;
        from = begin;
    }
}

fn selected_cost(selected: &Selected) -> u32 {
    match selected {
        Selected { is_message: true, is_only: true, .. } => 2,
        Selected { is_message: true, .. } => 6,
        Selected { is_row: true, .. } => 14,
        Selected { is_only: true, selector, .. } => {
            let text: usize = selector
                .iter()
                .map(|piece| match piece {
                    Piece::Literal(text) if text.contains(":contains(") => 10,
                    Piece::Literal(text) if text.contains(":nth-child(") => 30,
                    _ => 0,
                })
                .sum();
            u32::try_from(text).unwrap_or(30)
        }
        Selected { nth, .. } => 36 + u32::from(*nth > 0) * 4,
    }
}

/// Where in an attribute's text the value is, as it is or encoded: the segment or the parameter that the changes mean.
fn place_of(text: &str, value: &str, changes: &[Change]) -> Option<Range<usize>> {
    let marks: &[u8] = match changes.first() {
        Some(Change::Segment(_)) => b"/",
        Some(Change::Parameter(_)) => b"=",
        _ => b"",
    };
    let encoded = url_encode(value);
    for wanted in [value, encoded.as_str()] {
        let found = text
            .match_indices(wanted)
            .map(|(at, _)| at)
            .find(|&at| marks.is_empty() || at > 0 && marks.contains(&text.as_bytes()[at - 1]));
        if let Some(at) = found {
            return Some(at..at + wanted.len());
        }
    }
    None
}

/// The part of an update's id that stays: `javax.faces.ViewState` of `j_id1:javax.faces.ViewState:0`.
pub(crate) fn update_id(id: &str) -> String {
    id.split(':')
        .find(|part| part.starts_with("javax.faces.") || part.starts_with("jakarta.faces."))
        .unwrap_or(id)
        .to_owned()
}
