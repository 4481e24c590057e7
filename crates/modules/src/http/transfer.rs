//! Sends a prepared request: redirects, cookies, credentials, samples of every hop.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use brunt_engine::Core;
use brunt_fiber::clock;
use brunt_http::cookie::{self, Scope};
use brunt_http::{Body, Client, Exchange, Failure, Headers, Request, Target, TargetError, resolve};
use brunt_js::{Host, Phase};
use brunt_metrics::Metadata;

use super::prepared::{Prepared, ResponseType};
use super::record::{self, Labels};
use super::state::{HttpShared, HttpState};
use super::url::mask;
use crate::state::{Tags, VuState};

/// What a request came to.
pub(super) struct Finished {
    /// The last exchange; `None` if nothing was sent.
    pub(super) exchange: Option<Box<Exchange>>,
    /// The last hop's URL.
    pub(super) url: String,
    /// The body with its content codings taken off, if there were any.
    pub(super) decoded: Option<Vec<u8>>,
    pub(super) error: String,
    pub(super) error_code: u16,
    /// What was asked for first.
    pub(super) first: Sent,
    pub(super) response_type: ResponseType,
    pub(super) throw: bool,
}

/// The first request of a chain, for `res.request`.
pub(super) struct Sent {
    pub(super) method: Cow<'static, str>,
    /// `None` if no redirect was followed.
    pub(super) url: Option<String>,
    pub(super) headers: Rc<Headers>,
    pub(super) body: Option<Rc<[u8]>>,
    pub(super) cookies: Vec<super::prepared::RequestCookie>,
}

/// Where samples go, taken along by requests that outlive the call that made them. Nothing in it is counted
/// atomically: cores must not meet here.
pub(super) struct Sink {
    core: Option<Rc<Core>>,
    http: Rc<HttpShared>,
    tags: Rc<Tags>,
    metadata: Option<Metadata>,
}

impl Sink {
    /// That of the VU as it is now.
    pub(super) fn of(host: &Host, state: &VuState, http: &HttpState) -> Self {
        Self {
            core: host.core().filter(|_| host.phase() != Phase::Summary).cloned(),
            http: Rc::clone(&http.shared),
            tags: state.tags(),
            metadata: state.metadata(),
        }
    }

    fn record(
        &self,
        request: &Prepared,
        hop: &Hop<'_>,
        exchange: &Exchange,
        outcome: &Outcome<'_>,
    ) {
        let Some(core) = &self.core else { return };
        let mut recorder = core.recorder().borrow_mut();
        let base = self.tags.id(&mut recorder);
        let response = exchange.response().ok();
        // A name that the script set through `exec.vu.tags` also stands for the URL.
        let vu_name = if request.name.is_none() { self.tags.name() } else { None };
        let labels = Labels {
            base,
            method: hop.method,
            url: hop.url,
            name: request.name.as_deref().or(vu_name),
            tags: &request.tags,
            status: outcome.status,
            proto: response.map_or("", |response| response.version()),
            tls_version: exchange.tls.map_or("", |tls| tls.version),
            remote: exchange.remote,
            expected: outcome.expected,
            error: outcome.error,
            error_code: outcome.error_code,
        };
        let mut cache = self.http.series.borrow_mut();
        let system = self.http.system_tags;
        record::record(&mut recorder, &mut cache, system, labels, exchange, self.metadata.as_ref());
    }
}

/// One request of a chain.
struct Hop<'a> {
    method: &'a str,
    /// Credentials masked.
    url: &'a str,
}

/// How an exchange is to be judged.
struct Outcome<'a> {
    status: u16,
    expected: Option<bool>,
    error: &'a str,
    error_code: u16,
}

/// Sends the request and follows redirects.
///
/// What is large is boxed where it comes to be: on its way to the script it would be copied ten times.
pub(super) async fn run(client: &Client, mut request: Prepared, sink: Sink) -> Box<Finished> {
    if let Some(limiter) = &sink.http.limiter {
        let wait = limiter.reserve();
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }
    let deadline = clock::now_ns().saturating_add(request.timeout_ns);
    let mut chain = Chain {
        method: request.method.clone(),
        url: std::mem::take(&mut request.url),
        headers: Rc::clone(&request.headers),
        body: request.body.clone(),
        followed: 0,
        first_url: None,
    };
    loop {
        let hop = chain.hop(client, &request, deadline, &sink).await;
        let Some((exchange, decoded, error, error_code)) = hop else { continue };
        let url = std::mem::take(&mut chain.url);
        return Box::new(Finished {
            exchange,
            url,
            decoded,
            error,
            error_code,
            first: Sent {
                method: request.method,
                url: chain.first_url,
                headers: request.headers,
                body: request.body,
                cookies: request.cookies,
            },
            response_type: request.response_type,
            throw: request.throw,
        });
    }
}

/// Where a chain of redirects stands.
struct Chain {
    method: Cow<'static, str>,
    url: String,
    headers: Rc<Headers>,
    body: Option<Rc<[u8]>>,
    followed: u32,
    /// Set once the first redirect is followed.
    first_url: Option<String>,
}

type Last = (Option<Box<Exchange>>, Option<Vec<u8>>, String, u16);

impl Chain {
    /// One exchange. `None` if another must follow.
    async fn hop(
        &mut self,
        client: &Client,
        request: &Prepared,
        deadline: u64,
        sink: &Sink,
    ) -> Option<Last> {
        let place = match sink.http.place(&self.url) {
            Ok(place) => place,
            Err(TargetError::Invalid(invalid)) => {
                return Some((None, None, format!("invalid URL: {}", invalid.of(&self.url)), 1020));
            }
            Err(TargetError::Unreachable(failure)) => {
                return Some((None, None, failure.to_string(), failure.code()));
            }
        };
        let target = place.target.borrow();
        let scope = RefCell::new(None);
        let scope_of = || scope.borrow_mut().get_or_insert_with(|| Scope::of(&target)).clone();
        let headers = self.headers_for(request, &target, &scope_of);
        let mut asked = Request::new(&self.method, &target, &headers);
        if let Some(body) = &self.body {
            asked.body = Body::Bytes(body);
        }
        asked.host = request.host.as_deref().filter(|_| self.followed == 0);
        asked.deadline = Some(deadline);
        asked.discard_body = request.response_type == ResponseType::None;
        let exchange = Box::new(client.exchange(&asked).await);

        let mut failure = exchange.failure;
        let mut decoded = None;
        let mut status = 0;
        let mut next = None;
        if let Ok(response) = exchange.response() {
            status = response.status();
            if response.has_cookies() {
                let values = response
                    .headers()
                    .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
                    .map(|(_, value)| value);
                let now_ms = i64::try_from(clock::now_ns() / 1_000_000).unwrap_or(i64::MAX);
                request.jar.borrow_mut().set_from_response(&scope_of(), values, now_ms);
            }
            next = self.redirect(request, &target, &response);
            if let Some(coding) = response.content_encoding() {
                if !asked.discard_body {
                    let limit = u64::from(u32::MAX);
                    match brunt_http::content::decode(&coding, exchange.body(), limit) {
                        Ok(body) => decoded = body,
                        Err(undecodable) => {
                            failure = Some(Failure::Decompression(undecodable));
                            next = None;
                        }
                    }
                }
            }
        }
        let (error, mut error_code) = match failure {
            Some(failure) => (failure.to_string(), failure.code()),
            None => (String::new(), 0),
        };
        if failure.is_some() && !matches!(failure, Some(Failure::Decompression(_))) {
            status = 0;
        }
        if error_code == 0 && status >= 400 {
            error_code = 1000 + status;
        }
        let outcome = Outcome {
            status,
            expected: request.callback.expects(status),
            error: &error,
            error_code,
        };
        let shown = place.masked.as_deref().unwrap_or(&self.url);
        sink.record(request, &Hop { method: &self.method, url: shown }, &exchange, &outcome);
        match next {
            None => {
                if failure.is_some() {
                    let shown = format!("{} \"{}\": {error}", title(&self.method), mask(&self.url));
                    log::warn!(error = shown.as_str(); "Request Failed");
                }
                Some((Some(exchange), decoded, error, error_code))
            }
            Some(next) => {
                self.follow(next, &request.headers);
                None
            }
        }
    }

    /// The headers on the wire: the request's, and cookies and credentials if there are any.
    fn headers_for(
        &self,
        request: &Prepared,
        target: &Target<'_>,
        scope_of: &dyn Fn() -> Scope,
    ) -> Rc<Headers> {
        let jar = request.jar.borrow();
        let plain = jar.is_empty() && request.cookies.is_empty() && target.userinfo.is_none();
        if plain {
            return Rc::clone(&self.headers);
        }
        let mut headers = (*self.headers).clone();
        if let (Some(basic), None) = (target.basic_authorization(), headers.get("Authorization")) {
            // Base64 has no character that a header may not have.
            let _ = headers.append("Authorization", &basic);
        }
        let mut text = headers.get("Cookie").unwrap_or_default().to_owned();
        for cookie in &request.cookies {
            cookie::append(&mut text, &cookie.name, &cookie.value);
        }
        if !jar.is_empty() {
            let now_ms = i64::try_from(clock::now_ns() / 1_000_000).unwrap_or(i64::MAX);
            for (name, value) in jar.cookies_for(&scope_of(), now_ms) {
                if request.cookies.iter().any(|cookie| cookie.replace && cookie.name == name) {
                    continue;
                }
                cookie::append(&mut text, name, value);
            }
        }
        if !text.is_empty() {
            headers.remove("Cookie");
            // `append` has left out what a header may not have.
            let _ = headers.append("Cookie", &text);
        }
        Rc::new(headers)
    }

    /// Where a response sends us, if it does and we may follow.
    fn redirect(
        &self,
        request: &Prepared,
        target: &Target<'_>,
        response: &brunt_http::Response<'_>,
    ) -> Option<Next> {
        let status = response.status();
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = response.header("Location")?;
        if self.followed >= request.redirects {
            if !request.redirects_set {
                log::warn!(
                    url = self.url.as_str();
                    "Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in the request \
                     params or set the global maxRedirects to silence this",
                    self.followed
                );
            }
            return None;
        }
        let location = String::from_utf8_lossy(location);
        let mut url = resolve(&self.url, &location);
        // A fragment is the browser's business, and goes along.
        if !url.contains('#') {
            if let Some(at) = self.url.find('#') {
                url.push_str(&self.url[at..]);
            }
        }
        let keeps_method = matches!(status, 307 | 308);
        let same_host = Target::parse(&url).is_ok_and(|next| {
            next.host == target.host || next.host.ends_with(&format!(".{}", target.host))
        });
        Some(Next { url, keeps_method, same_host })
    }

    fn follow(&mut self, next: Next, original: &Headers) {
        let before = std::mem::replace(&mut self.url, next.url);
        self.first_url.get_or_insert(before);
        self.followed += 1;
        let mut dropped: Vec<&str> = Vec::new();
        if !next.keeps_method {
            if !matches!(&*self.method, "GET" | "HEAD") {
                self.method = Cow::Borrowed("GET");
            }
            if self.body.take().is_some() {
                dropped.extend(["Content-Type", "Content-Encoding"]);
            }
        }
        if !next.same_host {
            dropped.extend(["Authorization", "Www-Authenticate", "Cookie"]);
        }
        if dropped.iter().any(|name| original.get(name).is_some()) {
            let mut headers = (*self.headers).clone();
            for name in dropped {
                headers.remove(name);
            }
            self.headers = Rc::new(headers);
        }
    }
}

struct Next {
    url: String,
    keeps_method: bool,
    /// The same host or one below it: credentials may go along.
    same_host: bool,
}

/// `GET` as Go's errors write it: `Get`.
fn title(method: &str) -> String {
    let mut out = String::with_capacity(method.len());
    let mut chars = method.chars();
    if let Some(first) = chars.next() {
        let _ = write!(out, "{first}");
    }
    out.extend(chars.map(|char| char.to_ascii_lowercase()));
    out
}
