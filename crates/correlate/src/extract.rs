//! Which response gives a value, and how it is taken from there.

use crate::candidates::{Candidate, candidates};
use crate::client::is_constant_name;
use crate::names;
use crate::plan::{Change, Extraction, Piece, Place};
use crate::request::Spot;
use crate::session::{Session, moment_of};
use crate::sources::{Draft, Origin};
use crate::typed::is_typed;
use crate::values::{Strength, is_id_name, is_number, is_token_name, key_of};
use crate::wanted::{Role, fits, names_member_of};

/// Letters of the shortest code that is wanted, though it has no digits.
const CODE_MIN: usize = 8;

/// Digits of the shortest key of a row in the argument of an event.
const KEY_MIN: usize = 3;

/// Digits of the shortest number that is one thing wherever it is sent, once it was taken from a response.
const SAME_MIN: usize = 4;

/// Responses that are compared as sources of one value, at the most.
const COMPARED_MAX: usize = 12;

impl Session<'_> {
    /// The value of an extraction that gives this text.
    pub(crate) fn value(
        &mut self,
        text: &str,
        role: &Role,
        spot: &Spot,
        changes: Vec<Change>,
    ) -> Option<Piece> {
        let id = self.wanted.id(text)?;
        let extraction = self.extraction(id, role, spot)?;
        Some(Piece::Value { extraction, changes })
    }

    pub(crate) fn extraction(&mut self, id: usize, role: &Role, spot: &Spot) -> Option<usize> {
        let strength = self.wanted.all[id].strength;
        if !self.is_wanted(id, role, spot, strength) {
            return None;
        }
        if let Some(same) = self.same_thing(id, role, spot) {
            return Some(same);
        }
        self.search(id);
        let origins: Vec<Origin> = self.sources.by_text.get(id)?.clone();
        let own_moment = moment_of(spot);
        let fitting = |is_lenient: bool| -> Vec<&Origin> {
            let is_fit = |origin: &&Origin| {
                self.moment_of_origin(origin) < own_moment
                    && (strength == Strength::Strong
                        || fits(role, origin.hint(), strength, is_lenient))
            };
            origins.iter().filter(is_fit).collect()
        };
        let mut earlier = fitting(false);
        if earlier.is_empty() {
            earlier = fitting(true);
        }
        let born = earlier.iter().map(|origin| self.moment_of_origin(origin)).min()?;
        let sent = self.sent.get(&id);
        let is_client = sent
            .into_iter()
            .flatten()
            .any(|(moment, own)| *moment < born && (strength == Strength::Strong || own == role));
        if is_client {
            return None;
        }
        if earlier.iter().any(|origin| self.is_on_time(origin, spot)) {
            earlier.retain(|origin| self.is_on_time(origin, spot));
        }
        let is_id = strength != Strength::Strong
            || role.is_segment
            || is_id_name(&role.key) && !is_token_name(&role.key);
        if is_id {
            let same = self.extractions.iter().filter(|((_, text), _)| *text == id);
            let own = same
                .filter(|((exchange, _), index)| {
                    *exchange < spot.exchange
                        && (strength == Strength::Strong
                            || is_same_role(&self.roles[**index], role))
                })
                .map(|((exchange, _), index)| (*exchange, *index))
                .max();
            if let Some((_, index)) = own {
                return Some(index);
            }
        }
        let mut exchanges: Vec<usize> =
            earlier.iter().filter(|origin| origin.is_seen).map(|origin| origin.exchange).collect();
        exchanges.dedup();
        exchanges.sort_unstable();
        exchanges.dedup();
        if exchanges.is_empty() {
            if strength == Strength::Strong || is_token_name(&role.key) {
                self.unfolded.extend(earlier.last().map(|origin| origin.exchange));
            }
            return None;
        }
        let (exchange, found) = if is_id {
            self.best_id(id, &exchanges, &earlier)?
        } else {
            exchanges.iter().rev().take(COMPARED_MAX).find_map(|&exchange| {
                let found = self.candidates(id, exchange, &earlier);
                (!found.is_empty()).then_some((exchange, found))
            })?
        };
        if let Some(&index) = self.extractions.get(&(exchange, id))
            && (strength == Strength::Strong || is_same_role(&self.roles[index], role))
        {
            return Some(index);
        }
        let index = self.plan.extractions.len();
        let origin = earlier.iter().rev().find(|origin| origin.exchange == exchange)?;
        self.plan.extractions.push(Extraction {
            exchange,
            name: base_name(spot, origin),
            recorded: self.wanted.all[id].text.clone(),
            candidates: found.into_iter().map(|candidate| candidate.source).collect(),
            chosen: 0,
        });
        self.roles.push(role.clone());
        self.extractions.insert((exchange, id), index);
        Some(index)
    }

    /// The extraction of a number or code that was sent before, in another role: the id of a path, and later of a box in a list.
    fn same_thing(&self, id: usize, role: &Role, spot: &Spot) -> Option<usize> {
        let text = self.wanted.all[id].text.as_str();
        let is_field = !matches!(spot.place, Place::Segment(_) | Place::Header(_) | Place::Url);
        if self.wanted.all[id].strength != Strength::Medium
            || digits_of(text) < SAME_MIN
            || !is_field
            || is_typed(spot)
        {
            return None;
        }
        let same = self.extractions.iter().filter(|((exchange, known), index)| {
            *known == id && *exchange < spot.exchange && self.roles[**index] != *role
        });
        same.map(|((exchange, _), index)| (*exchange, *index)).max().map(|(_, index)| index)
    }

    /// Whether a text of this strength is worth a source in this role.
    pub(crate) fn is_wanted(
        &self,
        id: usize,
        role: &Role,
        spot: &Spot,
        strength: Strength,
    ) -> bool {
        const PLAIN: [&str; 28] = [
            "page", "limit", "size", "perpage", "pagesize", "count", "sort", "order", "year",
            "month", "day", "tab", "step", "lang", "locale", "width", "height", "start", "rows",
            "v", "first", "last", "quantity", "qty", "amount", "price", "status", "type",
        ];
        let text = self.wanted.all[id].text.as_str();
        let is_changing = role.key.ends_with("version")
            && is_number(text)
            && (text.len() > 1 || role.key != "version");
        if is_constant_name(&spot.name) && strength != Strength::Strong && !is_changing {
            return false;
        }
        // Arguments of events that name no thing: `Page$2`.
        if role.key == "eventargument" && digits_of(text) < KEY_MIN {
            return false;
        }
        match strength {
            Strength::Weak => {
                let is_token = is_token_name(&role.key) && !role.is_segment && text.len() >= 4;
                let is_code = role.key.ends_with("code")
                    && matches!(spot.place, Place::Query(_))
                    && text.len() >= CODE_MIN;
                is_token || is_code || role.is_segment && self.is_slug(text)
            }
            Strength::Medium if PLAIN.contains(&role.key.as_str()) => false,
            Strength::Medium if role.is_segment => {
                is_number(text) || is_mostly_digits(text) || self.is_slug(text)
            }
            Strength::Medium | Strength::Strong => true,
        }
    }

    /// Whether the application made this of a text that the user typed: `buy-milk` of `Buy milk`.
    pub(crate) fn is_slug(&self, text: &str) -> bool {
        text.len() >= 3
            && self.plan.inputs.iter().any(|input| {
                let mut slug = String::new();
                for c in input.recorded.chars() {
                    if c.is_alphanumeric() {
                        slug.extend(c.to_lowercase());
                    } else if !slug.ends_with('-') {
                        slug.push('-');
                    }
                }
                let slug = slug.trim_matches('-');
                slug.len() >= 3 && slug != input.recorded && text.starts_with(slug)
            })
    }

    /// The response that several users at once can take an id from, each their own.
    pub(crate) fn best_id(
        &self,
        id: usize,
        exchanges: &[usize],
        earlier: &[&Origin],
    ) -> Option<(usize, Vec<Candidate>)> {
        let born = *exchanges.first()?;
        let is_made = earlier.iter().any(|origin| origin.exchange == born && origin.is_write);
        let half = COMPARED_MAX / 2;
        let some: Vec<usize> = if exchanges.len() > COMPARED_MAX {
            exchanges[..half].iter().chain(&exchanges[exchanges.len() - half..]).copied().collect()
        } else {
            exchanges.to_vec()
        };
        let mut best: Option<(i64, usize, Vec<Candidate>)> = None;
        for exchange in some {
            let found = self.candidates(id, exchange, earlier);
            let Some(first) = found.first() else { continue };
            let mut cost = i64::from(first.cost);
            let head = self.chains.first(exchange);
            if is_made && exchange == born {
                cost -= 20;
            }
            if self.sent.get(&id).is_some_and(|sent| sent.iter().any(|((at, _), _)| *at == head)) {
                cost += 20;
            }
            if best.as_ref().is_none_or(|(own, ..)| cost <= *own) {
                best = Some((cost, exchange, found));
            }
        }
        best.map(|(_, exchange, found)| (exchange, found))
    }

    pub(crate) fn candidates(
        &self,
        id: usize,
        exchange: usize,
        earlier: &[&Origin],
    ) -> Vec<Candidate> {
        let Some(reply) = self.replies.get(exchange) else { return Vec::new() };
        let origins: Vec<&Origin> =
            earlier.iter().filter(|origin| origin.exchange == exchange).copied().collect();
        let known = self.known(exchange);
        let text_of = |pieces: &[Piece]| self.plan.recorded(pieces);
        candidates(&reply, &origins, &self.wanted.all[id].text, &known, &text_of)
    }
}

/// Whether two roles are those of one thing: the segment behind `orders`, and `orderId`.
fn is_same_role(one: &Role, other: &Role) -> bool {
    one == other
        || one.key == other.key && one.is_segment == other.is_segment
        || one.is_segment && names_member_of(&other.key, &one.key)
        || other.is_segment && names_member_of(&one.key, &other.key)
        || one.is_segment != other.is_segment && (one.key == "id" || other.key == "id")
}

fn digits_of(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

fn is_mostly_digits(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= 2 && digits * 3 >= text.len()
}

/// The name of a variable, before it is made unique.
fn base_name(spot: &Spot, origin: &Origin) -> String {
    let is_told =
        names::tells(&origin.name) && !matches!(origin.draft, Draft::Text(_) | Draft::Update(..));
    match spot.place {
        Place::Segment(_) if spot.text.contains(';') => "path".to_owned(),
        Place::Segment(_) if !spot.name.is_empty() && !is_number(&spot.name) => {
            names::of_member(&spot.name)
        }
        Place::Segment(_) | Place::Message(_) | Place::Body if is_told => {
            names::variable(&origin.name)
        }
        Place::Header(_)
            if is_told
                && (is_token_name(&key_of(&origin.name))
                    || !is_token_name(&key_of(&spot.name)))
                && !key_of(&spot.name).contains("csrf") =>
        {
            names::variable(&origin.name)
        }
        _ => names::variable(&spot.name),
    }
}
