//! Selectors that find an element again.

use brunt_html::{Document, NodeId, Selector};

use std::ops::Range;

use crate::change::url_encode;
use crate::plan::Piece;
use crate::values::{Strength, key_of, strength};
use crate::wanted::{Role, names_member_of};

/// Texts of rows and links longer than this are no marks.
const MARK_MAX: usize = 60;

/// Texts whose values the script knows when it looks for an element.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The longest first.
    entries: Vec<Entry>,
}

/// A known text.
#[derive(Debug)]
struct Entry {
    text: String,
    piece: Piece,
    strength: Strength,
    /// Its name where it is sent; a short number in a link is the same value only there.
    role: Role,
}

impl Entry {
    fn is_typed(&self) -> bool {
        matches!(self.piece, Piece::Input(_))
    }
}

impl Known {
    pub(crate) fn add(&mut self, text: &str, piece: Piece, role: Role) {
        let is_new = self.entries.iter().all(|own| own.text != text || own.role != role);
        if !text.is_empty() && is_new {
            let (text, strength) = (text.to_owned(), strength(text));
            let at = self.entries.partition_point(|own| own.text.len() >= text.len());
            self.entries.insert(at, Entry { text, piece, strength, role });
        }
    }

    pub(crate) fn get(&self, text: &str) -> Option<&Piece> {
        self.entries.iter().find(|own| own.text == text).map(|own| &own.piece)
    }

    /// The text with known texts in it as their pieces, where they are whole words; short numbers where the words before them
    /// tell that they are the same thing.
    pub(crate) fn pieces(&self, text: &str) -> Vec<Piece> {
        let mut pieces = vec![Piece::Literal(text.to_owned())];
        for own in &self.entries {
            if own.strength == Strength::Weak && own.text != text {
                continue;
            }
            pieces = pieces
                .into_iter()
                .flat_map(|piece| match piece {
                    Piece::Literal(text) => own.cut(&text),
                    other => vec![other],
                })
                .collect();
        }
        pieces
    }

    /// The longest typed text in this one.
    fn typed_in(&self, text: &str) -> Option<&Piece> {
        self.typed().find(|own| text.contains(own.text.as_str())).map(|own| &own.piece)
    }

    fn typed(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|own| own.is_typed() && own.text.len() >= 4)
    }

    /// Whether a text that the script sends as it is would hold what is another one for each user.
    fn is_varying(&self, literal: &str) -> bool {
        self.entries.iter().any(|own| {
            let is_long = own.strength == Strength::Strong
                || own.is_typed()
                    && own.text.len() >= 5
                    && (own.strength > Strength::Weak || own.text.contains(' '));
            is_long && literal.contains(own.text.as_str())
        }) || literal
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| strength(word) == Strength::Strong)
    }
}

impl Entry {
    /// A literal with all whole words that are this text as its piece.
    fn cut(&self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut literal = 0;
        for (at, _) in text.match_indices(self.text.as_str()) {
            let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let end = at + self.text.len();
            if at < literal
                || is_word(text[..at].chars().next_back())
                || is_word(text[end..].chars().next())
                || self.strength == Strength::Medium
                    && !self.is_typed()
                    && !self.is_behind(&text[..at])
            {
                continue;
            }
            if at > literal {
                pieces.push(Piece::Literal(text[literal..at].to_owned()));
            }
            pieces.push(self.piece.clone());
            literal = end;
        }
        if literal < text.len() {
            pieces.push(Piece::Literal(text[literal..].to_owned()));
        }
        pieces
    }

    /// Whether the text before a number says that it is this one: `/orders/`, `?id=`.
    fn is_behind(&self, before: &str) -> bool {
        let mark = before.chars().next_back();
        let word = before.trim_end_matches(['/', '=']).rsplit(['/', '?', '&', '=']).next();
        let word = key_of(word.unwrap_or_default());
        match mark {
            Some('/') if self.role.is_segment => word == self.role.key,
            Some('/') => names_member_of(&self.role.key, &word),
            Some('=') => {
                !self.role.is_segment && word == self.role.key
                    || names_member_of(&word, &self.role.key)
            }
            _ => false,
        }
    }
}

/// A selector, and which of its matches the element is.
#[derive(Debug, Clone)]
pub(crate) struct Selected {
    pub(crate) selector: Vec<Piece>,
    pub(crate) nth: usize,
    /// Whether it is the only match, or all matches give one value.
    pub(crate) is_only: bool,
    /// Whether a message of the page to the user holds it.
    pub(crate) is_message: bool,
    /// Whether typed text tells its row.
    pub(crate) is_row: bool,
}

/// An element to be found again.
pub(crate) struct Wish<'a> {
    pub(crate) document: &'a Document,
    pub(crate) node: NodeId,
    /// The value that will be taken from it: no selector may hold it. Empty if none is.
    pub(crate) value: &'a str,
    /// The attribute that holds the value, its text, and where in it the value is.
    pub(crate) attribute: Option<(&'a str, &'a str, Range<usize>)>,
    pub(crate) known: &'a Known,
    /// An attribute whose pieces are known: the action of a form that is sent.
    pub(crate) given: Option<(&'a str, Vec<Piece>)>,
    /// Gives the recorded text of pieces.
    pub(crate) text_of: &'a dyn Fn(&[Piece]) -> Option<String>,
    /// Gives the value of another match.
    pub(crate) value_of: &'a dyn Fn(NodeId) -> Option<String>,
}

impl Wish<'_> {
    /// Selectors for the element, the best first.
    pub(crate) fn selectors(&self) -> Vec<Selected> {
        let bases = self.bases();
        let mut found: Vec<Selected> = Vec::new();
        let message = self.message();
        if let Some(scope) = &message {
            for base in &bases {
                if let Some(selected) =
                    self.tried(below(scope, base)).filter(|it| it.is_only || it.nth == 0)
                {
                    found.push(Selected { is_message: true, ..selected });
                    break;
                }
            }
        }
        for base in &bases {
            if let Some(selected) = self.tried(base.clone()).filter(|selected| selected.is_only) {
                found.push(selected);
            }
        }
        if found.is_empty() {
            for scope in self.scopes() {
                let only = bases
                    .iter()
                    .filter_map(|base| self.tried(below(&scope, base)))
                    .find(|selected| selected.is_only);
                if let Some(selected) = only {
                    found.push(selected);
                    break;
                }
            }
        }
        let rows = self.rows();
        for (scope, is_typed) in rows {
            let best = bases
                .iter()
                .filter_map(|base| self.tried(below(&scope, base)))
                .find(|selected| selected.is_only || (is_typed && selected.nth == 0));
            if let Some(selected) = best {
                found.push(Selected { is_row: is_typed, ..selected });
            }
        }
        // An index of many is the last resort.
        let nth = bases.iter().filter_map(|base| self.tried(base.clone())).filter(|it| !it.is_only);
        found.extend(nth.min_by_key(|selected| selected.nth));
        if found.is_empty()
            && let Some(selected) = self.tried(vec![Piece::Literal(self.path())])
        {
            found.push(selected);
        }
        found
    }

    /// A selector with which the element is the only match: of a form.
    pub(crate) fn only(&self) -> Option<Vec<Piece>> {
        let found = self.selectors();
        found
            .iter()
            .filter(|selected| !selected.is_message)
            .find(|selected| selected.is_only)
            .or_else(|| found.iter().find(|selected| selected.is_row && selected.nth == 0))
            .map(|selected| selected.selector.clone())
            .or_else(|| {
                let path = vec![Piece::Literal(self.path())];
                self.tried(path)
                    .filter(|selected| selected.is_only)
                    .map(|selected| selected.selector)
            })
    }

    /// How often and where a selector matches; `None` if it does not match the element, or holds the value.
    fn tried(&self, selector: Vec<Piece>) -> Option<Selected> {
        let encoded = url_encode(self.value);
        let holds = |text: &str| {
            !self.value.is_empty() && (has_word(text, self.value) || has_word(text, &encoded))
                || self.known.is_varying(text)
        };
        if selector.iter().any(|piece| matches!(piece, Piece::Literal(text) if holds(text))) {
            return None;
        }
        let matches =
            Selector::new(&(self.text_of)(&selector)?).find(self.document, &[self.document.root()]);
        let nth = matches.iter().position(|&node| node == self.node)?;
        let is_same = |&node: &NodeId| {
            node == self.node
                || !self.value.is_empty() && (self.value_of)(node).as_deref() == Some(self.value)
        };
        let is_only = matches.len() == 1 || matches.len() <= 32 && matches.iter().all(is_same);
        let nth = if is_only { 0 } else { nth };
        Some(Selected { selector, nth, is_only, is_message: false, is_row: false })
    }

    /// Selectors by the element itself.
    fn bases(&self) -> Vec<Vec<Piece>> {
        let (document, node) = (self.document, self.node);
        let tag = document.tag(node);
        let mut bases = Vec::new();
        let attribute = |name: &str| document.attribute(node, name).filter(|text| !text.is_empty());
        let is_field = matches!(tag, "input" | "select" | "textarea" | "button");
        let names: &[&str] = match tag {
            "input" | "select" | "textarea" | "button" => &["name", "id"],
            "meta" => &["name", "property", "http-equiv", "id"],
            _ => &[
                "id",
                "data-testid",
                "data-test",
                "name",
                "rel",
                "itemprop",
                "aria-label",
                "title",
            ],
        };
        for name in names {
            if self.attribute.as_ref().is_some_and(|(own, ..)| own == name) {
                continue;
            }
            let Some(text) = attribute(name).filter(|text| is_mark(text)) else { continue };
            if *name == "name" && tag == "form" && attribute("id") == Some(text) {
                continue;
            }
            if *name == "id" && !is_stable(text) {
                continue;
            }
            bases.push(self.equals(tag, name, text));
        }
        if let Some((name, text, place)) = &self.attribute {
            bases.extend(self.around(tag, name, text, place));
        }
        if tag == "form"
            && let Some(action) = attribute("action")
        {
            bases.push(self.equals(tag, "action", action));
        }
        if tag == "form" {
            bases.extend(self.by_hidden());
        }
        if !is_field {
            for class in attribute("class").unwrap_or_default().split_ascii_whitespace() {
                if is_name(class) && is_stable(class) {
                    bases.push(vec![Piece::Literal(format!("{tag}.{class}"))]);
                }
            }
            if matches!(tag, "a" | "button" | "label") {
                let text = document.text(node);
                let text = text.trim();
                if is_mark(text) && !text.contains('\n') {
                    bases.push(self.contains(tag, text));
                }
            }
            let has = |name: &&str| document.has(node, name);
            if let Some((name, ..)) = self.attribute.as_ref().filter(|(name, ..)| has(name)) {
                bases.push(vec![Piece::Literal(format!("{tag}[{name}]"))]);
            }
        }
        if bases.is_empty() {
            bases.push(vec![Piece::Literal(tag.to_owned())]);
        }
        bases
    }

    fn equals(&self, tag: &str, name: &str, text: &str) -> Vec<Piece> {
        let mut known = match &self.given {
            Some((given, pieces)) if *given == name => pieces.clone(),
            _ => self.known.pieces(text),
        };
        // A host is another one when the script runs against another server.
        let mut mark = "";
        if let Some(Piece::Literal(first)) = known.first_mut()
            && let Some((_, rest)) = first.split_once("://")
            && let Some(at) = rest.find('/')
        {
            mark = "$";
            *first = rest[at..].to_owned();
        }
        let mut pieces = vec![Piece::Literal(format!("{tag}[{name}{mark}=\""))];
        pieces.extend(known.into_iter().map(escaped));
        pieces.push(Piece::Literal("\"]".to_owned()));
        joined(pieces)
    }

    fn contains(&self, tag: &str, text: &str) -> Vec<Piece> {
        let mut pieces = vec![Piece::Literal(format!("{tag}:contains(\""))];
        pieces.extend(self.known.pieces(text).into_iter().map(escaped));
        pieces.push(Piece::Literal("\")".to_owned()));
        joined(pieces)
    }

    /// By the texts before and after the value in its attribute.
    fn around(
        &self,
        tag: &str,
        name: &str,
        text: &str,
        place: &Range<usize>,
    ) -> Option<Vec<Piece>> {
        if place.is_empty() {
            return None;
        }
        let (left, right) = (text.get(..place.start)?, text.get(place.end..)?);
        // A host is another one when the script runs against another server.
        let (left, mark) =
            match left.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]))
            {
                Some(path) => (path, "*"),
                None => (left, "^"),
            };
        if left.len() + right.len() < 2 {
            return None;
        }
        let mut pieces = vec![Piece::Literal(tag.to_owned())];
        for (mark, part) in [(mark, left), ("$", right)] {
            if !part.is_empty() {
                pieces.push(Piece::Literal(format!("[{name}{mark}=\"")));
                pieces.extend(self.known.pieces(part).into_iter().map(escaped));
                pieces.push(Piece::Literal("\"]".to_owned()));
            }
        }
        Some(joined(pieces))
    }

    /// A form by a hidden field whose value the script knows.
    fn by_hidden(&self) -> Vec<Vec<Piece>> {
        let document = self.document;
        let mut found = Vec::new();
        for field in document.descendants(self.node) {
            if !document.is_element(field) || document.tag(field) != "input" {
                continue;
            }
            let (Some(name), Some(value)) =
                (document.attribute(field, "name"), document.attribute(field, "value"))
            else {
                continue;
            };
            let kind = document.attribute(field, "type").unwrap_or_default();
            let piece = self.known.get(value);
            if let Some(piece) = piece.filter(|_| kind == "hidden" && is_mark(name)) {
                found.push(joined(vec![
                    Piece::Literal(format!("form:has(input[name=\"{}\"][value=\"", quoted(name))),
                    piece.clone(),
                    Piece::Literal("\"])".to_owned()),
                ]));
            }
        }
        for field in document.descendants(self.node) {
            let is_field = document.is_element(field)
                && matches!(document.tag(field), "input" | "button" | "textarea" | "select");
            let name = document.attribute(field, "name").filter(|name| is_field && is_mark(name));
            if let Some(name) = name {
                let tag = document.tag(field);
                found.push(vec![Piece::Literal(format!(
                    "form:has({tag}[name=\"{}\"])",
                    quoted(name)
                ))]);
            }
        }
        found.truncate(8);
        found
    }

    /// The nearest element around it that holds a message to the user.
    fn message(&self) -> Option<Vec<Piece>> {
        const WORDS: [&str; 10] = [
            "message",
            "alert",
            "flash",
            "notice",
            "success",
            "toast",
            "growl",
            "notification",
            "snackbar",
            "feedback",
        ];
        let document = self.document;
        for node in document.ancestors(self.node).filter(|&node| document.is_element(node)).take(6)
        {
            let tag = document.tag(node);
            if matches!(tag, "body" | "html" | "main" | "table") {
                break;
            }
            let has_word = |text: &str| {
                let text = text.to_ascii_lowercase();
                WORDS.iter().any(|word| text.contains(word))
            };
            let classes = document.attribute(node, "class").unwrap_or_default();
            if let Some(class) = classes
                .split_ascii_whitespace()
                .find(|class| has_word(class) && is_name(class) && is_stable(class))
            {
                return Some(vec![Piece::Literal(format!("{tag}.{class}"))]);
            }
            if let Some(id) =
                document.attribute(node, "id").filter(|id| has_word(id) && is_stable(id))
            {
                return Some(self.equals(tag, "id", id));
            }
            if document
                .attribute(node, "role")
                .is_some_and(|role| role == "alert" || role == "status")
            {
                let role = document.attribute(node, "role").unwrap_or_default();
                return Some(self.equals(tag, "role", role));
            }
        }
        None
    }

    /// Elements around it that have a stable id, or the form.
    fn scopes(&self) -> Vec<Vec<Piece>> {
        let document = self.document;
        let mut scopes = Vec::new();
        for node in document.ancestors(self.node).filter(|&node| document.is_element(node)) {
            let tag = document.tag(node);
            if tag == "form" {
                let wish = Wish { node, value: "", attribute: None, given: None, ..*self };
                scopes.extend(wish.only());
            } else if let Some(id) = document.attribute(node, "id").filter(|id| is_stable(id)) {
                scopes.push(self.equals(tag, "id", id));
            }
        }
        scopes.truncate(4);
        scopes
    }

    /// Rows around it, told by a text; whether the user typed it.
    fn rows(&self) -> Vec<(Vec<Piece>, bool)> {
        let document = self.document;
        let mut typed = None;
        let mut plain = None;
        for node in document.ancestors(self.node).filter(|&node| document.is_element(node)).take(8)
        {
            let tag = document.tag(node);
            if matches!(tag, "body" | "html" | "table" | "tbody" | "ul" | "main") {
                break;
            }
            let class = document
                .attribute(node, "class")
                .unwrap_or_default()
                .split_ascii_whitespace()
                .find(|class| is_name(class) && is_stable(class));
            let head = match (tag, class) {
                ("tr" | "li" | "article" | "dl", _) => tag.to_owned(),
                (_, Some(class)) => format!("{tag}.{class}"),
                _ => continue,
            };
            if typed.is_none()
                && let Some(piece) = self.known.typed_in(&document.text(node))
            {
                typed = Some(vec![
                    Piece::Literal(format!("{head}:contains(\"")),
                    piece.clone(),
                    Piece::Literal("\")".to_owned()),
                ]);
            }
            if plain.is_none() {
                plain = document
                    .descendants(node)
                    .filter(|&inner| !document.is_element(inner))
                    .filter_map(|inner| document.value(inner))
                    .map(str::trim)
                    .find(|text| {
                        is_mark(text)
                            && strength(text) == Strength::Weak
                            && !self.known.is_varying(text)
                    })
                    .map(|text| {
                        vec![Piece::Literal(format!("{head}:contains(\"{}\")", quoted(text)))]
                    });
            }
        }
        let typed = typed.map(|row| (row, true));
        typed.into_iter().chain(plain.map(|row| (row, false))).collect()
    }

    /// By the place of each element around it among its siblings.
    fn path(&self) -> String {
        let document = self.document;
        let mut steps = Vec::new();
        let mut at = Some(self.node);
        while let Some(node) = at.filter(|&node| document.is_element(node)) {
            let tag = document.tag(node);
            if tag == "body" || tag == "html" {
                break;
            }
            let place =
                document.before(node).filter(|&other| document.is_element(other)).count() + 1;
            steps.push(format!("{tag}:nth-child({place})"));
            at = document.parent(node);
        }
        steps.reverse();
        steps.join(" > ")
    }
}

fn below(scope: &[Piece], inner: &[Piece]) -> Vec<Piece> {
    let mut pieces = scope.to_vec();
    pieces.push(Piece::Literal(" ".to_owned()));
    pieces.extend_from_slice(inner);
    joined(pieces)
}

/// Neighbouring literals as one.
pub(crate) fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut all: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (all.last_mut(), piece) {
            (_, Piece::Literal(text)) if text.is_empty() => {}
            (Some(Piece::Literal(last)), Piece::Literal(text)) => last.push_str(&text),
            (_, piece) => all.push(piece),
        }
    }
    all
}

fn escaped(piece: Piece) -> Piece {
    match piece {
        Piece::Literal(text) => Piece::Literal(quoted(&text)),
        other => other,
    }
}

/// For a string of CSS between double quotes.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Whether a text may tell an element from others.
fn is_mark(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MARK_MAX
        && !text.contains(['\n', '\r', '\\', '"'])
        && strength(text) != Strength::Strong
}

/// Whether an id or a class is the same whenever the page is made: no long numbers, nothing random.
fn is_stable(text: &str) -> bool {
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte.is_ascii_digit() { run + 1 } else { 0 };
        if run >= 4 {
            return false;
        }
    }
    is_mark(text)
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        && text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    })
}
