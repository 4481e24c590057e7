//! Sends a prepared request: redirects, cookies, credentials, samples of every hop.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use brunt_engine::Core;
use brunt_fiber::clock;
use brunt_http::content::Unpacked;
use brunt_http::{Client, Exchange, Headers, Payload, Request, TlsInfo};
use brunt_js::{Host, Phase};
use brunt_metrics::Metadata;

use super::chain::{Chain, Last};
use super::prepared::{Prepared, ResponseType};
use super::record::{self, Labels};
use super::state::{HttpShared, HttpState};
use crate::state::{Tags, VuState};
use crate::watch::{Place, Seen, Watched, Watcher};

/// The result of a request.
pub(super) struct Finished {
    /// The last exchange; `None` if nothing was sent.
    pub(super) exchange: Option<Box<Exchange>>,
    /// The last hop's URL.
    pub(super) url: String,
    /// The body with its content codings taken off, if there were any.
    pub(super) decoded: Option<Unpacked>,
    pub(super) error: String,
    pub(super) error_code: u16,
    /// The exception to throw, if failures throw.
    pub(super) thrown: Option<String>,
    /// The first request.
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
    /// The script's value of `Host`.
    pub(super) host: Option<String>,
    /// The `Cookie` line.
    pub(super) cookies: Option<String>,
    /// Before compression.
    pub(super) body: Option<Payload>,
}

/// Where samples go, taken along by requests that outlive the call that made them. Nothing in it is counted
/// atomically: cores must not meet here.
pub(super) struct Sink {
    core: Option<Rc<Core>>,
    pub(super) http: Rc<HttpShared>,
    tags: Rc<Tags>,
    metadata: Option<Metadata>,
    watched: Option<Box<Watched>>,
}

impl Sink {
    /// The sink of the VU as it is now.
    pub(super) fn of(host: &Host, state: &VuState, http: &HttpState) -> Self {
        Self {
            core: host.core().filter(|_| host.phase() != Phase::Summary).cloned(),
            http: Rc::clone(&http.shared),
            tags: state.tags(),
            metadata: state.metadata(),
            watched: http.shared.watcher.as_ref().map(|watcher| {
                let group = Arc::clone(&state.group.borrow());
                Box::new(Watched::new(Rc::clone(watcher), host, group))
            }),
        }
    }

    /// Somebody looks at each exchange with all that belongs to it.
    pub(super) fn is_watched(&self) -> bool {
        self.watched.as_ref().is_some_and(|watched| watched.sees_all())
    }

    /// Shows an exchange to whoever watches.
    pub(super) fn show(
        &self,
        (url, prepared): (&str, &Prepared),
        request: &Request<'_>,
        exchange: &Exchange,
        decoded: Option<&[u8]>,
    ) {
        if let Some(watched) = &self.watched {
            let closes = self.http.closes();
            let name = self.name_of(prepared);
            watched.exchange(&Seen::new((url, name), request, exchange, decoded, closes));
        } else if let Some(watcher) = &self.http.failures
            && !exchange.response().is_ok_and(|response| response.status() < 400)
        {
            self.show_failure(&**watcher, (url, prepared), request, (exchange, decoded));
        }
    }

    /// Shows an exchange that failed to a watcher of failures.
    #[cold]
    fn show_failure(
        &self,
        watcher: &dyn Watcher,
        (url, prepared): (&str, &Prepared),
        request: &Request<'_>,
        (exchange, decoded): (&Exchange, Option<&[u8]>),
    ) {
        let name = self.name_of(prepared);
        let seen = Seen::new((url, name), request, exchange, decoded, self.http.closes());
        let scenario = self.tags.scenario().unwrap_or_default();
        watcher.exchange(&Place { group: "", scenario, vu: 0, iteration: None }, &seen);
    }

    /// The tag `name`, if it is not the URL. One that the script set through `exec.vu.tags` also takes the URL's place.
    fn name_of<'a>(&'a self, request: &'a Prepared) -> Option<&'a str> {
        let template = request.template.as_deref();
        request.name.as_deref().or_else(|| self.tags.name()).or(template)
    }

    /// Records the samples of one exchange.
    pub(super) fn record(
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
        let labels = Labels {
            base,
            method: hop.method,
            url: hop.url,
            name: self.name_of(request),
            is_named: request.name.is_some(),
            tags: &request.tags,
            status: outcome.status,
            proto: response
                .filter(|_| outcome.status != 0)
                .map_or("", |response| response.version()),
            tls_version: exchange.tls.filter(|_| outcome.status != 0).map_or("", |tls| tls.version),
            ocsp_status: (exchange.tls.as_ref())
                .filter(|_| outcome.status != 0)
                .map_or("", TlsInfo::ocsp_status),
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
pub(super) struct Hop<'a> {
    pub(super) method: &'a str,
    /// Credentials masked.
    pub(super) url: &'a str,
}

/// How an exchange is to be judged.
pub(super) struct Outcome<'a> {
    pub(super) status: u16,
    pub(super) expected: Option<bool>,
    pub(super) error: &'a str,
    pub(super) error_code: u16,
}

/// Sends the request and follows redirects. The rest of the request and the result make a [`Finished`].
///
/// It borrows, because a future is as large as what it owns, and each VU that waits has one.
pub(super) async fn run(client: &Client, request: &mut Prepared, sink: &Sink) -> Ended {
    if let Some(limiter) = &sink.http.limiter {
        let wait = limiter.reserve(clock::now_ns());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }
    let deadline = clock::now_ns().saturating_add(request.timeout_ns);
    let mut chain = Chain::new(request);
    let last = loop {
        if let Some(last) = chain.hop(client, request, deadline, sink).await {
            break last;
        }
    };
    let Chain { url, first_url, first_cookies, .. } = chain;
    Ended { last, url, first_url, first_cookies }
}

/// The end of a request and its redirects.
pub(super) struct Ended {
    pub(super) last: Last,
    url: String,
    first_url: Option<String>,
    first_cookies: Option<String>,
}

impl Finished {
    /// The result of a request.
    pub(super) fn new(request: Prepared, ended: Ended) -> Box<Self> {
        let Ended { last, url, first_url, first_cookies } = ended;
        Box::new(Self {
            exchange: last.exchange,
            url,
            decoded: last.decoded,
            error: last.error,
            error_code: last.error_code,
            thrown: last.thrown,
            first: Sent {
                method: request.method,
                url: first_url,
                headers: request.headers,
                host: request.host,
                cookies: first_cookies,
                body: request.shown_body.or(request.body),
            },
            response_type: request.response_type,
            throw: request.throw || last.is_thrown,
        })
    }
}
