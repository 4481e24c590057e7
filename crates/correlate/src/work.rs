//! The search for the sources of all values, request by request.

use brunt_traffic::{Recording, Side};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::candidates::{Candidate, Replies, candidates};
use crate::change::{change, url_decode, url_encode};
use crate::client::{Span, is_challenge, is_constant_name, kind};
use crate::forms::{Forms, Kind, Match};
use crate::names;
use crate::plan::{
    Change, Extraction, FormUse, Input, Made, MadeKind, Piece, Place, Plan, Secret, Substitution,
    Suspect,
};
use crate::redirects::Chains;
use crate::request::{Spot, is_static, spots};
use crate::selectors::{Known, Wish, joined};
use crate::sources::{Draft, Origin, Sources};
use crate::typed::{is_secret_name, is_token, is_typed};
use crate::values::{Strength, is_id_name, is_number, is_token_name, key_of, strength};
use crate::wanted::{Role, Wanted, fits, names_member_of, parts};

/// Responses that are compared as sources of one value, at the most.
const COMPARED_MAX: usize = 12;

/// Finds what the script of this recording must take from responses.
pub fn correlate(recording: &Recording) -> Plan {
    let mut kept = FxHashSet::default();
    loop {
        let chains = Chains::new(recording, &kept);
        let mut work = Work::new(recording, &chains);
        work.all();
        let before = kept.len();
        kept.extend(work.unfolded.iter().copied());
        if kept.len() == before || before > 64 {
            return work.finished();
        }
    }
}

/// An exchange, and a moment in it: 0 is its request, 1 its response; a WebSocket's messages begin at 2.
type Moment = (usize, usize);

struct Work<'a> {
    recording: &'a Recording,
    chains: &'a Chains,
    replies: Replies<'a>,
    /// For each exchange the texts that it sends; none for those that the script does not send.
    spots: Vec<Vec<Spot>>,
    forms: Forms,
    matches: Vec<Option<Match>>,
    wanted: Wanted,
    sources: Sources,
    /// Which exchanges send a text, in which role.
    sent: FxHashMap<usize, Vec<(Moment, Role)>>,
    span: Span,
    plan: Plan,
    /// For each extraction: what its name is made of.
    roles: Vec<Role>,
    /// For each input: the exchange that sends it first.
    typed: Vec<usize>,
    extractions: FxHashMap<(usize, usize), usize>,
    /// Redirects that must not be followed, as a value is in their responses alone.
    unfolded: FxHashSet<usize>,
}

impl<'a> Work<'a> {
    fn new(recording: &'a Recording, chains: &'a Chains) -> Self {
        let forms = Forms::new(recording, chains);
        let mut all = Vec::with_capacity(recording.exchanges.len());
        let mut matches = Vec::with_capacity(recording.exchanges.len());
        for (index, exchange) in recording.exchanges.iter().enumerate() {
            let is_sent = chains.folded[index].is_none() && !is_static(exchange);
            let spots = if is_sent { spots(recording, index) } else { Vec::new() };
            matches.push(forms.sent_by(recording, index, &spots));
            all.push(spots);
        }
        let mut work = Self {
            recording,
            chains,
            replies: Replies::new(recording),
            spots: all,
            forms,
            matches,
            wanted: Wanted::default(),
            sources: Sources { by_text: Vec::new() },
            sent: FxHashMap::default(),
            span: Span::of(recording),
            plan: Plan { folded: chains.folded.clone(), ..Plan::default() },
            roles: Vec::new(),
            typed: Vec::new(),
            extractions: FxHashMap::default(),
            unfolded: FxHashSet::default(),
        };
        work.want();
        work.sources = Sources::new(recording, chains, &work.wanted);
        work.follow_updates();
        work
    }

    /// Gathers the texts that are looked for.
    fn want(&mut self) {
        let cookies = self.foreign_cookies();
        for (index, spots) in self.spots.iter_mut().enumerate() {
            spots.extend(cookies.iter().filter(|spot| spot.exchange == index).cloned());
        }
        for (index, spots) in self.spots.iter().enumerate() {
            let from_page = self.matches[index].as_ref();
            for spot in spots {
                let role = Role::of(spot);
                let moment = moment_of(spot);
                if from_page.is_some_and(|found| found.has(&spot.place)) {
                    if is_token_name(&role.key) {
                        self.wanted.add(&spot.text, role);
                    }
                    continue;
                }
                let mut add = |text: &str, role: Role| {
                    self.wanted.add(text, role.clone());
                    if let Some(id) = self.wanted.id(text) {
                        self.sent.entry(id).or_default().push((moment, role));
                    }
                };
                add(&spot.text, role.clone());
                for (text, _) in encoded(&spot.text) {
                    add(&text, role.clone());
                }
                let mut before = String::new();
                for (begin, end) in parts(&spot.text) {
                    let part = &spot.text[begin..end];
                    let part = url_decode(part);
                    let is_link = begin > 0 && spot.text.as_bytes()[begin - 1] == b'/';
                    let key = if before.is_empty() { role.key.clone() } else { key_of(&before) };
                    if strength(&part) > Strength::Weak {
                        add(&part, Role { key, is_segment: is_link });
                    }
                    before = part;
                }
            }
        }
    }

    /// A token that a partial response gave anew is taken from there, not from the page whose form is sent.
    fn follow_updates(&mut self) {
        for (index, found) in self.matches.iter_mut().enumerate() {
            let Some(found) = found else { continue };
            let page = self.forms.0[found.form].exchange;
            for spot in &self.spots[index] {
                let is_token = found.has(&spot.place) && is_token_name(&key_of(&spot.name));
                let Some(id) = self.wanted.id(&spot.text).filter(|_| is_token) else { continue };
                let is_newer = self.sources.by_text[id].iter().any(|origin| {
                    matches!(origin.draft, Draft::Update(_, None))
                        && (page + 1..index).contains(&origin.exchange)
                });
                if is_newer {
                    found.leave_out(&spot.place);
                }
            }
        }
    }

    /// When a response gives a text.
    fn moment_of_origin(&self, origin: &Origin) -> Moment {
        match origin.draft {
            Draft::Message(nth, _) => {
                let messages = &self.recording.exchanges[origin.exchange].messages;
                let own = messages
                    .iter()
                    .enumerate()
                    .filter(|(_, own)| own.from == Side::Server)
                    .nth(nth);
                (origin.exchange, own.map_or(1, |(at, _)| at + 2))
            }
            _ => (origin.exchange, 1),
        }
    }

    /// Whether a response gave a text before a request sent it, by the clock.
    fn is_on_time(&self, origin: &Origin, spot: &Spot) -> bool {
        let exchange = &self.recording.exchanges[origin.exchange];
        let given = match origin.draft {
            Draft::Message(nth, _) => exchange
                .messages
                .iter()
                .filter(|own| own.from == Side::Server)
                .nth(nth)
                .map(|own| own.at),
            Draft::Event(nth, _) => exchange.events.get(nth).map(|own| own.at),
            _ => None,
        };
        let own = &self.recording.exchanges[spot.exchange];
        let sent = match spot.place {
            Place::Message(at) | Place::MessageJson(at, _) => {
                own.messages.get(at).map_or(own.sent, |own| own.at)
            }
            _ => own.sent,
        };
        given.unwrap_or(exchange.done) <= sent
    }

    /// Cookies that no response set before they were sent, each when its value is new.
    fn foreign_cookies(&self) -> Vec<Spot> {
        let mut set: FxHashSet<String> = FxHashSet::default();
        let mut last: FxHashMap<(String, String), String> = FxHashMap::default();
        let mut found = Vec::new();
        for (index, exchange) in self.recording.exchanges.iter().enumerate() {
            let host = exchange.request.url.host_str().unwrap_or_default();
            let lines = exchange.request.headers.all("cookie");
            for pair in lines.flat_map(|line| line.split(';')) {
                let Some((name, value)) = pair.trim().split_once('=') else { continue };
                if set.contains(name)
                    || value.is_empty()
                    || is_measuring(name)
                    || is_static(exchange)
                {
                    continue;
                }
                let key = (host.to_owned(), name.to_owned());
                if last.get(&key).is_some_and(|own| own == value) {
                    continue;
                }
                last.insert(key, value.to_owned());
                found.push(Spot {
                    exchange: self.chains.first(index),
                    place: Place::Cookie(name.to_owned()),
                    name: name.to_owned(),
                    text: value.to_owned(),
                });
            }
            let response = exchange.response.as_ref();
            for line in response.into_iter().flat_map(|response| response.headers.all("set-cookie"))
            {
                let names = line.lines().filter_map(|line| line.split('=').next());
                set.extend(names.map(|name| name.trim().to_owned()));
            }
        }
        found
    }

    fn all(&mut self) {
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

    /// What a text is made of.
    fn pieces(&mut self, spot: &Spot, kind: Option<Kind>) -> Vec<Piece> {
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
        if let Some(piece) = self.made(spot) {
            return vec![piece];
        }
        if let Some(pieces) = self.own_secret(spot) {
            return pieces;
        }
        let by_form =
            kind.map(|kind| kind == Kind::Text && !matches!(spot.place, Place::Segment(_)));
        if by_form.unwrap_or_else(|| is_typed(spot)) {
            return vec![self.input(spot.exchange, &spot.name, text)];
        }
        self.suspect(spot);
        vec![Piece::Literal(text.to_owned())]
    }

    /// The value of an extraction that gives this text.
    fn value(
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

    fn extraction(&mut self, id: usize, role: &Role, spot: &Spot) -> Option<usize> {
        let strength = self.wanted.texts[id].strength;
        if !self.is_wanted(id, role, spot, strength) {
            return None;
        }
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
        let sent = self.sent.get(&id)?;
        let is_client = sent
            .iter()
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
            recorded: self.wanted.texts[id].text.clone(),
            candidates: found.into_iter().map(|candidate| candidate.source).collect(),
            chosen: 0,
        });
        self.roles.push(role.clone());
        self.extractions.insert((exchange, id), index);
        Some(index)
    }

    /// Whether a text of this strength is worth a source in this role.
    fn is_wanted(&self, id: usize, role: &Role, spot: &Spot, strength: Strength) -> bool {
        const PLAIN: [&str; 28] = [
            "page", "limit", "size", "perpage", "pagesize", "count", "sort", "order", "year",
            "month", "day", "tab", "step", "lang", "locale", "width", "height", "start", "rows",
            "v", "first", "last", "quantity", "qty", "amount", "price", "status", "type",
        ];
        let text = self.wanted.texts[id].text.as_str();
        if is_constant_name(&spot.name) && strength != Strength::Strong {
            return false;
        }
        match strength {
            Strength::Strong => true,
            Strength::Weak => {
                let is_token = is_token_name(&role.key) && !role.is_segment && text.len() >= 4;
                is_token || role.is_segment && self.is_slug(text)
            }
            Strength::Medium if PLAIN.contains(&role.key.as_str()) => false,
            Strength::Medium if role.is_segment => {
                is_number(text) || is_mostly_digits(text) || self.is_slug(text)
            }
            Strength::Medium => true,
        }
    }

    /// Whether the application made this of a text that the user typed: `buy-milk` of `Buy milk`.
    fn is_slug(&self, text: &str) -> bool {
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
    fn best_id(
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

    fn candidates(&self, id: usize, exchange: usize, earlier: &[&Origin]) -> Vec<Candidate> {
        let Some(reply) = self.replies.get(exchange) else { return Vec::new() };
        let origins: Vec<&Origin> =
            earlier.iter().filter(|origin| origin.exchange == exchange).copied().collect();
        let known = self.known(exchange);
        let text_of = |pieces: &[Piece]| self.plan.recorded(pieces);
        candidates(&reply, &origins, &self.wanted.texts[id].text, &known, &text_of)
    }

    /// The texts that the script knows when the response of this exchange comes.
    fn known(&self, exchange: usize) -> Known {
        let mut known = Known::default();
        let plain = || Role { key: String::new(), is_segment: false };
        for (index, input) in self.plan.inputs.iter().enumerate() {
            known.add(&input.recorded, Piece::Input(index), plain());
        }
        for (index, made) in self.plan.made.iter().enumerate() {
            if made.first <= exchange {
                known.add(&made.recorded, Piece::Made(index), plain());
            }
        }
        // The newest of those with one text is the one that scripts use.
        let earlier =
            self.plan.extractions.iter().enumerate().filter(|(_, own)| own.exchange < exchange);
        let mut earlier: Vec<_> = earlier.collect();
        earlier.sort_by_key(|(_, own)| std::cmp::Reverse(own.exchange));
        for (index, extraction) in earlier {
            let piece = Piece::Value { extraction: index, changes: Vec::new() };
            known.add(&extraction.recorded, piece, self.roles[index].clone());
        }
        known
    }

    /// A text that the application or the client made of a typed one: `q=lamp`.
    fn composed(&self, text: &str) -> Option<Vec<Piece>> {
        if text.len() > 2_000 {
            return None;
        }
        for (index, input) in self.plan.inputs.iter().enumerate() {
            let typed = input.recorded.as_str();
            if typed.len() < 5 || typed == text {
                continue;
            }
            let Some(at) = text.find(typed) else { continue };
            let (left, right) = (&text[..at], &text[at + typed.len()..]);
            let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let is_plain = |text: &str| {
                let mut words = text.split(|c: char| !c.is_alphanumeric());
                words.all(|word| strength(word) == Strength::Weak)
            };
            let is_apart = !is_word(left.chars().next_back()) && !is_word(right.chars().next());
            if is_apart && is_plain(left) && is_plain(right) {
                let literal = |text: &str| Piece::Literal(text.to_owned());
                return Some(joined(vec![literal(left), Piece::Input(index), literal(right)]));
            }
        }
        None
    }

    /// The parts of a joined text: `Bearer ` and a token.
    fn joined_parts(&mut self, spot: &Spot) -> Option<Vec<Piece>> {
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
            if begin < literal || strength(&text) == Strength::Weak {
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
            let piece = made.map(Piece::Made).or_else(|| self.value(&text, &own, spot, changes));
            if let Some(piece) = piece {
                if begin > literal {
                    pieces.push(Piece::Literal(spot.text[literal..begin].to_owned()));
                }
                pieces.push(piece);
                literal = end;
            }
        }
        if pieces.is_empty() {
            return None;
        }
        if literal < spot.text.len() {
            pieces.push(Piece::Literal(spot.text[literal..].to_owned()));
        }
        Some(pieces)
    }

    /// A value that the client made.
    fn made(&mut self, spot: &Spot) -> Option<Piece> {
        let text = spot.text.as_str();
        let is_segment = matches!(spot.place, Place::Segment(_));
        let method = self.recording.exchanges[spot.exchange].request.method.as_str();
        if is_segment && method == "GET"
            || matches!(spot.place, Place::Cookie(_))
            || spot.name.is_empty()
        {
            return None;
        }
        let kind = kind(text, &spot.name, self.span)?;
        if matches!(kind, MadeKind::Base64Url(_) | MadeKind::Hex(_) | MadeKind::Uuid)
            && self.is_given(text)
        {
            return None;
        }
        let kind = match self.verifier_of(text) {
            Some((verifier, exchange)) => {
                let size = verifier.len();
                let index = self.add_made(
                    "code_verifier",
                    &verifier,
                    MadeKind::Base64Url(size),
                    exchange.min(spot.exchange),
                );
                MadeKind::PkceChallenge(index)
            }
            None => kind,
        };
        Some(Piece::Made(self.add_made(&spot.name, text, kind, spot.exchange)))
    }

    fn add_made(&mut self, name: &str, text: &str, kind: MadeKind, first: usize) -> usize {
        if let Some(index) = self.plan.made.iter().position(|made| made.recorded == text) {
            return index;
        }
        let name = match (names::tells(name), &kind) {
            (true, _) if name != "_" && name.len() > 1 => names::variable(name),
            (_, MadeKind::Uuid) => "uuid".to_owned(),
            (_, MadeKind::Milliseconds | MadeKind::Seconds | MadeKind::Timestamp) => {
                "now".to_owned()
            }
            _ => "random".to_owned(),
        };
        self.plan.made.push(Made { name, recorded: text.to_owned(), kind, first });
        self.plan.made.len() - 1
    }

    /// The verifier of a challenge, which is sent later.
    fn verifier_of(&self, challenge: &str) -> Option<(String, usize)> {
        if challenge.len() != 43 {
            return None;
        }
        self.spots
            .iter()
            .flatten()
            .filter(|spot| {
                (43..=128).contains(&spot.text.len()) && is_challenge(challenge, &spot.text)
            })
            .map(|spot| (spot.text.clone(), spot.exchange))
            .next()
    }

    /// Whether a response gave it before any request sent it: a constant of the application's scripts.
    fn is_given(&self, text: &str) -> bool {
        let _ = text;
        false
    }

    /// A key or a token that was there before the recording began.
    fn own_secret(&mut self, spot: &Spot) -> Option<Vec<Piece>> {
        let text = spot.text.as_str();
        let is_header = matches!(spot.place, Place::Header(_));
        if is_header && spot.name.eq_ignore_ascii_case("authorization") {
            let (scheme, rest) = text.split_once(' ').unwrap_or(("", text));
            let literal = if scheme.is_empty() { String::new() } else { format!("{scheme} ") };
            let secret = self.secret("authorization", rest);
            return Some(vec![Piece::Literal(literal), secret]);
        }
        let is_long = text.len() >= 12 || strength(text) == Strength::Strong;
        let is_cookie = matches!(spot.place, Place::Cookie(_));
        let is_own = is_token(&spot.name) && is_long && !matches!(spot.place, Place::Segment(_));
        (is_own || is_cookie && (is_token(&spot.name) || strength(text) == Strength::Strong))
            .then(|| vec![self.secret(&spot.name, text)])
    }

    fn secret(&mut self, name: &str, text: &str) -> Piece {
        let own = self.plan.secrets.iter().position(|secret| secret.recorded == text);
        Piece::Secret(own.unwrap_or_else(|| {
            let name = names::free(&names::camel(name), |name| {
                self.plan.secrets.iter().any(|secret| secret.name == name)
            });
            self.plan.secrets.push(Secret { name, recorded: text.to_owned() });
            self.plan.secrets.len() - 1
        }))
    }

    /// A text that the user typed before.
    fn known_input(&self, spot: &Spot) -> Option<Piece> {
        let text = spot.text.as_str();
        let is_header = matches!(spot.place, Place::Header(_) | Place::Cookie(_) | Place::Body);
        if text.len() < 3 || is_header {
            return None;
        }
        let input = self.plan.inputs.iter().position(|input| input.recorded == text)?;
        if matches!(spot.place, Place::Segment(_)) {
            const PEOPLE: [&str; 8] =
                ["users", "user", "u", "profile", "profiles", "members", "people", "accounts"];
            let is_word = text.bytes().all(|byte| byte.is_ascii_lowercase());
            let is_old = self.recording.exchanges.iter().take(self.typed[input]).any(|exchange| {
                let mut segments = exchange.request.url.path_segments().into_iter().flatten();
                segments.any(|segment| url_decode(segment) == text)
            });
            if is_old || is_word && !PEOPLE.contains(&spot.name.to_ascii_lowercase().as_str()) {
                return None;
            }
        }
        Some(Piece::Input(input))
    }

    fn input(&mut self, exchange: usize, name: &str, text: &str) -> Piece {
        let own = self.plan.inputs.iter().position(|input| input.recorded == text);
        Piece::Input(own.unwrap_or_else(|| {
            let name = names::free(&names::camel(name), |name| {
                self.plan.inputs.iter().any(|input| input.name == name)
            });
            self.typed.push(exchange);
            self.plan.inputs.push(Input { name, recorded: text.to_owned() });
            self.plan.inputs.len() - 1
        }))
    }

    fn suspect(&mut self, spot: &Spot) {
        let text = spot.text.as_str();
        let is_link = text.contains("://") || text.starts_with('/');
        let is_body = matches!(spot.place, Place::Body | Place::Message(_));
        if is_body || is_link || is_constant_name(&spot.name) {
            return;
        }
        let key = key_of(&spot.name);
        let is_named =
            is_token_name(&key) && text.len() >= 6 && !matches!(spot.place, Place::Segment(_));
        let why = if is_named && strength(text) > Strength::Weak {
            "its name is that of a token, and no response gave it"
        } else if strength(text) == Strength::Strong {
            "it looks random, and no response gave it"
        } else {
            return;
        };
        self.plan.suspects.push(Suspect {
            exchange: spot.exchange,
            place: spot.place.clone(),
            name: spot.name.clone(),
            why: why.to_owned(),
        });
    }

    /// The form whose fields a request sends.
    fn form(&mut self, index: usize, found: Match, spots: &[Spot]) {
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
    fn action(&self, index: usize, page: usize, action: &str) -> Vec<Piece> {
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

    fn finished(self) -> Plan {
        crate::order::ordered(self.plan)
    }
}

/// When a request sends a text.
fn moment_of(spot: &Spot) -> Moment {
    match spot.place {
        Place::Message(at) | Place::MessageJson(at, _) => (spot.exchange, at + 2),
        _ => (spot.exchange, 0),
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

/// Names of cookies that measure visitors.
fn is_measuring(name: &str) -> bool {
    name.starts_with("_ga")
        || name.starts_with("_hj")
        || name.starts_with("_pk_")
        || matches!(
            name,
            "_gid" | "_gat" | "_fbp" | "_gcl_au" | "__utma" | "__utmb" | "__utmc" | "__utmz"
        )
}

fn is_mostly_digits(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= 2 && digits * 3 >= text.len()
}

/// Texts that this one is the code of, and what makes this one of them.
fn encoded(text: &str) -> Vec<(String, Vec<Change>)> {
    let mut all = Vec::new();
    if text.len() < 8 || text.len() > 64 << 10 {
        return all;
    }
    let pairs = [
        (Change::UrlDecode, Change::UrlEncode),
        (Change::Base64Decode, Change::Base64Encode),
        (Change::Base64UrlDecode, Change::Base64UrlEncode),
    ];
    for (decode, encode) in pairs {
        let inner = change(text.to_owned(), &[decode], &|_| None).filter(|inner| inner != text);
        let Some(inner) = inner.filter(|inner| strength(inner) > Strength::Weak) else { continue };
        let again = change(inner.clone(), std::slice::from_ref(&encode), &|_| None);
        if again.as_deref() == Some(text) && !inner.chars().any(char::is_control) {
            all.push((inner, vec![encode]));
        }
    }
    all
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
