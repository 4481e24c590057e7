//! Knows all that statements need while a script is written.

use std::fmt::Write as _;

use brunt_correlate::Plan;
use brunt_correlate::plan::{Piece, Place, Substitution};
use brunt_traffic::{Exchange, Recording};

use crate::Options;
use crate::files::Files;
use crate::functions::Needs;
use crate::headers::{self, Common, Header};
use crate::origins::Origins;
use crate::session::{Kind, Session};
use crate::text::{Names, in_comment};
use crate::value::{self, Encoding, Part};
use crate::variables::Variables;

/// A query that is longer is no part of a request's name.
const QUERY_MAX: usize = 60;

/// A script that is being written.
pub(crate) struct Writer<'a> {
    /// The recorded session.
    pub(crate) recording: &'a Recording,
    /// Where values come from.
    pub(crate) plan: &'a Plan,
    /// The choices of the user.
    pub(crate) options: &'a Options,
    /// The requests, in order.
    pub(crate) session: Session,
    /// Names of values.
    pub(crate) variables: Variables,
    /// Names of servers.
    pub(crate) origins: Origins,
    /// Headers of many requests.
    pub(crate) common: Common,
    /// Functions and imports.
    pub(crate) needs: Needs,
    /// Files beside the script.
    pub(crate) files: Files,
    /// Names inside groups.
    pub(crate) local: Names,
    /// For the user.
    pub(crate) notes: Vec<String>,
}

/// A URL in the script.
pub(crate) struct Address {
    /// Its expression.
    pub(crate) code: String,
    /// With the names of variables in braces: `/order/{orderId}?all=1`.
    pub(crate) label: String,
    /// Whether it has variables beside the server.
    pub(crate) is_dynamic: bool,
}

impl<'a> Writer<'a> {
    /// Reads the recording and names everything.
    pub(crate) fn new(recording: &'a Recording, plan: &'a Plan, options: &'a Options) -> Self {
        let session = Session::new(recording, plan, options);
        let variables = Variables::new(plan, &session);
        let origins =
            Origins::new(session.sent().map(|index| &recording.exchanges[index].request.url));
        let headers: Vec<(Kind, Vec<Header>)> = session
            .sent()
            .map(|index| {
                let kind = session.kinds[index];
                (kind, headers::of(&recording.exchanges[index], index, kind, plan))
            })
            .collect();
        let notes = session.notes.clone();
        Self {
            common: Common::new(&headers),
            recording,
            plan,
            options,
            session,
            variables,
            origins,
            needs: Needs::default(),
            files: Files::default(),
            local: Names::default(),
            notes,
        }
    }

    /// The exchange at this index.
    pub(crate) fn exchange(&self, index: usize) -> &'a Exchange {
        &self.recording.exchanges[index]
    }

    /// The exchange that answers in the end, after redirects.
    pub(crate) fn answer(&self, index: usize) -> &'a Exchange {
        self.exchange(self.session.last[index])
    }

    /// The pieces that the plan puts at a place of a request.
    pub(crate) fn pieces(&self, exchange: usize, place: &Place) -> Option<&'a [Piece]> {
        let plan: &'a Plan = self.plan;
        let found =
            plan.substitutions.iter().find(|own| own.exchange == exchange && own.place == *place);
        found.map(|own| own.pieces.as_slice())
    }

    /// All that the plan puts into a request.
    pub(crate) fn substitutions(
        &self,
        exchange: usize,
    ) -> impl Iterator<Item = &'a Substitution> + use<'a> {
        let plan: &'a Plan = self.plan;
        plan.substitutions.iter().filter(move |own| own.exchange == exchange)
    }

    /// The expression of a text at a place, which is `literal` if the plan has nothing for it.
    pub(crate) fn text_at(&mut self, exchange: usize, place: &Place, literal: &str) -> String {
        match self.pieces(exchange, place) {
            Some(pieces) => value::text(pieces, Encoding::Plain, &self.variables, &mut self.needs),
            None => self.literal(literal),
        }
    }

    /// The expression of a recorded text that no plan changes: secrets do not stand in it, and a URL of the session begins with the
    /// constant of its server.
    pub(crate) fn literal(&mut self, text: &str) -> String {
        let (name, rest) = match self.origins.split(text) {
            Some((name, "")) => return name.to_owned(),
            Some((name, rest)) => (Some(name.to_owned()), rest),
            None => (None, text),
        };
        let rest = [Piece::Literal(rest.to_owned())];
        let Some(name) = name else {
            return value::text(&rest, Encoding::Plain, &self.variables, &mut self.needs);
        };
        let mut parts = vec![Part::Code(name)];
        parts.extend(value::parts(&rest, Encoding::Plain, &self.variables, &mut self.needs));
        value::template(&parts)
    }

    /// Where a request goes.
    pub(crate) fn address(&mut self, index: usize) -> Address {
        let exchange = self.exchange(index);
        let url = &exchange.request.url;
        let origin = self.origins.name(url).to_owned();
        let is_socket = matches!(url.scheme(), "ws" | "wss");
        let server = if is_socket { format!("{origin}.replace('http', 'ws')") } else { origin };
        let mut address = Address { code: String::new(), label: String::new(), is_dynamic: false };
        let mut parts = vec![Part::Code(server.clone())];
        if let Some(pieces) = self.pieces(index, &Place::Url) {
            return self.given_address(index, pieces);
        }
        let path = url.path();
        if let Some(path) = path.strip_prefix('/') {
            for (at, segment) in path.split('/').enumerate() {
                self.add_text("/", &mut parts, &mut address);
                self.add_place(index, &Place::Segment(at), segment, &mut parts, &mut address);
            }
        }
        if let Some(query) = url.query() {
            let mut pair_index = 0;
            for (at, pair) in query.split('&').enumerate() {
                self.add_text(if at == 0 { "?" } else { "&" }, &mut parts, &mut address);
                let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
                self.add_text(name, &mut parts, &mut address);
                if name.len() < pair.len() {
                    self.add_text("=", &mut parts, &mut address);
                }
                self.add_place(index, &Place::Query(pair_index), text, &mut parts, &mut address);
                pair_index += usize::from(!pair.is_empty());
            }
        }
        address.code = match parts.as_slice() {
            [Part::Code(server)] => server.clone(),
            parts => value::template(parts),
        };
        address
    }

    fn add_text(&mut self, text: &str, parts: &mut Vec<Part>, address: &mut Address) {
        let pieces = [Piece::Literal(text.to_owned())];
        self.add_pieces(&pieces, Encoding::Plain, parts, address);
    }

    /// `raw` is encoded already.
    fn add_place(
        &mut self,
        index: usize,
        place: &Place,
        raw: &str,
        parts: &mut Vec<Part>,
        address: &mut Address,
    ) {
        if let Some(pieces) = self.pieces(index, place) {
            let has_parameters = matches!(place, Place::Segment(_)) && raw.contains(';');
            let encoding = if has_parameters { Encoding::Path } else { Encoding::Component };
            return self.add_pieces(pieces, encoding, parts, address);
        }
        let decoded = brunt_traffic::form::decode(raw);
        if matches!(place, Place::Query(_)) && self.origins.split(&decoded).is_some() {
            let code = self.literal(&decoded);
            parts.push(Part::Code(format!("encodeURIComponent({code})")));
            address.label.push_str(raw);
        } else if self.variables.shows_secret(decoded.as_bytes()) {
            self.add_pieces(&[Piece::Literal(decoded)], Encoding::Component, parts, address);
        } else {
            self.add_text(without_session(raw), parts, address);
        }
    }

    fn add_pieces(
        &mut self,
        pieces: &[Piece],
        encoding: Encoding,
        parts: &mut Vec<Part>,
        address: &mut Address,
    ) {
        for piece in pieces.iter().flat_map(|piece| self.variables.shielded(piece)) {
            for part in value::parts(
                std::slice::from_ref(&piece),
                encoding,
                &self.variables,
                &mut self.needs,
            ) {
                match &part {
                    Part::Literal(text) => address.label.push_str(text),
                    Part::Code(_) => {
                        address.is_dynamic = true;
                        let _ = write!(address.label, "{{{}}}", self.name_of(&piece));
                    }
                }
                match (parts.last_mut(), part) {
                    (Some(Part::Literal(last)), Part::Literal(next)) => last.push_str(&next),
                    (_, part) => parts.push(part),
                }
            }
        }
    }

    fn name_of(&self, piece: &Piece) -> String {
        match piece {
            Piece::Literal(_) => String::new(),
            Piece::Value { extraction, .. } => self.variables.extraction(*extraction).to_owned(),
            Piece::Made(index) => self.variables.made(*index).to_owned(),
            Piece::Input(index) => self.variables.input(*index).to_owned(),
            Piece::Secret(index) => self.variables.secret(*index).to_owned(),
        }
    }

    /// A URL that a page gave. A relative one is resolved as the page meant it.
    fn given_address(&mut self, index: usize, pieces: &[Piece]) -> Address {
        let text = value::text(pieces, Encoding::Plain, &self.variables, &mut self.needs);
        let recorded = self.plan.recorded(pieces).unwrap_or_default();
        let source = pieces.iter().find_map(|piece| match piece {
            Piece::Value { extraction, .. } => {
                Some(self.plan.extractions.get(*extraction)?.exchange)
            }
            _ => None,
        });
        let is_absolute = recorded.contains("://");
        let code = match source {
            Some(source) if !is_absolute => {
                let base = self.answer(source).request.url.clone();
                let name = self.origins.name(&base).to_owned();
                if recorded.starts_with('/') && !recorded.starts_with("//") {
                    let mut parts = vec![Part::Code(name)];
                    parts.extend(value::parts(
                        pieces,
                        Encoding::Plain,
                        &self.variables,
                        &mut self.needs,
                    ));
                    value::template(&parts)
                } else {
                    self.needs.add("absolute");
                    let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
                    let page = if recorded.starts_with('?') {
                        base.path().to_owned()
                    } else {
                        format!("{folder}/")
                    };
                    let page = self.literal(&format!("{}{page}", crate::origins::of(&base)));
                    format!("absolute({page}, {text})")
                }
            }
            _ => text,
        };
        let path = self.exchange(index).request.url.path();
        let is_plain = !path.bytes().any(|byte| byte.is_ascii_digit()) && path.len() < 60;
        let names = pieces.iter().find(|piece| !matches!(piece, Piece::Literal(_)));
        let named = names.map(|piece| format!("{{{}}}", self.name_of(piece)));
        let label =
            if is_plain { path.to_owned() } else { named.unwrap_or_else(|| path.to_owned()) };
        Address { code, label, is_dynamic: true }
    }

    /// The name of a request in results: the path, and the query unless it is long.
    pub(crate) fn metric_name(&self, address: &Address) -> String {
        let (path, query) = address.label.split_once('?').unwrap_or((&address.label, ""));
        let name = match query.len() {
            0 => path.to_owned(),
            length if length <= QUERY_MAX => format!("{path}?{query}"),
            _ => format!("{path}?…"),
        };
        self.variables.hidden(&name)
    }

    /// `GET /order/{id}`, for comments and names of checks.
    pub(crate) fn label(&mut self, index: usize) -> String {
        let address = self.address(index);
        let path = address.label.split('?').next().unwrap_or_default();
        let path = self.variables.hidden(path);
        in_comment(&format!("{} {path}", self.exchange(index).request.method))
    }
}

/// A segment without the session of the recording: the script's own comes as a cookie.
fn without_session(segment: &str) -> &str {
    let lower = segment.to_ascii_lowercase();
    lower.find(";jsessionid=").map_or(segment, |at| &segment[..at])
}
