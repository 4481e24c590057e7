//! Forms of pages, and which request sends which.

use std::hash::{DefaultHasher, Hash, Hasher};

use brunt_html::{Document, NodeId, form};
use brunt_traffic::Recording;
use url::Url;

use crate::find::{field_text, updates};
use crate::plan::Place;
use crate::redirects::Chains;
use crate::reply::Reply;
use crate::request::{Spot, is_static};

/// Forms that are compared with a request, the newest first.
const COMPARED_MAX: usize = 2_000;

/// A form of a page.
#[derive(Debug)]
pub(crate) struct Form {
    /// The exchange whose response has it.
    pub(crate) exchange: usize,
    /// The number and the id of the update that it is in.
    pub(crate) update: Option<(usize, String)>,
    pub(crate) node: NodeId,
    action: Option<Url>,
    is_post: bool,
    controls: Vec<Control>,
}

/// A field of a form.
#[derive(Debug)]
struct Control {
    name: String,
    kind: Kind,
    text: Print,
}

/// Kinds of fields, as the script's user sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Hidden,
    Password,
    /// Text of any kind: names, mail addresses, dates, numbers.
    Text,
    /// A list.
    Choice,
    /// A box or a knob.
    Box,
    /// Pressed to send the form.
    Button,
    File,
}

/// A text's hash and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Print(u64, usize);

impl Print {
    /// Of a field that is not sent as it is: no text has it.
    const NEVER: Self = Self(0, usize::MAX);
    fn of(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self(hasher.finish(), text.len())
    }
}

/// A form that a request sends.
#[derive(Debug, Clone)]
pub(crate) struct Match {
    /// Its index among all forms.
    pub(crate) form: usize,
    /// Indices of fields whose values are the page's.
    pub(crate) from_page: Vec<usize>,
    /// For each spot of the request: the kind of its field.
    pub(crate) kinds: Vec<(Place, Kind)>,
}

impl Match {
    /// Whether the page gives the text at this place.
    pub(crate) fn has(&self, place: &Place) -> bool {
        match place {
            Place::Field(at) | Place::Part(at) | Place::Query(at) => {
                self.from_page.contains(at) && self.kinds.iter().any(|(own, _)| own == place)
            }
            _ => false,
        }
    }

    /// The text at this place is not taken from the page.
    pub(crate) fn leave_out(&mut self, place: &Place) {
        if let Place::Field(own) | Place::Part(own) | Place::Query(own) = place {
            self.from_page.retain(|at| at != own);
        }
    }

    /// The kind of the field whose text is at this place.
    pub(crate) fn kind(&self, place: &Place) -> Option<Kind> {
        self.kinds.iter().find(|(own, _)| own == place).map(|(_, kind)| *kind)
    }
}

/// All forms, in the order of exchanges.
#[derive(Debug, Default)]
pub(crate) struct Forms(pub(crate) Vec<Form>);

impl Forms {
    /// Reads the forms of all pages that the script sees.
    pub(crate) fn new(recording: &Recording, chains: &Chains) -> Self {
        let mut forms = Self::default();
        for (index, exchange) in recording.exchanges.iter().enumerate() {
            if !chains.is_seen(index) || is_static(exchange) {
                continue;
            }
            let Some(reply) = Reply::without_cookies(recording, index) else { continue };
            let body = reply.body.trim_start();
            if !body.starts_with('<') || !body.contains("<form") {
                continue;
            }
            if body.contains("<partial-response") {
                for (nth, (id, text)) in updates(&reply.body).enumerate() {
                    if text.contains("<form")
                        && let Ok(document) = Document::parse(text)
                    {
                        forms.read(&document, &exchange.request.url, index, Some((nth, id)));
                    }
                }
            } else if let Some(document) = reply.document() {
                forms.read(document, &exchange.request.url, index, None);
            }
        }
        forms
    }

    fn read(
        &mut self,
        document: &Document,
        url: &Url,
        exchange: usize,
        update: Option<(usize, &str)>,
    ) {
        for node in document.descendants(document.root()) {
            if !document.is_element(node) || document.tag(node) != "form" {
                continue;
            }
            let action = document.attribute(node, "action").unwrap_or_default();
            let mut action = url.join(action.trim()).ok();
            if let Some(url) = &mut action {
                url.set_fragment(None);
            }
            let is_post = document
                .attribute(node, "method")
                .is_some_and(|method| method.eq_ignore_ascii_case("post"));
            self.0.push(Form {
                exchange,
                update: update.map(|(nth, id)| (nth, id.to_owned())),
                node,
                action,
                is_post,
                controls: controls(document, node),
            });
        }
    }

    /// The form that a request sends: the newest of those that agree best with it.
    pub(crate) fn sent_by(
        &self,
        recording: &Recording,
        index: usize,
        spots: &[Spot],
    ) -> Option<Match> {
        let request = &recording.exchanges[index].request;
        let is_get = request.method == "GET";
        let fields: Vec<(&Place, usize, &Spot, Print)> = spots
            .iter()
            .filter_map(|spot| match (&spot.place, is_get) {
                (Place::Field(at) | Place::Part(at), false) | (Place::Query(at), true) => {
                    Some((&spot.place, *at, spot, Print::of(&spot.text)))
                }
                _ => None,
            })
            .collect();
        if fields.is_empty() {
            return None;
        }
        let until = self.0.partition_point(|form| form.exchange < index);
        let mut best: Option<((usize, usize, usize), usize)> = None;
        for at in (until.saturating_sub(COMPARED_MAX)..until).rev() {
            let Some(rank) = self.0[at].rank(&request.url, is_get, &fields) else { continue };
            if best.as_ref().is_none_or(|(own, _)| rank > *own) {
                best = Some((rank, at));
            }
        }
        let (_, at) = best?;
        Some(self.0[at].matched(at, &fields))
    }
}

impl Form {
    /// How well it agrees with a request; `None` if it is another one.
    fn rank(
        &self,
        url: &Url,
        is_get: bool,
        fields: &[(&Place, usize, &Spot, Print)],
    ) -> Option<(usize, usize, usize)> {
        let action = self.action.as_ref()?;
        let is_path = action.host_str() == url.host_str()
            && action.port_or_known_default() == url.port_or_known_default()
            && plain_path(action) == plain_path(url);
        let is_whole = is_path && (is_get || action.query() == url.query());
        if is_get && (self.is_post || !is_path) {
            return None;
        }
        let has = |name: &str| self.controls.iter().any(|control| control.name == name);
        let is_sent = |name: &str| fields.iter().any(|(_, _, spot, _)| spot.name == name);
        let shared = fields.iter().filter(|(_, _, spot, _)| has(&spot.name)).count();
        let hidden: Vec<&Control> = self
            .controls
            .iter()
            .filter(|control| control.kind == Kind::Hidden && control.text.1 > 0)
            .collect();
        let missing = hidden.iter().filter(|control| !is_sent(&control.name)).count();
        if shared == 0 || missing * 2 > hidden.len() || shared * 2 < fields.len() && !is_path {
            return None;
        }
        if !is_path && (missing > 0 || shared < 2 || hidden.is_empty()) {
            return None;
        }
        if !is_path && !self.is_post {
            return None;
        }
        let equal = |control: &&&Control| {
            fields
                .iter()
                .any(|(_, _, spot, print)| spot.name == control.name && *print == control.text)
        };
        let equal = hidden.iter().filter(equal).count();
        let ratio = if hidden.is_empty() { 1_000 } else { equal * 1_000 / hidden.len() };
        // Fields that the user saw and left as they were tell rows of alike forms.
        Some((usize::from(is_path), usize::from(is_whole) * 500 + ratio, shared))
    }

    fn matched(&self, form: usize, fields: &[(&Place, usize, &Spot, Print)]) -> Match {
        let mut found = Match { form, from_page: Vec::new(), kinds: Vec::new() };
        for (place, at, spot, print) in fields {
            let mut alike = self.controls.iter().filter(|control| control.name == spot.name);
            let Some(control) = alike.next() else { continue };
            let is_single = alike.next().is_none()
                && fields.iter().filter(|(_, _, other, _)| other.name == spot.name).count() == 1;
            found.kinds.push(((*place).clone(), control.kind));
            let is_plain = !matches!(control.kind, Kind::Password | Kind::Button | Kind::File);
            if is_single && is_plain && control.text == *print {
                found.from_page.push(*at);
            }
        }
        found
    }
}

/// A path without parameters in it: `/a;jsessionid=1` is `/a`.
fn plain_path(url: &Url) -> &str {
    let path = url.path();
    path.split_once(';').map_or(path, |(path, _)| path)
}

fn controls(document: &Document, form: NodeId) -> Vec<Control> {
    let mut controls = Vec::new();
    for node in document.descendants(form) {
        if !document.is_element(node)
            || document.has(node, "disabled")
            || document.has(node, "form")
        {
            continue;
        }
        let tag = document.tag(node);
        let kind = match tag {
            "select" => Kind::Choice,
            "textarea" => Kind::Text,
            "button" => Kind::Button,
            "input" => {
                match document
                    .attribute(node, "type")
                    .unwrap_or_default()
                    .to_ascii_lowercase()
                    .as_str()
                {
                    "hidden" => Kind::Hidden,
                    "password" => Kind::Password,
                    "checkbox" | "radio" => Kind::Box,
                    "submit" | "image" | "button" | "reset" => Kind::Button,
                    "file" => Kind::File,
                    _ => Kind::Text,
                }
            }
            _ => continue,
        };
        let Some(name) = document.attribute(node, "name").filter(|name| !name.is_empty()) else {
            continue;
        };
        let text = sent_text(document, node, kind).map_or(Print::NEVER, |text| Print::of(&text));
        controls.push(Control { name: name.to_owned(), kind, text });
    }
    controls
}

/// The text that a browser sends for a field that the user does not touch; `None` if it sends nothing, or several texts.
fn sent_text(document: &Document, node: NodeId, kind: Kind) -> Option<String> {
    match kind {
        Kind::Choice if document.has(node, "multiple") => None,
        Kind::Choice => {
            let options: Vec<NodeId> = form::options(document, node).collect();
            let chosen = options.iter().find(|&&option| document.has(option, "selected"));
            let option = *chosen.or_else(|| options.first())?;
            let value = document.attribute(option, "value").map(str::to_owned);
            Some(value.unwrap_or_else(|| document.text(option).trim().to_owned()))
        }
        Kind::Box => document.has(node, "checked").then(|| field_text(document, node)).flatten(),
        _ if document.tag(node) == "textarea" => {
            // Line ends are CR LF in what is sent.
            let text = document.text(node).replace("\r\n", "\n");
            Some(text.replace('\n', "\r\n"))
        }
        _ => field_text(document, node),
    }
}
