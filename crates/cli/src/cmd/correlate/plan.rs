//! The plan of one recording, for people and for programs. No value of a token is shown.

use brunt_correlate::{Change, Finder, MadeKind, PathStep, Piece, Place, Plan, Source};
use brunt_traffic::Recording;
use serde_json::{Value, json};

/// A plan and its recording.
pub(super) struct Told<'a> {
    pub(super) recording: &'a Recording,
    pub(super) plan: &'a Plan,
}

impl Told<'_> {
    /// For people.
    pub(super) fn text(&self, color: bool) -> String {
        let paint = |code: &str, text: &str| {
            if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
        };
        let mut out = String::new();
        let mut add = |line: String| {
            out.push_str(&line);
            out.push('\n');
        };
        add(format!("{} requests; {}", self.recording.exchanges.len(), self.counts()));
        if !self.plan.extractions.is_empty() {
            add(paint("1", "Taken from responses"));
        }
        for (index, extraction) in self.plan.extractions.iter().enumerate() {
            let source = extraction.source();
            let others = match extraction.candidates.len() - 1 {
                0 => String::new(),
                1 => " (or 1 other place)".to_owned(),
                more => format!(" (or {more} other places)"),
            };
            add(format!("  {}: {}{others}", paint("36", &extraction.name), of_source(source)));
            add(format!("    from {}", self.exchange(extraction.exchange)));
            for line in self.uses(
                |piece| matches!(piece, Piece::Value { extraction, .. } if *extraction == index),
            ) {
                add(format!("    to   {line}"));
            }
        }
        if !self.plan.forms.is_empty() {
            add(paint("1", "Forms filled from their pages"));
        }
        for form in &self.plan.forms {
            add(format!("  {} of {}", pieces(&form.selector), self.exchange(form.page)));
            add(format!(
                "    to   {}: {} fields as in the page",
                self.exchange(form.exchange),
                form.from_page.len()
            ));
        }
        if !self.plan.made.is_empty() {
            add(paint("1", "Made anew"));
        }
        for (index, made) in self.plan.made.iter().enumerate() {
            add(format!("  {}: {}", paint("36", &made.name), of_kind(&made.kind)));
            for line in self.uses(|piece| *piece == Piece::Made(index)) {
                add(format!("    to   {line}"));
            }
        }
        if !self.plan.inputs.is_empty() {
            add(paint("1", "Typed by the user"));
        }
        for (index, input) in self.plan.inputs.iter().enumerate() {
            add(format!("  {}: {:?}", paint("36", &input.name), short(&input.recorded)));
            for line in self.uses(|piece| *piece == Piece::Input(index)) {
                add(format!("    to   {line}"));
            }
        }
        if !self.plan.secrets.is_empty() {
            add(paint("1", "Secrets"));
        }
        for (index, secret) in self.plan.secrets.iter().enumerate() {
            add(format!("  {}", paint("36", &secret.name)));
            for line in self.uses(|piece| *piece == Piece::Secret(index)) {
                add(format!("    to   {line}"));
            }
        }
        if !self.plan.suspects.is_empty() {
            add(paint("1;33", "Look like tokens, and no response gave them"));
        }
        for suspect in &self.plan.suspects {
            add(format!("  {}: {}", suspect.name, suspect.why));
            add(format!(
                "    to   {}, {}",
                self.exchange(suspect.exchange),
                of_place(&suspect.place)
            ));
        }
        out
    }

    fn counts(&self) -> String {
        let plan = self.plan;
        format!(
            "{} values taken from responses, {} forms, {} made anew, {} typed, {} secret, {} unexplained",
            plan.extractions.len(),
            plan.forms.len(),
            plan.made.len(),
            plan.inputs.len(),
            plan.secrets.len(),
            plan.suspects.len()
        )
    }

    /// Requests and places with such a piece.
    fn uses(&self, is_meant: impl Fn(&Piece) -> bool) -> Vec<String> {
        /// More of them are counted.
        const MOST: usize = 5;
        let meant = self.plan.substitutions.iter().filter(|one| one.pieces.iter().any(&is_meant));
        let mut lines: Vec<String> = meant
            .map(|one| format!("{}, {}", self.exchange(one.exchange), of_place(&one.place)))
            .collect();
        let more = lines.len().saturating_sub(MOST);
        lines.truncate(MOST);
        if more > 0 {
            lines.push(format!("{more} more"));
        }
        lines
    }

    /// A request, by its number in the file.
    pub(super) fn exchange(&self, index: usize) -> String {
        let Some(exchange) = self.recording.exchanges.get(index) else {
            return format!("request {index}");
        };
        let path = brunt_prove::shown(&exchange.request.url);
        let status =
            exchange.response.as_ref().map_or(String::new(), |one| format!(" ({})", one.status));
        format!("#{} {} {path}{status}", exchange.number + 1, exchange.request.method)
    }

    /// For programs.
    pub(super) fn json(&self) -> String {
        let entry = |index: usize| self.recording.exchanges.get(index).map(|one| one.number + 1);
        let uses = |is_meant: &dyn Fn(&Piece) -> bool| -> Vec<Value> {
            let meant =
                self.plan.substitutions.iter().filter(|one| one.pieces.iter().any(is_meant));
            meant
                .map(|one| json!({"entry": entry(one.exchange), "place": of_place(&one.place)}))
                .collect()
        };
        let extractions = self.plan.extractions.iter().enumerate().map(|(index, one)| {
            json!({
                "name": one.name,
                "entry": entry(one.exchange),
                "source": of_source(one.source()),
                "candidates": one.candidates.iter().map(of_source).collect::<Vec<_>>(),
                "uses": uses(&|piece| matches!(piece, Piece::Value { extraction, .. } if *extraction == index)),
            })
        });
        let forms = self.plan.forms.iter().map(|one| {
            json!({
                "entry": entry(one.exchange),
                "page": entry(one.page),
                "selector": pieces(&one.selector),
                "fields": one.from_page.len(),
            })
        });
        let made = self.plan.made.iter().enumerate().map(|(index, one)| {
            json!({"name": one.name, "kind": of_kind(&one.kind), "uses": uses(&|piece| *piece == Piece::Made(index))})
        });
        let inputs = self.plan.inputs.iter().enumerate().map(|(index, one)| {
            json!({"name": one.name, "uses": uses(&|piece| *piece == Piece::Input(index))})
        });
        let secrets = self.plan.secrets.iter().enumerate().map(|(index, one)| {
            json!({"name": one.name, "uses": uses(&|piece| *piece == Piece::Secret(index))})
        });
        let suspects = self.plan.suspects.iter().map(|one| {
            json!({"name": one.name, "why": one.why, "entry": entry(one.exchange), "place": of_place(&one.place)})
        });
        let whole = json!({
            "requests": self.recording.exchanges.len(),
            "extractions": extractions.collect::<Vec<_>>(),
            "forms": forms.collect::<Vec<_>>(),
            "made": made.collect::<Vec<_>>(),
            "inputs": inputs.collect::<Vec<_>>(),
            "secrets": secrets.collect::<Vec<_>>(),
            "unexplained": suspects.collect::<Vec<_>>(),
        });
        let mut text = serde_json::to_string_pretty(&whole).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn short(text: &str) -> String {
    let mut out: String = text.chars().take(40).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

pub(super) fn pieces(pieces: &[Piece]) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Literal(text) => text.clone(),
        _ => "…".to_owned(),
    };
    pieces.iter().map(text).collect()
}

fn nth(nth: usize) -> String {
    if nth == 0 { String::new() } else { format!(" ({}. match)", nth + 1) }
}

pub(super) fn of_source(source: &Source) -> String {
    let changes = source.changes.iter().map(|change| format!(", then {}", of_change(change)));
    of_finder(&source.finder) + &changes.collect::<String>()
}

fn of_finder(finder: &Finder) -> String {
    let inner = |inside: &Option<Box<Finder>>| {
        inside.as_ref().map_or(String::new(), |inside| format!("{} in ", of_finder(inside)))
    };
    match finder {
        Finder::Field { selector, nth: at } => format!("field {}{}", pieces(selector), nth(*at)),
        Finder::Attribute { selector, nth: at, attribute } => {
            format!("attribute {attribute} of {}{}", pieces(selector), nth(*at))
        }
        Finder::Text { selector, nth: at } => format!("text of {}{}", pieces(selector), nth(*at)),
        Finder::Json(path) => format!("JSON {}", of_path(path)),
        Finder::Update { id, inside } => format!("{}update {id}", inner(inside)),
        Finder::Header(name) => format!("header {name}"),
        Finder::Cookie(name) => format!("cookie {name}"),
        Finder::Url => "URL of the response".to_owned(),
        Finder::Between { left, right, nth: at } => {
            format!("text between {:?} and {:?}{}", short(left), short(right), nth(*at))
        }
        Finder::Message { nth, inside } => format!("{}message {}", inner(inside), nth + 1),
        Finder::Event { nth, inside } => format!("{}event {}", inner(inside), nth + 1),
    }
}

fn of_path(path: &[PathStep]) -> String {
    let step = |step: &PathStep| match step {
        PathStep::Key(key) => format!(".{key}"),
        PathStep::Index(index) => format!("[{index}]"),
        PathStep::Where { key, is } => format!("[{key} = {}]", pieces(is)),
    };
    let steps: Vec<String> = path.iter().map(step).collect();
    format!("${}", steps.concat())
}

fn of_change(change: &Change) -> String {
    match change {
        Change::Between(left, right) => format!("between {:?} and {:?}", short(left), short(right)),
        Change::Split(by, index) => format!("part {} of those that {by:?} divides", index + 1),
        Change::Parameter(name) => format!("parameter {name}"),
        Change::Segment(index) => format!("segment {}", index + 1),
        Change::Json(path) => format!("JSON {}", of_path(path)),
        Change::UrlDecode => "URL-decoded".to_owned(),
        Change::UrlEncode => "URL-encoded".to_owned(),
        Change::HtmlDecode => "without HTML entities".to_owned(),
        Change::JsonDecode => "without JSON escapes".to_owned(),
        Change::JsonEncode => "with JSON escapes".to_owned(),
        Change::Base64Decode | Change::Base64UrlDecode => "base64-decoded".to_owned(),
        Change::Base64Encode | Change::Base64UrlEncode => "base64-encoded".to_owned(),
        Change::Around(..) => "joined with other texts".to_owned(),
    }
}

pub(super) fn of_kind(kind: &MadeKind) -> String {
    match kind {
        MadeKind::Uuid => "a random UUID".to_owned(),
        MadeKind::Milliseconds => "milliseconds since 1970".to_owned(),
        MadeKind::Seconds => "seconds since 1970".to_owned(),
        MadeKind::Timestamp => "the time in RFC 3339".to_owned(),
        MadeKind::Hex(size) => format!("{size} random hexadecimal digits"),
        MadeKind::Base64Url(size) => format!("{size} random letters of base64url"),
        MadeKind::Alphanumeric(size) => format!("{size} random letters and digits"),
        MadeKind::Digits(size) => format!("{size} random digits"),
        MadeKind::PkceChallenge(_) => "the challenge of a PKCE verifier".to_owned(),
    }
}

pub(super) fn of_place(place: &Place) -> String {
    match place {
        Place::Url => "URL".to_owned(),
        Place::Segment(index) => format!("segment {} of the path", index + 1),
        Place::Query(index) => format!("parameter {} of the query", index + 1),
        Place::Header(index) => format!("header {}", index + 1),
        Place::Cookie(name) => format!("cookie {name}"),
        Place::Field(index) => format!("field {} of the form", index + 1),
        Place::Part(index) => format!("part {} of the form", index + 1),
        Place::Json(path) => format!("JSON {}", of_path(path)),
        Place::Body => "body".to_owned(),
        Place::Message(index) => format!("message {}", index + 1),
        Place::MessageJson(index, path) => format!("message {}, JSON {}", index + 1, of_path(path)),
    }
}
