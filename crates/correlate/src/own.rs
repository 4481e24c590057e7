//! Values that no response gave: what the client made, what the user typed, what is secret.

use crate::change::url_decode;
use crate::client::{is_challenge, is_constant_name, kind};
use crate::names;
use crate::plan::{Input, Made, MadeKind, Piece, Place, Secret, Suspect};
use crate::request::Spot;
use crate::selectors::joined;
use crate::session::Session;
use crate::typed::is_token;
use crate::values::{Strength, is_token_name, key_of, strength};

impl Session<'_> {
    /// A value that the client made.
    pub(crate) fn made(&mut self, spot: &Spot) -> Option<Piece> {
        let text = spot.text.as_str();
        let is_segment = matches!(spot.place, Place::Segment(_));
        let method = self.recording.exchanges[spot.exchange].request.method.as_str();
        if is_segment && method == "GET"
            || matches!(spot.place, Place::Cookie(_))
            || spot.name.is_empty()
        {
            return None;
        }
        let kind = match kind(text, &spot.name, self.span) {
            Some(kind) => kind,
            None if self.is_oauth_state(spot) => {
                if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                    MadeKind::Alphanumeric(text.len())
                } else {
                    MadeKind::Base64Url(text.len())
                }
            }
            None => return None,
        };

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

    /// Whether it is the `state` of a request that sends the browser back: letters without digits, too, are random there.
    fn is_oauth_state(&self, spot: &Spot) -> bool {
        let url = &self.recording.exchanges[spot.exchange].request.url;
        let text = spot.text.as_bytes();
        // The application makes something of `checkout-step`, and nothing of `pBE_k7bZvE8`.
        let is_word = text.iter().any(|byte| matches!(byte, b'-' | b'_'))
            && !(text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_uppercase));
        matches!(spot.place, Place::Query(_))
            && matches!(spot.name.as_str(), "state" | "nonce")
            && text.len() >= 8
            && !is_word
            && text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && url.query_pairs().any(|(name, _)| name.ends_with("redirect_uri"))
    }

    pub(crate) fn add_made(
        &mut self,
        name: &str,
        text: &str,
        kind: MadeKind,
        first: usize,
    ) -> usize {
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
    pub(crate) fn verifier_of(&self, challenge: &str) -> Option<(String, usize)> {
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

    /// A key or a token that was there before the recording began.
    pub(crate) fn own_secret(&mut self, spot: &Spot) -> Option<Vec<Piece>> {
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

    pub(crate) fn secret(&mut self, name: &str, text: &str) -> Piece {
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
    pub(crate) fn known_input(&self, spot: &Spot) -> Option<Piece> {
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

    /// Whether it is a word of a text that the user typed before: it is looked for.
    pub(crate) fn is_word_of_input(&self, spot: &Spot) -> bool {
        let is_value =
            matches!(spot.place, Place::Json(_) | Place::MessageJson(..) | Place::Query(_));
        is_value
            && spot.text.len() >= 5
            && self
                .plan
                .inputs
                .iter()
                .any(|input| input.recorded.split_whitespace().any(|word| word == spot.text))
    }

    /// A text that the application or the client made of a typed one: `q=lamp`.
    pub(crate) fn composed(&self, text: &str) -> Option<Vec<Piece>> {
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

    pub(crate) fn input(&mut self, exchange: usize, name: &str, text: &str) -> Piece {
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

    pub(crate) fn suspect(&mut self, spot: &Spot) {
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
}
