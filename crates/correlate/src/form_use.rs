//! The form of a page that a request sends.

use crate::forms::Match;
use crate::plan::{FormUse, Piece, Place, Substitution};
use crate::request::Spot;
use crate::selectors::{Wish, joined};
use crate::session::Session;

impl Session<'_> {
    /// The form whose fields a request sends.
    pub(crate) fn form(&mut self, index: usize, found: Match, spots: &[Spot]) {
        let form = &self.forms.0[found.form];
        let (exchange, node, update) = (form.exchange, form.node, form.update.clone());
        let Some(reply) = self.replies.get(exchange) else { return };
        let known = self.known(exchange);
        let text_of = |pieces: &[Piece]| self.plan.recorded(pieces);
        let wish = |document: &brunt_html::Document| {
            let value_of = |_| None;
            let action = document.attribute(node, "action").unwrap_or_default();
            Wish {
                document,
                node,
                value: "",
                attribute: None,
                known: &known,
                given: Some(("action", self.action(index, exchange, action))),
                text_of: &text_of,
                value_of: &value_of,
            }
            .only()
        };
        let selector = match &update {
            None => reply.document().and_then(wish),
            Some((nth, _)) => crate::find::updates(&reply.body)
                .nth(*nth)
                .and_then(|(_, text)| brunt_html::Document::parse(text).ok())
                .and_then(|document| wish(&document)),
        };
        let Some(selector) = selector else {
            // Without a selector, each field is looked for alone.
            let fields: Vec<&Spot> = spots.iter().filter(|spot| found.has(&spot.place)).collect();
            for spot in fields {
                let pieces = joined(self.pieces(spot, None));
                if pieces.iter().any(|piece| !matches!(piece, Piece::Literal(_))) {
                    let place = spot.place.clone();
                    self.plan.substitutions.push(Substitution { exchange: index, place, pieces });
                }
            }
            return;
        };
        self.plan.forms.push(FormUse {
            exchange: index,
            page: exchange,
            selector,
            update: update.map(|(_, id)| id),
            from_page: found.from_page,
        });
    }

    /// The text of a form's action with the values that the request's URL has in its place.
    pub(crate) fn action(&self, index: usize, page: usize, action: &str) -> Vec<Piece> {
        let url = &self.recording.exchanges[index].request.url;
        let count = url.path_segments().map_or(0, Iterator::count);
        let own = |place: &Place, text: &str| -> Option<Vec<Piece>> {
            let mut all =
                self.plan.substitutions.iter().rev().take_while(|own| own.exchange == index);
            let found = all.find(|own| own.place == *place)?;
            let is_known = found.pieces.iter().all(|piece| match piece {
                Piece::Value { extraction, .. } => {
                    self.plan.extractions[*extraction].exchange <= page
                }
                _ => true,
            });
            let is_text = self.plan.recorded(&found.pieces).as_deref() == Some(text);
            (is_known && is_text).then(|| found.pieces.clone())
        };
        let (path, query) = match action.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (action, None),
        };
        let mut pieces = Vec::new();
        let segments: Vec<&str> = path.split('/').collect();
        for (at, segment) in segments.iter().enumerate() {
            if at > 0 {
                pieces.push(Piece::Literal("/".to_owned()));
            }
            let place = (count + at).checked_sub(segments.len()).map(Place::Segment);
            match place.and_then(|place| own(&place, segment)) {
                Some(known) => pieces.extend(known),
                None => pieces.push(Piece::Literal((*segment).to_owned())),
            }
        }
        for (at, pair) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
            pieces.push(Piece::Literal(if at == 0 { "?" } else { "&" }.to_owned()));
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let place = url.query_pairs().position(|(own, _)| own == name).map(Place::Query);
            match place.and_then(|place| own(&place, value)) {
                Some(known) => {
                    pieces.push(Piece::Literal(format!("{name}=")));
                    pieces.extend(known);
                }
                None => pieces.push(Piece::Literal(pair.to_owned())),
            }
        }
        joined(pieces)
    }
}
