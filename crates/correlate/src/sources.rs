//! Where responses give the texts that are wanted.

use brunt_html::{Document, NodeId, form};
use brunt_traffic::Recording;

use crate::change::{parameters, segments};
use crate::cookies::Jar;
use crate::find::updates;
use crate::json::Json;
use crate::plan::{Change, PathStep};
use crate::redirects::Chains;
use crate::reply::Reply;
use crate::request::{is_static, name_of};
use crate::texts;
use crate::values::{is_number, key_of};
use crate::wanted::{Hint, Wanted};

/// Places of one text in one response, at the most; the rest is not looked at.
const PLACES_MAX: usize = 40;

/// Texts longer than this are not taken apart.
const TAKEN_APART_MAX: usize = 8 << 10;

/// A place of a text in a response.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) exchange: usize,
    pub(crate) draft: Draft,
    pub(crate) changes: Vec<Change>,
    /// The name of what holds it.
    pub(crate) name: String,
    is_segment: bool,
    is_parameter: bool,
    collection: String,
    /// Whether the response is that of a request that changed something.
    pub(crate) is_write: bool,
    /// Whether the script sees the response.
    pub(crate) is_seen: bool,
}

impl Origin {
    /// A text of a body, without a name.
    pub(crate) fn of_body(exchange: usize, draft: Draft) -> Self {
        Self {
            exchange,
            draft,
            changes: Vec::new(),
            name: String::new(),
            is_segment: false,
            is_parameter: false,
            collection: String::new(),
            is_write: false,
            is_seen: true,
        }
    }

    /// Its circumstances.
    pub(crate) fn hint(&self) -> Hint<'_> {
        Hint {
            name: &self.name,
            is_segment: self.is_segment,
            is_parameter: self.is_parameter,
            collection: &self.collection,
            is_write: self.is_write,
        }
    }
}

/// A finder before a selector is made for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Draft {
    /// The value of a field.
    Field(NodeId),
    Attribute(NodeId, String),
    /// Of an element.
    Text(NodeId),
    Json(Vec<PathStep>),
    /// `<update>` by its number, and what is in its HTML.
    Update(usize, Option<Box<Draft>>),
    Header(String),
    Cookie(String),
    Url,
    /// A literal of a script: where it begins in the body, and its size.
    Literal(usize, usize),
    /// The whole body.
    Whole,
    Message(usize, Option<Vec<PathStep>>),
    Event(usize, Option<Vec<PathStep>>),
}

/// The places of all wanted texts, by the texts' indices, in the order of exchanges.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) by_text: Vec<Vec<Origin>>,
}

impl Sources {
    /// Looks through all responses.
    pub(crate) fn new(recording: &Recording, chains: &Chains, wanted: &Wanted) -> Self {
        let mut look = Look {
            wanted,
            found: vec![Vec::new(); wanted.all.len()],
            exchange: 0,
            is_seen: true,
            is_write: false,
            collection: String::new(),
        };
        let mut jar = Jar::default();
        if wanted.is_empty() {
            return Self { by_text: look.found };
        }
        for index in 0..recording.exchanges.len() {
            look.at(recording, chains, &mut jar, index);
        }
        Self { by_text: look.found }
    }
}

/// The search through one response.
struct Look<'a> {
    wanted: &'a Wanted,
    found: Vec<Vec<Origin>>,
    exchange: usize,
    is_seen: bool,
    is_write: bool,
    collection: String,
}

impl Look<'_> {
    fn at(&mut self, recording: &Recording, chains: &Chains, jar: &mut Jar, index: usize) {
        let exchange = &recording.exchanges[index];
        jar.take(recording, index);
        let Some(response) = &exchange.response else { return };
        let first = &recording.exchanges[chains.first(index)];
        self.is_write = !matches!(first.request.method.as_str(), "GET" | "HEAD" | "OPTIONS");
        self.collection = collection(&exchange.request.url);
        self.exchange = chains.last(index);
        self.is_seen = true;
        for line in response.headers.all("set-cookie").flat_map(str::lines) {
            let Some((name, value)) = line.split(';').next().and_then(|pair| pair.split_once('='))
            else {
                continue;
            };
            let (name, value) = (name.trim(), value.trim());
            let is_kept = jar
                .of(&exchange.request.url)
                .any(|cookie| cookie.exchange == index && cookie.name == name);
            if is_kept {
                self.see_apart(value, name, &|| Draft::Cookie(name.to_owned()));
            }
        }
        self.exchange = index;
        self.is_seen = chains.is_seen(index);
        for (name, value) in response.headers.iter() {
            self.header(name, value);
        }
        if !self.is_seen {
            return;
        }
        if chains.folded[index].is_some() {
            self.link(exchange.request.url.as_str(), &[], &|| Draft::Url);
        }
        let is_script = response.headers.media_type().contains("javascript");
        if is_static(exchange) && (!is_script || is_constant(&response.headers)) {
            return;
        }
        let Some(reply) = Reply::without_cookies(recording, index) else { return };
        for (nth, message) in reply.messages.iter().enumerate() {
            self.message(message, &|path| Draft::Message(nth, path));
        }
        for (nth, event) in reply.events.iter().enumerate() {
            self.message(event, &|path| Draft::Event(nth, path));
        }
        self.body(&reply, is_script);
    }

    fn header(&mut self, name: &str, value: &str) {
        const PLAIN: [&str; 14] = [
            "set-cookie",
            "date",
            "content-length",
            "content-type",
            "content-security-policy",
            "cache-control",
            "expires",
            "server",
            "vary",
            "connection",
            "keep-alive",
            "transfer-encoding",
            "strict-transport-security",
            "content-encoding",
        ];
        let lower = name.to_ascii_lowercase();
        if PLAIN.contains(&lower.as_str()) || lower.starts_with("access-control-") {
            return;
        }
        self.see_apart(value, name, &|| Draft::Header(name.to_owned()));
    }

    fn message(&mut self, text: &str, draft: &dyn Fn(Option<Vec<PathStep>>) -> Draft) {
        match Json::parse(text).filter(|json| matches!(json, Json::Array(_) | Json::Object(_))) {
            Some(json) => json.leaves(&mut |path, leaf| {
                let text = leaf.text().unwrap_or_default();
                self.see_apart(text, name_of(path), &|| draft(Some(path.to_vec())));
            }),
            None => self.see_apart(text, "message", &|| draft(None)),
        }
    }

    fn body(&mut self, reply: &Reply<'_>, is_script: bool) {
        let body = reply.body.as_ref();
        let begin = texts::without_guard(body);
        if begin.is_empty() {
        } else if is_script {
            self.literals(body, &|at, size| (Draft::Literal(at, size), Vec::new()));
        } else if begin.starts_with(['{', '[', '"']) && reply.json().is_some() {
            if let Some(json) = reply.json() {
                self.json(json);
            }
        } else if begin.starts_with('<') {
            if body.contains("<partial-response") {
                self.partial(body);
            } else if let Some(document) = reply.document() {
                self.page(document, body);
            }
        } else if body.len() <= TAKEN_APART_MAX {
            self.see_apart(body, "", &|| Draft::Whole);
        }
    }

    fn json(&mut self, json: &Json) {
        json.leaves(&mut |path, leaf| {
            let text = leaf.text().unwrap_or_default();
            self.see_apart(text, name_of(path), &|| Draft::Json(path.to_vec()));
        });
    }

    fn partial(&mut self, body: &str) {
        for (nth, (id, text)) in updates(body).enumerate() {
            if text.trim_start().starts_with('<') {
                let Ok(document) = Document::parse(text) else { continue };
                self.elements(&document, None, &|draft| Draft::Update(nth, Some(Box::new(draft))));
            } else {
                self.see(text, Hint { name: id, ..Hint::default() }, &|| {
                    (Draft::Update(nth, None), Vec::new())
                });
            }
        }
    }

    fn page(&mut self, document: &Document, body: &str) {
        self.elements(document, Some(body), &|draft| draft);
    }

    fn elements(&mut self, document: &Document, body: Option<&str>, wrap: &dyn Fn(Draft) -> Draft) {
        let mut script_from = 0;
        for node in document.descendants(document.root()) {
            if !document.is_element(node) {
                continue;
            }
            self.element(document, node, wrap);
            let tag = document.tag(node);
            let mut children = document.children(node);
            let (Some(only), None) = (children.next(), children.next()) else { continue };
            let Some(text) = document.value(only).filter(|_| !document.is_element(only)) else {
                continue;
            };
            if tag == "script" {
                let is_data =
                    document.attribute(node, "type").is_some_and(|kind| kind.contains("json"));
                if is_data && let Some(json) = Json::parse(text.trim()) {
                    json.leaves(&mut |path, leaf| {
                        let hint = Hint { name: name_of(path), ..Hint::default() };
                        self.see(leaf.text().unwrap_or_default(), hint, &|| {
                            (wrap(Draft::Text(node)), vec![Change::Json(path.to_vec())])
                        });
                    });
                } else if let Some(body) = body
                    && let Some(at) = body.get(script_from..).and_then(|rest| rest.find(text))
                {
                    script_from += at;
                    let offset = script_from;
                    self.literals(text, &|at, size| {
                        (Draft::Literal(offset + at, size), Vec::new())
                    });
                }
            } else if tag != "style" && tag != "title" && text.len() <= 512 {
                let name =
                    document.attribute(node, "id").or_else(|| document.attribute(node, "class"));
                self.words(text.trim(), name.unwrap_or_default(), &|| wrap(Draft::Text(node)));
            }
        }
    }

    fn element(&mut self, document: &Document, node: NodeId, wrap: &dyn Fn(Draft) -> Draft) {
        let tag = document.tag(node);
        let is_field = matches!(tag, "input" | "textarea" | "select");
        let name = document
            .attribute(node, "name")
            .or_else(|| document.attribute(node, "property"))
            .or_else(|| document.attribute(node, "id"))
            .unwrap_or_default();
        if is_field
            && document
                .attribute(node, "type")
                .is_none_or(|kind| !kind.eq_ignore_ascii_case("password"))
            && let Some(form::Field::Text(text)) = form::value(document, node)
            && !text.is_empty()
        {
            self.see_apart(&text, name, &|| wrap(Draft::Field(node)));
        }
        for attribute in document.attributes(node) {
            let (own, value) = (attribute.name(), attribute.value());
            if value.is_empty()
                || matches!(
                    own,
                    "class"
                        | "style"
                        | "type"
                        | "method"
                        | "rel"
                        | "lang"
                        | "charset"
                        | "name"
                        | "for"
                )
                || (is_field && own == "value")
            {
                continue;
            }
            let draft = || wrap(Draft::Attribute(node, own.to_owned()));
            if own.starts_with("on") {
                self.literals(value, &|at, size| {
                    (draft(), around(value, at, size).into_iter().collect())
                });
                continue;
            }
            let hint = match own {
                "content" | "value" => name,
                _ => own.strip_prefix("data-").unwrap_or(own),
            };
            self.see_apart(value, hint, &draft);
        }
    }

    /// A text, and what it holds as a URL, as JSON, as a list.
    fn see_apart(&mut self, text: &str, name: &str, draft: &dyn Fn() -> Draft) {
        if text.is_empty() {
            return;
        }
        self.see(text, Hint { name, ..Hint::default() }, &|| (draft(), Vec::new()));
        if text.len() > TAKEN_APART_MAX {
            return;
        }
        if text.contains(['/', '?']) {
            self.link(text, &[], draft);
        }
        if Json::is_likely(text)
            && let Some(json) = Json::parse(text)
        {
            json.leaves(&mut |path, leaf| {
                let hint = Hint { name: name_of(path), ..Hint::default() };
                self.see(leaf.text().unwrap_or_default(), hint, &|| {
                    (draft(), vec![Change::Json(path.to_vec())])
                });
            });
            return;
        }
        for mark in ["|", ":", ",", ";", " ", "=", "."] {
            if mark == "." && !name.to_ascii_lowercase().contains("csrf") || !text.contains(mark) {
                continue;
            }
            for (index, part) in text.split(mark).enumerate().take(32) {
                if part.len() >= 6 {
                    self.see(part, Hint { name: "", ..Hint::default() }, &|| {
                        (draft(), vec![Change::Split(mark.to_owned(), index)])
                    });
                }
            }
        }
    }

    /// The parameters and segments of a URL.
    fn link(&mut self, text: &str, before: &[Change], draft: &dyn Fn() -> Draft) {
        let with = |change| {
            let mut changes = before.to_vec();
            changes.push(change);
            (draft(), changes)
        };
        if text.contains('=') {
            for (name, value) in parameters(text) {
                let hint = Hint { name: &name, is_parameter: true, ..Hint::default() };
                self.see(&value, hint, &|| with(Change::Parameter(name.clone())));
            }
        }
        if let Some((_, parameter)) = text.split_once(";jsessionid=") {
            let end = parameter.find(['?', '#', '/']).map(|at| parameter[at..=at].to_owned());
            let value = &parameter[..parameter.find(['?', '#', '/']).unwrap_or(parameter.len())];
            self.see(value, Hint { name: "jsessionid", ..Hint::default() }, &|| {
                with(Change::Between(";jsessionid=".to_owned(), end.clone().unwrap_or_default()))
            });
        }
        let mut last = String::new();
        let is_absolute = text.starts_with('/') || text.contains("://");
        for (index, segment) in segments(text).into_iter().enumerate() {
            if !segment.is_empty() {
                let hint = Hint { name: &last, is_segment: true, ..Hint::default() };
                // The segments of a relative path are counted from the page's: the texts around one tell it.
                let change = || {
                    let at = (!is_absolute).then(|| text.find(segment.as_str())).flatten();
                    at.and_then(|at| around(text, at, segment.len()))
                        .unwrap_or(Change::Segment(index))
                };
                self.see(&segment, hint, &|| with(change()));
            }
            last = segment;
        }
    }

    /// An element's text, and single words of it.
    fn words(&mut self, text: &str, name: &str, draft: &dyn Fn() -> Draft) {
        self.see(text, Hint { name, ..Hint::default() }, &|| (draft(), Vec::new()));
        if !text.contains(char::is_whitespace) {
            return;
        }
        let mut at = 0;
        let mut last = "";
        for word in text.split_whitespace() {
            let Some(found) = text[at..].find(word) else { break };
            let begin = at + found;
            at = begin + word.len();
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            if bare.is_empty() {
                continue;
            }
            let skipped = word.find(bare).unwrap_or_default();
            let left = format!("{last}{}", &text[begin - usize::from(begin > 0)..begin + skipped]);
            let right: String = text[begin + skipped + bare.len()..].chars().take(1).collect();
            let change =
                Change::Between(if begin + skipped == 0 { String::new() } else { left }, right);
            let is_right = match &change {
                Change::Between(left, right) => {
                    crate::change::between(text, left, right, 0) == Some(bare)
                }
                _ => false,
            };
            if is_right {
                self.see(
                    bare,
                    Hint { name: last.trim_end_matches(':'), ..Hint::default() },
                    &|| (draft(), vec![change.clone()]),
                );
            }
            last = word;
        }
    }

    /// The strings and numbers of a script.
    fn literals(&mut self, script: &str, make: &dyn Fn(usize, usize) -> (Draft, Vec<Change>)) {
        let bytes = script.as_bytes();
        let mut at = 0;
        let mut name = (0, 0);
        while at < bytes.len() {
            let byte = bytes[at];
            match byte {
                b'"' | b'\'' | b'`' => {
                    let Some(size) = string_size(&bytes[at + 1..], byte) else {
                        at += 1;
                        continue;
                    };
                    let inside = script.get(at + 1..at + 1 + size).unwrap_or_default();
                    let is_name = bytes[at + size + 2..]
                        .iter()
                        .find(|byte| !byte.is_ascii_whitespace())
                        .is_some_and(|&byte| byte == b':');
                    if is_name {
                        name = (at + 1, at + 1 + size);
                    } else {
                        let hint = script.get(name.0..name.1).unwrap_or_default();
                        self.literal(inside, hint, &|| make(at + 1, size));
                        name = (0, 0);
                    }
                    at += size + 2;
                }
                b'0'..=b'9' => {
                    let size =
                        bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
                    let text = script.get(at..at + size).unwrap_or_default();
                    if is_number(text) && name.1 > 0 {
                        let hint = script.get(name.0..name.1).unwrap_or_default();
                        self.literal(text, hint, &|| make(at, size));
                    }
                    at += size;
                }
                byte if byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' => {
                    let size = bytes[at..]
                        .iter()
                        .take_while(|byte| {
                            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
                        })
                        .count();
                    name = (at, at + size);
                    at += size;
                }

                b';' | b'}' | b',' => {
                    name = (0, 0);
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    fn literal(&mut self, inside: &str, name: &str, make: &dyn Fn() -> (Draft, Vec<Change>)) {
        if inside.is_empty() {
            return;
        }
        let hint = Hint { name, ..Hint::default() };
        self.see(inside, hint, make);
        if inside.contains('\\') {
            self.see(&crate::json::unescape(inside), hint, &|| {
                let (draft, mut changes) = make();
                changes.push(Change::JsonDecode);
                (draft, changes)
            });
        } else if inside.len() <= 2048 && inside.contains(['/', '?']) {
            let (draft, changes) = make();
            self.link(inside, &changes, &|| draft.clone());
        }
    }

    fn see(&mut self, text: &str, hint: Hint<'_>, make: &dyn Fn() -> (Draft, Vec<Change>)) {
        let hint = Hint { collection: &self.collection, is_write: self.is_write, ..hint };
        for (id, change) in self.wanted.look(text, hint) {
            let found = &mut self.found[id];
            let already =
                found.iter().rev().take_while(|origin| origin.exchange == self.exchange).count();
            if already >= PLACES_MAX {
                continue;
            }
            let (draft, mut changes) = make();
            changes.extend(change.cloned());
            if found
                .iter()
                .rev()
                .take(already)
                .any(|own| own.draft == draft && own.changes == changes)
            {
                continue;
            }
            found.push(Origin {
                exchange: self.exchange,
                draft,
                changes,
                name: hint.name.to_owned(),
                is_segment: hint.is_segment,
                is_parameter: hint.is_parameter,
                collection: self.collection.clone(),
                is_write: self.is_write,
                is_seen: self.is_seen,
            });
        }
    }
}

/// The change that finds a part of a text again by the texts around it.
fn around(text: &str, at: usize, size: usize) -> Option<Change> {
    let wanted = text.get(at..at + size)?;
    let right = text[at + size..].chars().next().map(String::from).unwrap_or_default();
    let begins = text[..at].char_indices().rev().map(|(begin, _)| begin);
    for begin in begins.take(60) {
        let left = &text[begin..at];
        if crate::change::between(text, left, &right, 0) == Some(wanted) {
            return Some(Change::Between(left.to_owned(), right));
        }
    }
    None
}

/// The size of a string literal's inside; `None` if it does not end on its line or is long.
fn string_size(bytes: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            b'\n' if quote != b'`' => return None,
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
        if at > 64 << 10 {
            return None;
        }
    }
}

/// Whether caches may keep a response for everybody: its texts are the application's, not the session's.
pub(crate) fn is_constant(headers: &brunt_traffic::Headers) -> bool {
    let cache = headers.get("cache-control").unwrap_or_default().to_ascii_lowercase();
    if cache.contains("no-store") || cache.contains("private") {
        return false;
    }
    cache.contains("immutable")
        || cache.contains("max-age=") && !cache.contains("max-age=0")
        || headers.get("last-modified").is_some()
        || headers.get("etag").is_some()
}

/// The normalized last word of a URL's path that is no id: `orders` of `/api/orders/7`.
fn collection(url: &url::Url) -> String {
    let Some(mut segments) = url.path_segments() else { return String::new() };
    segments
        .rfind(|segment| !segment.is_empty() && !segment.bytes().any(|byte| byte.is_ascii_digit()))
        .map(key_of)
        .unwrap_or_default()
}
