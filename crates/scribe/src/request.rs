//! Requests: calls of `k6/http`, their parameters, and what is done with their answers.

use brunt_correlate::plan::{Finder, Piece, Place};

use crate::code::{Entry, Expr, Statement};
use crate::page;
use crate::session::Kind;
use crate::text::{in_comment, key, quoted};
use crate::value::{self, Answer};
use crate::writer::{Address, Writer};
use crate::{body, form, headers};

/// Statuses that lead elsewhere.
pub(crate) const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// The names of the constants with common headers.
pub(crate) fn headers_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Page => "pageHeaders",
        Kind::Resource => "resourceHeaders",
        _ => "fetchHeaders",
    }
}

impl Writer<'_> {
    /// Sends an exchange, checks the answer and takes values from it. `setting` is `let res = ` and its like.
    pub(crate) fn request(&mut self, index: usize, setting: &str) -> Vec<Statement> {
        let mut out = self.cookies(index);
        out.extend(self.made_values(index));
        let exchange = self.exchange(index);
        let address = self.address(index);
        let body = body::of(self, index, &mut out);
        let params = self.params(index, &address, body.content_type);
        let url = Expr::raw(address.code);
        let method = exchange.request.method.as_str();
        let (callee, mut arguments) = match (method, &body.content) {
            ("GET", None) => ("http.get", vec![url]),
            ("HEAD", None) => ("http.head", vec![url]),
            ("POST", _) => ("http.post", vec![url]),
            ("PUT", _) => ("http.put", vec![url]),
            ("PATCH", _) => ("http.patch", vec![url]),
            ("DELETE", _) => ("http.del", vec![url]),
            ("OPTIONS", _) => ("http.options", vec![url]),
            _ => ("http.request", vec![Expr::raw(quoted(method)), url]),
        };
        self.needs.add("import:http");
        if !matches!(callee, "http.get" | "http.head")
            && (body.content.is_some() || params.is_some())
        {
            arguments.push(body.content.unwrap_or_else(|| Expr::raw("null")));
        }
        arguments.extend(params);
        let call = Expr::Call(callee.to_owned(), arguments);
        out.push(Statement::Line(setting.to_owned(), Expr::Marked(index, Box::new(call))));
        out.push(self.checks(index));
        out.extend(self.extractions(index, Answer { res: "res", heard: "eventData(res.body)" }));
        out.extend(form::readings(self, index));
        out
    }

    /// Cookies that no answer set.
    pub(crate) fn cookies(&mut self, index: usize) -> Vec<Statement> {
        let mut out = Vec::new();
        for own in self.substitutions(index) {
            let Place::Cookie(name) = &own.place else { continue };
            let text =
                value::text(&own.pieces, value::Encoding::Plain, &self.variables, &mut self.needs);
            let server = self.origins.name(&self.exchange(index).request.url);
            let call = format!("http.cookieJar().set({server}, {}, {text})", quoted(name));
            self.needs.add("import:http");
            out.push(Statement::Line(String::new(), Expr::raw(call)));
        }
        out
    }

    /// The values that the client makes before this request.
    pub(crate) fn made_values(&mut self, index: usize) -> Vec<Statement> {
        let due: Vec<usize> = self
            .variables
            .made_before
            .iter()
            .filter(|(_, before)| **before == index)
            .map(|(made, _)| *made)
            .collect();
        let mut out = Vec::new();
        // A challenge comes after its verifier.
        let is_challenge = |made: &&usize| {
            matches!(self.plan.made[**made].kind, brunt_correlate::plan::MadeKind::PkceChallenge(_))
        };
        let (late, early): (Vec<&usize>, Vec<&usize>) = due.iter().partition(is_challenge);
        for &made in early.into_iter().chain(late) {
            let code = value::made(&self.plan.made[made], &self.variables, &mut self.needs);
            let setting = self.variables.setting(self.variables.made(made));
            out.push(Statement::Line(setting, Expr::raw(code)));
        }
        out
    }

    /// The parameters of a call; none if there is nothing to say.
    fn params(
        &mut self,
        index: usize,
        address: &Address,
        content_type: Option<String>,
    ) -> Option<Expr> {
        let mut entries = Vec::new();
        entries.extend(self.headers(index, content_type));
        let status = self.status(index);
        if REDIRECTS.contains(&status) {
            entries.push(Entry::Prop("redirects".to_owned(), Expr::raw("0")));
        }
        if status >= 400 {
            let call = if self.is_refusal_of_age(index) {
                format!("http.expectedStatuses({{ min: 200, max: 299 }}, {status})")
            } else {
                format!("http.expectedStatuses({status})")
            };
            entries.push(Entry::Prop("responseCallback".to_owned(), Expr::raw(call)));
        }
        if address.is_dynamic {
            let label = self.metric_name(address);
            let name = Entry::Prop("name".to_owned(), Expr::raw(quoted(&label)));
            entries.push(Entry::Prop("tags".to_owned(), Expr::Object(vec![name])));
        }
        (!entries.is_empty()).then_some(Expr::Object(entries))
    }

    /// The headers of a call, as far as they are not in common with others.
    pub(crate) fn headers(&mut self, index: usize, content_type: Option<String>) -> Option<Entry> {
        let kind = self.session.kinds[index];
        let shared = self.common_headers(kind);
        let mut own = Vec::new();
        for header in headers::of(self.exchange(index), index, kind, self.plan) {
            if header.name == "Content-Type" {
                continue;
            }
            let is_common = header.pieces.is_none()
                && (self.common.value(kind, &header.name) == Some(&header.value)
                    || kind == Kind::Resource && header.is_harmless());
            if is_common {
                continue;
            }
            let code = match (&header.pieces, header.name.as_str()) {
                (Some(pieces), _) => {
                    value::text(pieces, value::Encoding::Plain, &self.variables, &mut self.needs)
                }
                (None, "Referer") => self.referer(&header.value),
                (None, _) => self.literal(&header.value),
            };
            own.push(Entry::Prop(key(&header.name), Expr::raw(code)));
        }
        if let Some(code) = content_type {
            own.push(Entry::Prop(key("Content-Type"), Expr::raw(code)));
        }
        match (shared, own.is_empty()) {
            (None, true) => None,
            (Some("headers"), true) => Some(Entry::Short("headers".to_owned())),
            (Some(shared), true) => Some(Entry::Prop("headers".to_owned(), Expr::raw(shared))),
            (shared, false) => {
                let mut entries: Vec<Entry> =
                    shared.map(|shared| Entry::Short(format!("...{shared}"))).into_iter().collect();
                entries.extend(own);
                Some(Entry::Prop("headers".to_owned(), Expr::Object(entries)))
            }
        }
    }

    /// The constant with the headers of this kind.
    pub(crate) fn common_headers(&self, kind: Kind) -> Option<&'static str> {
        let has_own = self.common.kinds.get(&kind).is_some_and(|own| !own.is_empty());
        if has_own {
            Some(headers_name(kind))
        } else {
            (!self.common.all.is_empty()).then_some("headers")
        }
    }

    /// The page that a request came from. Servers look at its origin; ids in it are those of the recording, so that they are left out.
    fn referer(&mut self, url: &str) -> String {
        let shows_value = |text: &str| text.len() > 2 && url.contains(text);
        let is_of_session = self.plan.extractions.iter().any(|own| shows_value(&own.recorded))
            || self.plan.inputs.iter().any(|own| shows_value(&own.recorded));
        let decoded = brunt_traffic::form::decode(url);
        let is_of_session = is_of_session || self.variables.shows_secret(decoded.as_bytes());
        let whole = url.split('?').next().unwrap_or_default();
        match self.origins.split(url) {
            Some((name, _)) if is_of_session => format!("`${{{name}}}/`"),
            _ => self.literal(whole),
        }
    }

    /// The status that is expected in the end.
    pub(crate) fn status(&self, index: usize) -> u16 {
        let status = self.answer(index).response.as_ref().map_or(200, |response| response.status);
        let asks = ["if-none-match", "if-modified-since"];
        let is_conditional =
            self.exchange(index).request.headers.iter().enumerate().any(|(at, (name, _))| {
                asks.contains(&name.to_ascii_lowercase().as_str())
                    && self.pieces(index, &Place::Header(at)).is_some()
            });
        if status == 304 && !is_conditional { 200 } else { status }
    }

    /// The status, and a text that proves the answer.
    fn checks(&mut self, index: usize) -> Statement {
        let status = self.status(index);
        let label = self.label(index);
        let answered = self.answer(index).response.is_some();
        let lenient = if !answered {
            Some((
                format!("{label} succeeds"),
                "(r) => r.status >= 200 && r.status < 400".to_owned(),
            ))
        } else if self.is_refusal_of_age(index) {
            let test =
                format!("(r) => r.status === {status} || (r.status >= 200 && r.status < 300)");
            Some((format!("{label} is {status}, or succeeds while the token is young"), test))
        } else {
            None
        };
        self.needs.add("import:check");
        if let Some((name, test)) = lenient {
            let entry = Entry::Prop(key(&name), Expr::raw(test));
            let call =
                Expr::Call("check".to_owned(), vec![Expr::raw("res"), Expr::Object(vec![entry])]);
            return Statement::Line(String::new(), call);
        }
        let mut entries = vec![Entry::Prop(
            key(&format!("{label} is {status}")),
            Expr::raw(format!("(r) => r.status === {status}")),
        )];
        let has_text = self.exchange(index).request.method != "HEAD";
        if let Some((name, test)) = page::proof(self.plan, self.answer(index)).filter(|_| has_text)
        {
            entries.push(Entry::Prop(key(&in_comment(&name)), Expr::raw(test)));
        }
        let call = Expr::Call("check".to_owned(), vec![Expr::raw("res"), Expr::Object(entries)]);
        Statement::Line(String::new(), call)
    }

    /// Whether a token that an answer had given was refused when it was recorded: it was too old by then. A script with shorter pauses
    /// is not refused.
    fn is_refusal_of_age(&self, index: usize) -> bool {
        let takes_token = |piece: &Piece| matches!(piece, Piece::Value { .. });
        let headers = &self.exchange(index).request.headers;
        self.status(index) == 401
            && headers.iter().enumerate().any(|(at, (name, _))| {
                let pieces = self.pieces(index, &Place::Header(at)).unwrap_or_default();
                name.eq_ignore_ascii_case("authorization") && pieces.iter().any(takes_token)
            })
    }

    /// Takes the values that an answer gives and later requests send.
    pub(crate) fn extractions(&mut self, index: usize, answer: Answer<'_>) -> Vec<Statement> {
        let last = self.session.last[index];
        let due: Vec<usize> = self
            .variables
            .used
            .iter()
            .copied()
            .filter(|&own| [index, last].contains(&self.plan.extractions[own].exchange))
            .collect();
        due.into_iter().flat_map(|own| self.extraction(own, index, answer)).collect()
    }

    /// Takes one value.
    pub(crate) fn extraction(
        &mut self,
        own: usize,
        index: usize,
        answer: Answer<'_>,
    ) -> [Statement; 2] {
        let extraction = &self.plan.extractions[own];
        let source = extraction.source();
        if matches!(source.finder, Finder::Event { .. }) && answer.heard.starts_with("eventData") {
            self.needs.add("eventData");
        }
        self.needs.add("found");
        let code =
            value::source(source, &extraction.recorded, answer, &self.variables, &mut self.needs);
        let label = self.label(index);
        let place = self.variables.hidden(&place_of(&source.finder));
        let name = self.variables.extraction(own);
        let call = format!("found({}, () => {code})", quoted(name));
        [
            Statement::Comment(in_comment(&format!("From the answer to {label}: {place}."))),
            Statement::Line(self.variables.setting(name), Expr::raw(call)),
        ]
    }
}

/// Where a value is, in words.
fn place_of(finder: &Finder) -> String {
    let plain = |pieces: &[Piece]| {
        let text =
            pieces.iter().map(|piece| if let Piece::Literal(text) = piece { text } else { "…" });
        text.collect::<String>()
    };
    let numbered =
        |nth: usize| if nth == 0 { String::new() } else { format!(", number {}", nth + 1) };
    let inside = |inside: &Option<Box<Finder>>| {
        inside.as_ref().map(|inner| format!(", {}", place_of(inner))).unwrap_or_default()
    };
    match finder {
        Finder::Field { selector, nth } => {
            format!("the field {}{}", plain(selector), numbered(*nth))
        }
        Finder::Attribute { selector, nth, attribute } => {
            format!("{attribute} of {}{}", plain(selector), numbered(*nth))
        }
        Finder::Text { selector, nth } => {
            format!("the text of {}{}", plain(selector), numbered(*nth))
        }
        Finder::Json(path) => {
            let path = value::path_code(path, &|pieces| quoted(&plain(pieces)));
            format!("JSON {}", path.trim_start_matches('.'))
        }
        Finder::Update { id, inside: own } => format!("the update of {id}{}", inside(own)),
        Finder::Header(name) => format!("the header {name}"),
        Finder::Cookie(name) => format!("the cookie {name}"),
        Finder::Url => "its URL".to_owned(),
        Finder::Between { left, .. } => format!("the text behind {}", left.trim()),
        Finder::Message { nth, inside: own } => format!("message {}{}", nth + 1, inside(own)),
        Finder::Event { nth, inside: own } => format!("event {}{}", nth + 1, inside(own)),
    }
}
