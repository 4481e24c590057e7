//! Digest and NTLM: requests that are sent again with the answer to a 401. Each is an exchange with samples of its own.

use brunt_fiber::clock;
use brunt_http::auth::digest::{self, Asked};
use brunt_http::auth::ntlm::Kind;
use brunt_http::{Payload, Target};

use super::chain::{Chain, Last, Next, Way};
use super::expected::Callback;

/// The kind of login in `params.auth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Auth {
    Digest,
    Ntlm,
}

impl Auth {
    /// `None`: it asks for nothing that we would have to do.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "digest" => Some(Self::Digest),
            "ntlm" => Some(Self::Ntlm),
            _ => None,
        }
    }
}

/// One of the exchanges of a hop.
#[derive(Clone, Copy, Default)]
pub(super) struct Leg<'a> {
    /// `Authorization`; an empty one is none at all. `None`: that of the URL, or the script's.
    pub(super) authorization: Option<&'a str>,
    first: Option<Auth>,
    /// A 401 is answered with another leg.
    pub(super) asks_again: bool,
}

impl Leg<'_> {
    /// The hop has no other.
    pub(super) fn is_only(self) -> bool {
        self.authorization.is_none()
    }

    /// Whether this status was expected. The first leg of a login expects a 401 (and nothing else, with digest: as in
    /// k6).
    pub(super) fn expects(self, callback: &Callback, status: u16) -> Option<bool> {
        let expected = callback.expects(status)?;
        Some(match self.first {
            None => expected,
            Some(Auth::Digest) => status == 401,
            Some(Auth::Ntlm) => status == 401 || expected,
        })
    }
}

/// The client's own part of an answer. Drawn before anything is sent, so that the requests of a batch draw in their order.
fn nonce(way: &Way<'_>) -> u128 {
    let dialer = way.client.dialer();
    u128::from(dialer.draw()) << 64 | u128::from(dialer.draw())
}

fn with(authorization: &str) -> Leg<'_> {
    Leg { authorization: Some(authorization), ..Leg::default() }
}

impl Chain {
    /// One hop, with what the server wants to know before it answers.
    pub(super) async fn log_in(&mut self, way: &Way<'_>, auth: Auth) -> (Last, Option<Next>) {
        let target = way.place.target.borrow();
        match auth {
            Auth::Digest => self.digest(way, &target).await,
            Auth::Ntlm => self.ntlm(way, &target).await,
        }
    }

    async fn digest(&mut self, way: &Way<'_>, target: &Target<'_>) -> (Last, Option<Next>) {
        let nonce = nonce(way);
        // The first one has a Basic header: as in k6.
        let asks_again = self.can_repeat();
        let first = Leg { authorization: None, first: Some(Auth::Digest), asks_again };
        let came = self.exchange(way, first).await;
        if !self.may_answer(&came.0) {
            return came;
        }
        let (user, password) = target.credentials().unwrap_or_default();
        let answer = {
            let (method, body) = self.asks();
            let body = body.and_then(Payload::in_memory).unwrap_or_default();
            let path = &target.path;
            let asked = Asked { method, path, body: &body, user: (&user, &password) };
            digest::answer(challenges(&came.0), &asked, nonce)
        };
        // Its body is not held while the answer comes.
        drop(came);
        self.exchange(way, with(&answer)).await
    }

    async fn ntlm(&mut self, way: &Way<'_>, target: &Target<'_>) -> (Last, Option<Next>) {
        let nonce = nonce(way) as u64;
        // It may be that the connection knows us already.
        let asks_again = self.can_repeat() && target.credentials().is_some();
        let first = Leg { authorization: Some(""), first: Some(Auth::Ntlm), asks_again };
        let came = self.exchange(way, first).await;
        let kind = if self.may_answer(&came.0) { Kind::wanted(&challenges(&came.0)) } else { None };
        let (Some(kind), Some((user, password))) = (kind, target.credentials()) else {
            return came;
        };
        let negotiate = kind.negotiate();
        drop(came);
        let came = self.exchange(way, Leg { asks_again, ..with(&negotiate) }).await;
        if !self.may_answer(&came.0) {
            return came;
        }
        let user = (user.as_str(), password.as_str());
        match kind.authenticate(challenges(&came.0), user, clock::now_ns(), nonce) {
            Some(answer) => {
                drop(came);
                self.exchange(way, with(&answer)).await
            }
            None => came,
        }
    }

    /// The server wants to know who asks, and the request can be sent once more.
    fn may_answer(&self, last: &Last) -> bool {
        let exchange = last.exchange.as_deref();
        let status =
            exchange.and_then(|exchange| exchange.response().ok()).map(|head| head.status());
        status == Some(401) && self.can_repeat()
    }

    /// Its body can be sent once more.
    fn can_repeat(&self) -> bool {
        self.asks().1.is_none_or(Payload::rewind)
    }
}

/// The values of `WWW-Authenticate`.
fn challenges(last: &Last) -> impl Iterator<Item = &str> + Clone {
    let lines = last.exchange.as_deref().and_then(brunt_http::Exchange::head);
    let lines = lines.into_iter().flat_map(|head| head.headers());
    lines
        .filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"))
        .filter_map(|(_, value)| std::str::from_utf8(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_leg_expects_a_401() {
        let callback = Callback::default();
        let leg = |first| Leg { first, ..Leg::default() };
        for (first, status, expected) in [
            (None, 200, true),
            (None, 401, false),
            (Some(Auth::Digest), 401, true),
            (Some(Auth::Digest), 200, false),
            (Some(Auth::Ntlm), 401, true),
            (Some(Auth::Ntlm), 200, true),
            (Some(Auth::Ntlm), 500, false),
        ] {
            assert_eq!(leg(first).expects(&callback, status), Some(expected), "{first:?} {status}");
        }
    }
}
