//! The search for the sources of all values, request by request.

use brunt_traffic::Recording;
use rustc_hash::FxHashSet;

use crate::change::{url_decode, url_encode};
use crate::forms::Kind;
use crate::order::ordered;
use crate::plan::{Change, Piece, Place, Plan, Substitution};
use crate::redirects::Chains;
use crate::request::Spot;
use crate::selectors::joined;
use crate::session::{Session, encoded};
use crate::typed::{is_secret_name, is_typed};
use crate::values::{Strength, key_of, strength};
use crate::wanted::{Role, parts};

/// Letters of the shortest typed text that is known again as a part of another.
const INPUT_MIN: usize = 5;

/// Finds what the script of this recording must take from responses.
pub fn correlate(recording: &Recording) -> Plan {
    let mut kept = FxHashSet::default();
    loop {
        let chains = Chains::new(recording, &kept);
        let mut session = Session::new(recording, &chains);
        session.all();
        let before = kept.len();
        kept.extend(session.unfolded.iter().copied());
        if kept.len() == before || before > 64 {
            return ordered(session.plan);
        }
    }
}

impl Session<'_> {
    pub(crate) fn all(&mut self) {
        for index in 0..self.recording.exchanges.len() {
            let spots = std::mem::take(&mut self.spots[index]);
            let found = self.matches[index].clone();
            for spot in &spots {
                if found.as_ref().is_some_and(|found| found.has(&spot.place)) {
                    continue;
                }
                let kind = found.as_ref().and_then(|found| found.kind(&spot.place));
                let pieces = joined(self.pieces(spot, kind));
                if pieces.iter().any(|piece| !matches!(piece, Piece::Literal(_)))
                    || matches!(spot.place, Place::Cookie(_))
                {
                    self.plan.substitutions.push(Substitution {
                        exchange: index,
                        place: spot.place.clone(),
                        pieces,
                    });
                }
            }
            if let Some(found) = found.filter(|found| !found.from_page.is_empty()) {
                self.form(index, found, &spots);
            }
            self.spots[index] = spots;
        }
    }

    /// The pieces of a text.
    pub(crate) fn pieces(&mut self, spot: &Spot, kind: Option<Kind>) -> Vec<Piece> {
        let text = spot.text.as_str();
        let role = Role::of(spot);
        let is_password = kind == Some(Kind::Password);
        if is_password {
            return vec![self.secret(&spot.name, text)];
        }
        if matches!(kind, Some(Kind::Button | Kind::File)) {
            return vec![Piece::Literal(text.to_owned())];
        }
        if let Some(made) = self.plan.made.iter().position(|made| made.recorded == text) {
            return vec![Piece::Made(made)];
        }
        if kind != Some(Kind::Text)
            && !is_typed(spot)
            && let Some(pieces) = self.composed(text)
        {
            return pieces;
        }
        if let Some(piece) = self.value(text, &role, spot, Vec::new()) {
            return vec![piece];
        }
        if let Some(input) = self.known_input(spot) {
            return vec![input];
        }
        if is_secret_name(&spot.name) && !text.is_empty() {
            return vec![self.secret(&spot.name, text)];
        }
        for (inner, changes) in encoded(text) {
            if let Some(piece) = self.value(&inner, &role, spot, changes) {
                return vec![piece];
            }
        }
        if let Some(pieces) = self.joined_parts(spot) {
            return pieces;
        }
        if self.wanted.id(text).is_some_and(|id| self.constants.contains(&id)) {
            return vec![Piece::Literal(text.to_owned())];
        }
        if let Some(piece) = self.made(spot) {
            return vec![piece];
        }
        if let Some(pieces) = self.own_secret(spot) {
            return pieces;
        }
        let by_form =
            kind.map(|kind| kind == Kind::Text && !matches!(spot.place, Place::Segment(_)));
        if by_form.unwrap_or_else(|| is_typed(spot) || self.is_word_of_input(spot)) {
            return vec![self.input(spot.exchange, &spot.name, text)];
        }
        self.suspect(spot);
        vec![Piece::Literal(text.to_owned())]
    }

    /// The parts of a joined text: `Bearer ` and a token.
    pub(crate) fn joined_parts(&mut self, spot: &Spot) -> Option<Vec<Piece>> {
        let role = Role::of(spot);
        let mut pieces = Vec::new();
        let mut literal = 0;
        let mut before = String::new();
        for (begin, end) in parts(&spot.text) {
            let raw = &spot.text[begin..end];
            let text = url_decode(raw);
            let is_link = begin > 0 && spot.text.as_bytes()[begin - 1] == b'/';
            let key = if before.is_empty() { role.key.clone() } else { key_of(&before) };
            before.clone_from(&text);
            if begin < literal {
                continue;
            }
            let typed =
                self.plan.inputs.iter().position(|input| {
                    input.recorded == text && text == raw && text.len() >= INPUT_MIN
                });
            if typed.is_none() && strength(&text) == Strength::Weak {
                continue;
            }
            let changes = if text == raw {
                Vec::new()
            } else if url_encode(&text) == raw {
                vec![Change::UrlEncode]
            } else {
                continue;
            };
            let own = Role { key, is_segment: is_link };
            let made = self.plan.made.iter().position(|made| made.recorded == text);
            let own_value = || self.value(&text, &own, spot, changes);
            let piece = typed.map(Piece::Input).or(made.map(Piece::Made)).or_else(own_value);
            let piece = piece.or_else(|| self.inside(&text, spot).filter(|_| text == raw));
            if let Some(piece) = piece {
                if begin > literal {
                    pieces.push(Piece::Literal(spot.text[literal..begin].to_owned()));
                }
                pieces.push(piece);
                literal = end;
            }
        }
        // A typed word alone makes no text a joined one.
        if !pieces.iter().any(|piece| matches!(piece, Piece::Value { .. } | Piece::Made(_))) {
            return None;
        }
        if literal < spot.text.len() {
            pieces.push(Piece::Literal(spot.text[literal..].to_owned()));
        }
        Some(pieces)
    }

    /// A value that is encoded with other texts around it: `name:key` in base64.
    fn inside(&mut self, text: &str, spot: &Spot) -> Option<Piece> {
        for (inner, encode) in encoded(text) {
            let inner = Spot { text: inner, ..spot.clone() };
            let Some(pieces) = self.joined_parts(&inner) else { continue };
            let is_value = |piece: &Piece| matches!(piece, Piece::Value { .. });
            let Some(at) = pieces.iter().position(is_value) else { continue };
            let (before, after) = (&pieces[..at], &pieces[at + 1..]);
            if after.iter().any(is_value) {
                continue;
            }
            let Piece::Value { extraction, changes } = &pieces[at] else { continue };
            let mut changes = changes.clone();
            changes.push(Change::Around(before.to_vec(), after.to_vec()));
            changes.extend(encode);
            return Some(Piece::Value { extraction: *extraction, changes });
        }
        None
    }
}
