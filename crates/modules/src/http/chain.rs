//! A request and the redirects that it leads to.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use brunt_fiber::clock;
use brunt_http::content::{self, Unpacked};
use brunt_http::cookie::{self, Scope};
use brunt_http::{
    Body, Client, Exchange, Failure, Headers, MovesOn, Payload, Request, Response, Spool, Target,
    TargetError, Truncated, resolve,
};

use super::download::{Download, Hopped};
use super::login::{Auth, Leg};
use super::prepared::{Prepared, ResponseType};
use super::state::Place;
use super::transfer::{Hop, Outcome, Sink};
use super::url::{escape_path, mask, without_userinfo};

/// The state of a chain of redirects.
pub(super) struct Chain {
    method: Cow<'static, str>,
    pub(super) url: String,
    headers: Rc<Headers>,
    body: Option<Payload>,
    followed: u32,
    /// The last `Location` was relative, so a `Host` of the script's still holds.
    keeps_host: bool,
    /// Set once the first redirect is followed.
    pub(super) first_url: Option<String>,
    /// The `Cookie` line of the first request.
    pub(super) first_cookies: Option<String>,
}

/// The inputs of one hop.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) client: &'a Client,
    pub(super) request: &'a Prepared,
    pub(super) url: &'a str,
    pub(super) place: &'a Place,
    pub(super) deadline: u64,
    pub(super) sink: &'a Sink,
}

/// The end of a chain.
pub(super) struct Last {
    /// `None` if the URL is none.
    pub(super) exchange: Option<Box<Exchange>>,
    pub(super) decoded: Option<Unpacked>,
    pub(super) error: String,
    pub(super) error_code: u16,
    pub(super) thrown: Option<String>,
    /// It is thrown whatever `throw` says.
    pub(super) is_thrown: bool,
}

/// Where a redirect leads.
pub(super) struct Next {
    url: String,
    keeps_method: bool,
    /// The `Location` was relative.
    is_relative: bool,
    /// The same host or one below it: credentials may go along.
    same_host: bool,
}

/// An exchange, its body decoded, and what is wrong with the response: text and code.
type Came = (Box<Exchange>, Option<Unpacked>, Option<(String, u16)>);

/// The part of a response about redirects.
enum Redirect {
    None,
    To(Next),
    /// The `Location` is no URL: why.
    Broken(String),
}

impl Last {
    /// For what was no exchange to count.
    #[cold]
    fn without_samples(error: String, error_code: u16) -> Self {
        let (exchange, decoded, thrown) = (None, None, None);
        Self { exchange, decoded, error, error_code, thrown, is_thrown: false }
    }

    /// When a server switches protocols, which this client can't, k6 throws and counts nothing.
    #[cold]
    fn switched(response: &Response<'_>) -> Self {
        let error = format!("unsupported response status: 101 {}", response.reason());
        let thrown = Some(error.clone());
        Self { thrown, is_thrown: true, ..Self::without_samples(error, 0) }
    }
}

impl Chain {
    /// The beginning. Takes the URL out of the request.
    pub(super) fn new(request: &mut Prepared) -> Self {
        Self {
            method: request.method.clone(),
            url: std::mem::take(&mut request.url),
            headers: Rc::clone(&request.headers),
            body: request.body.clone(),
            followed: 0,
            keeps_host: true,
            first_url: None,
            first_cookies: None,
        }
    }

    /// One exchange. `None` if another must follow.
    pub(super) async fn hop(
        &mut self,
        client: &Client,
        request: &Prepared,
        deadline: u64,
        sink: &Sink,
    ) -> Option<Last> {
        let url = std::mem::take(&mut self.url);
        let (last, next) = match sink.http.place(&url) {
            Ok(place) => {
                let way = Way { client, request, url: &url, place: &place, deadline, sink };
                match request.auth {
                    None => self.exchange(&way, Leg::default()).await,
                    // Boxed, so that requests without it don't carry it.
                    Some(auth) => Box::pin(self.log_in(&way, auth)).await,
                }
            }
            Err(TargetError::Invalid(invalid)) => {
                let error = format!("invalid URL: {}", invalid.of(&url));
                let thrown = request.throws_always.then(|| error.clone());
                let mut last = Last::without_samples(error, 1020);
                last.thrown = thrown;
                (last, None)
            }
            Err(TargetError::Unreachable(failure)) => {
                let exchange = Box::new(Exchange::unsent(failure, clock::now_ns()));
                let leg = Leg::default();
                (self.judge(request, leg, &mask(&url), (exchange, None, None), sink), None)
            }
        };
        if let Some(next) = next {
            self.follow(url, next, &request.headers);
            return None;
        }
        // As k6 shows it.
        self.url = match request.auth {
            Some(Auth::Digest) => {
                let shown = without_userinfo(&url).into_owned();
                if shown.len() < url.len() {
                    // The request itself keeps what was asked for.
                    self.first_url.get_or_insert(url);
                }
                shown
            }
            _ => url,
        };
        Some(last)
    }

    /// Sends, stores cookies, decodes; says where to go next.
    pub(super) async fn exchange(&mut self, way: &Way<'_>, leg: Leg<'_>) -> (Last, Option<Next>) {
        let Way { client, request, url, place, deadline, sink } = *way;
        let target = &place.target.borrow();
        // With digest, k6 takes user and password out before it looks at the URL.
        let shown = match request.auth {
            Some(Auth::Digest) => without_userinfo(url),
            _ => (&*place.shown).into(),
        };
        let shown = shown.as_ref();
        let too_late = (request.timeout_ns == 0).then_some(Failure::Timeout);
        if let Some(refused) = request.refused.or(too_late) {
            let exchange = Box::new(Exchange::unsent(refused, clock::now_ns()));
            return (self.judge(request, leg, shown, (exchange, None, None), sink), None);
        }
        let scope = RefCell::new(None);
        let scope_of = || scope.borrow_mut().get_or_insert_with(|| Scope::of(target)).clone();
        let headers = self.headers_for(request, leg, target, &scope_of);
        let mut asked = Request::new(&self.method, target, &headers);
        if let Some(body) = &self.body {
            asked.body = Body::Payload(body);
        }
        if let Some(download) = &request.download {
            asked.spool = Some(self.streams_to(download, url, request));
            download.spool.answer_challenges(leg.asks_again);
        }
        asked.host = request.host.as_deref().filter(|_| self.keeps_host);
        asked.deadline = Some(deadline);
        asked.together = request.together;
        let is_dropped = request.response_type == ResponseType::None;
        if sink.is_watched() {
            // A watcher sees all, but for bodies that are too large.
            asked.keep_max = is_dropped.then(|| client.network().body_limit().saturating_sub(1));
        } else {
            asked.discard_body = is_dropped;
            asked.moves_on = MovesOn {
                redirects: self.followed < request.redirects,
                // With NTLM, there may be nothing to answer.
                challenges: leg.asks_again && request.auth == Some(Auth::Digest),
            };
        }
        let mut exchange = match &request.download {
            // Boxed, so that requests that aren't streamed don't carry it.
            Some(download) => {
                Box::new(Box::pin(download.unless_aborted(client.exchange(&asked))).await)
            }
            None => Box::new(client.exchange(&asked).await),
        };

        let mut decoded = None;
        let mut redirect = Redirect::None;
        let mut failure = None;
        if let Ok(response) = exchange.response() {
            if response.status() == 101 {
                return (Last::switched(&response), None);
            }
            // A script that reads a stream has the cookies since the head came.
            if response.has_cookies() && !asked.spool.is_some_and(Spool::has_begun) {
                let values = response
                    .headers()
                    .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
                    .map(|(_, value)| value);
                request.jar.borrow_mut().set_from_response(&scope_of(), values, now_ms());
            }
            redirect = self.redirect(request, (url, target), &response);
            let is_kept = !is_dropped && asked.spool.is_none();
            // A watcher reads it, though the script does not.
            let is_read = is_kept || (is_dropped && sink.is_watched() && asked.spool.is_none());
            if let (Some(coding), true) = (response.content_encoding(), is_read) {
                let limit = client.network().body_limit();
                let (body, why) = match content::unpack_small(&coding, exchange.body(), limit) {
                    Some(outcome) => outcome,
                    // Boxed, as it is rare.
                    None => Box::pin(unpack(&coding, exchange.body(), limit, deadline)).await,
                };
                decoded = body;
                if let Some(why) = why.filter(|_| is_kept) {
                    failure = Some((why.to_string(), why.code()));
                    redirect = Redirect::None;
                }
            }
        }
        sink.show((shown, request), &asked, &exchange, decoded.as_deref());
        if decoded.is_some() || is_dropped {
            // The body as it came is not asked for.
            exchange.forget_body();
        }
        if is_dropped {
            decoded = None;
        }
        let next = match redirect {
            Redirect::To(next) => Some(next),
            Redirect::None => None,
            Redirect::Broken(why) => {
                failure = Some((why, 1000));
                None
            }
        };
        (self.judge(request, leg, shown, (exchange, decoded, failure), sink), next)
    }

    /// The method of this hop, and its body.
    pub(super) fn asks(&self) -> (&str, Option<&Payload>) {
        (&self.method, self.body.as_ref())
    }

    /// Where the body of this hop's response goes, told what it is a response to.
    fn streams_to<'d>(&self, download: &'d Download, url: &str, request: &Prepared) -> &'d Spool {
        download.spool.follow_redirects(self.followed < request.redirects);
        download.hop(Hopped {
            url: url.to_owned(),
            first_url: self.first_url.clone(),
            first_cookies: self.first_cookies.clone(),
        });
        &download.spool
    }

    /// Records an exchange, and says so if it failed. `url` has its credentials masked. A failure
    /// beside the exchange's own comes from what the response holds.
    fn judge(
        &self,
        request: &Prepared,
        leg: Leg<'_>,
        url: &str,
        (mut exchange, decoded, found): Came,
        sink: &Sink,
    ) -> Last {
        // The address that was met on the way to a connection that did not come about is not told: so it is in k6.
        if exchange.failure.is_some() && exchange.timings.blocked == 0 && !exchange.reused {
            exchange.remote = None;
        }
        let mut status = exchange.response().map_or(0, |response| response.status());
        let (error, mut error_code) = match (exchange.failure, found) {
            (Some(failure), _) => (failure.to_string(), failure.code()),
            (None, Some(found)) => {
                status = 0;
                found
            }
            (None, None) => (String::new(), 0),
        };
        if error_code == 0 && status >= 400 {
            error_code = 1000 + status;
        }
        let outcome = Outcome {
            status,
            expected: leg.expects(&request.callback, status),
            error: &error,
            error_code,
        };
        sink.record(request, &Hop { method: &self.method, url }, &exchange, &outcome);
        let mut thrown = None;
        if !error.is_empty() {
            let host = Target::parse(url).map_or(String::new(), |target| target.host.into_owned());
            let reason = exchange.reason(&host);
            let reason = reason.as_deref().unwrap_or(&error);
            let broken = if is_broken(&exchange) { BROKEN } else { "" };
            // A fault of a body is told without the URL, as in k6, and once.
            let is_of_body = exchange.head().is_some() && !error.starts_with(NO_LOCATION);
            let told = if is_of_body {
                once(&error).to_owned()
            } else {
                // The method of the first request, wherever it went wrong: that is what Go's client was asked for.
                format!("{} \"{}\": {broken}{reason}", title(&request.method), url)
            };
            if request.throw {
                thrown = Some(told);
            } else {
                log::warn!(error = told.as_str(); "Request Failed");
            }
        }
        Last { exchange: Some(exchange), decoded, error, error_code, thrown, is_thrown: false }
    }

    /// The headers on the wire: the request's, and cookies and credentials if there are any.
    fn headers_for(
        &mut self,
        request: &Prepared,
        leg: Leg<'_>,
        target: &Target<'_>,
        scope_of: &dyn Fn() -> Scope,
    ) -> Rc<Headers> {
        let jar = request.jar.borrow();
        let taken = request.taken.as_deref().filter(|_| self.followed == 0);
        if taken.map_or_else(|| jar.is_empty(), <[_]>::is_empty)
            && request.cookies.is_empty()
            && target.userinfo.is_none()
            && leg.is_only()
        {
            return Rc::clone(&self.headers);
        }
        let mut headers = Rc::clone(&self.headers);
        let authorization = match leg.authorization {
            Some(text) => Some(text.to_owned()).filter(|text| !text.is_empty()),
            None if headers.get("Authorization").is_some() => None,
            None => target.basic_authorization(),
        };
        if let Some(authorization) = authorization {
            headers = Rc::new(with_line(&headers, "Authorization", &authorization));
        }
        // The script's own Cookie line counts for the first request only.
        let mut text = headers.get("Cookie").unwrap_or_default().to_owned();
        for cookie in &request.cookies {
            cookie::append(&mut text, &cookie.name, &cookie.value);
        }
        let mut append = |name: &str, value: &str| {
            if !request.cookies.iter().any(|cookie| cookie.replace && cookie.name == name) {
                cookie::append(&mut text, name, value);
            }
        };
        match taken {
            Some(taken) => taken.iter().for_each(|(name, value)| append(name, value)),
            None if jar.is_empty() => {}
            None => {
                for (name, value) in jar.cookies_for(&scope_of(), now_ms()) {
                    append(name, value);
                }
            }
        }
        if !text.is_empty() {
            headers = Rc::new(with_line(&headers, "Cookie", &text));
            if self.followed == 0 {
                self.first_cookies = Some(text);
            }
        }
        headers
    }

    /// Where a response sends us, if it does and we may follow.
    fn redirect(
        &self,
        request: &Prepared,
        (url, target): (&str, &Target<'_>),
        response: &Response<'_>,
    ) -> Redirect {
        let status = response.status();
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Redirect::None;
        }
        let Some(location) = response.header("Location").filter(|location| !location.is_empty())
        else {
            return Redirect::None;
        };
        if self.followed >= request.redirects {
            if !request.redirects_set {
                log::warn!(
                    url = self.first_url.as_deref().unwrap_or(url);
                    "Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in request \
                     params or set global maxRedirects to silence this",
                    self.followed + 1
                );
            }
            return Redirect::None;
        }
        let keeps_method = matches!(status, 307 | 308);
        if keeps_method && self.body.as_ref().is_some_and(|body| !body.rewind()) {
            // As Go does.
            log::warn!(
                url = url;
                "The redirect is not followed, since it asks for the body once more, which came from a stream"
            );
            return Redirect::None;
        }
        let location = String::from_utf8_lossy(location);
        if location.starts_with(':') {
            let why = format!("parse {location:?}: missing protocol scheme");
            return Redirect::Broken(format!("{NO_LOCATION} {location:?}: {why}"));
        }
        let to = escape_path(resolve(url, &location));
        let same_host = match Target::parse(&to) {
            Ok(next) => {
                next.host == target.host || next.host.ends_with(&format!(".{}", target.host))
            }
            Err(TargetError::Invalid(invalid)) => {
                let why = invalid.of(&location);
                return Redirect::Broken(format!("{NO_LOCATION} {location:?}: {why}"));
            }
            Err(TargetError::Unreachable(_)) => false,
        };
        Redirect::To(Next {
            is_relative: resolve("http://a/", &location) != *location
                && !location.starts_with("//"),
            url: to,
            keeps_method,
            same_host,
        })
    }

    fn follow(&mut self, from: String, next: Next, original: &Headers) {
        self.followed += 1;
        self.keeps_host = next.is_relative;
        let mut headers = Cow::Borrowed(&*self.headers);
        // Rebuilt from params and jar for each request.
        let mut dropped: Vec<&str> = vec!["Cookie"];
        if !next.keeps_method {
            if !matches!(&*self.method, "GET" | "HEAD") {
                self.method = Cow::Borrowed("GET");
            }
            if self.body.take().is_some() {
                dropped.extend(["Content-Type", "Content-Encoding"]);
            }
        }
        if !next.same_host {
            dropped.extend(["Authorization", "Www-Authenticate"]);
        }
        for name in dropped {
            if headers.get(name).is_some() {
                headers.to_mut().remove(name);
            }
        }
        if original.get("Referer").is_none() {
            let hides = from.starts_with("https:") && next.url.starts_with("http:");
            let referer = if hides { None } else { Some(without_userinfo(&from)) };
            headers = Cow::Owned(if let Some(referer) = referer {
                with_line(&headers, "Referer", &referer)
            } else {
                let mut headers = headers.into_owned();
                headers.remove("Referer");
                headers
            });
        }
        if let Cow::Owned(headers) = headers {
            self.headers = Rc::new(headers);
        }
        self.first_url.get_or_insert(from);
        self.url = next.url;
    }
}

/// How a redirect to nowhere is told.
const NO_LOCATION: &str = "failed to parse Location header";

/// The message about a coding once, which k6 has twice in `res.error`.
fn once(error: &str) -> &str {
    const TWICE: &str = "error decompressing response body (";
    match error.strip_prefix(TWICE) {
        Some(inner) if inner.starts_with(TWICE) => inner.strip_suffix(')').unwrap_or(inner),
        _ => error,
    }
}

/// Go's words before the fault of the head of a response.
const BROKEN: &str = "net/http: HTTP/1.x transport connection broken: ";

/// Takes the codings off a large body. Others on the core go on meanwhile, and the request's time limit holds.
async fn unpack(coding: &str, body: &[u8], limit: u64, deadline: u64) -> content::Outcome {
    content::unpack(coding, body, limit, async || {
        // Chores that were put off until the core rests: it doesn't rest.
        brunt_fiber::core::carry_out_chores();
        tokio::task::yield_now().await;
        clock::now_ns() < deadline
    })
    .await
}

/// The head of the response is nonsense, or ends before its end.
fn is_broken(exchange: &Exchange) -> bool {
    let failure = exchange.failure.filter(|_| exchange.head().is_none());
    matches!(failure, Some(Failure::Malformed(malformed)) if malformed.is_of_http1())
        || failure == Some(Truncated::Partial.into())
}

/// The headers with this one in its place: after `User-Agent` they are sorted, as Go sends them.
fn with_line(headers: &Headers, name: &str, value: &str) -> Headers {
    let mut out = Headers::new();
    let mut is_placed = false;
    for (other, kept) in headers {
        if other == name {
            continue;
        }
        if !is_placed && other != "User-Agent" && other > name {
            // Cookies and Base64 have left out what a header may not have; so has a URL.
            let _ = out.append(name, value);
            is_placed = true;
        }
        let _ = out.append(other, kept);
    }
    if !is_placed {
        let _ = out.append(name, value);
    }
    out
}

fn now_ms() -> i64 {
    i64::try_from(clock::now_ns() / 1_000_000).unwrap_or(i64::MAX)
}

/// `GET` as Go's errors write it: `Get`.
fn title(method: &str) -> String {
    let mut out = String::with_capacity(method.len());
    let mut chars = method.chars();
    out.extend(chars.next());
    out.extend(chars.map(|char| char.to_ascii_lowercase()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_put_where_go_puts_it() {
        let mut headers = Headers::new();
        for (name, value) in [("User-Agent", "x"), ("Accept", "a"), ("X-Y", "z")] {
            headers.append(name, value).unwrap();
        }
        let with = with_line(&with_line(&headers, "Cookie", "a=1"), "Cookie", "b=2");
        let names: Vec<_> = with.iter().collect();
        assert_eq!(names, [("User-Agent", "x"), ("Accept", "a"), ("Cookie", "b=2"), ("X-Y", "z")]);
    }

    #[test]
    fn methods_are_titled() {
        assert_eq!(title("GET"), "Get");
        assert_eq!(title("a B"), "a b");
        assert_eq!(title(""), "");
    }
}
