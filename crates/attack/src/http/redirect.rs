//! Redirects, as Go's client follows them.

use brunt_fiber::clock;
use brunt_http::{Body, Exchange, OwnedTarget, Request, Target as Url, TargetError, resolve};

use super::{Exchanges, Hit, Worker};
use crate::load::Books;

/// The answer says where to go instead.
pub(super) fn leads_on(exchange: &Exchange) -> bool {
    exchange.response().is_ok_and(|response| {
        matches!(response.status(), 301 | 302 | 303 | 307 | 308)
            && response.header("location").is_some_and(|location| !location.is_empty())
    })
}

impl Exchanges {
    /// Follows redirects, as many as are allowed, and writes the hit's record. Methods change as in Go's client:
    /// 301, 302 and 303 turn all but HEAD into GET, without a body.
    pub(super) async fn follow(
        &self,
        books: &Books,
        worker: &mut Worker,
        hit: &Hit<'_>,
        first: Exchange,
        deadline: Option<u64>,
    ) {
        let mut exchange = first;
        let mut url = hit.target.url.clone();
        let mut method = hit.target.method.as_str();
        let mut has_body = true;
        let mut host = hit.target.host.as_deref();
        for count in 0.. {
            let Some((status, location)) = location(&exchange) else {
                return self.ended(books, hit, &exchange, method, &url, None);
            };
            if status < 307 {
                method = if method == "HEAD" { "HEAD" } else { "GET" };
                has_body = false;
            }
            let most = self.plan.redirects.unwrap_or_default();
            if count >= most {
                let trouble = format!("stopped after {most} redirects");
                return self.ended(books, hit, &exchange, method, &location, Some(trouble));
            }
            let next = resolve(&url, &location);
            let way = match Url::parse(&next) {
                Ok(way) => way.to_owned_target(),
                Err(TargetError::Unreachable(failure)) => {
                    let failed = Exchange::unsent(failure, clock::now_ns());
                    return self.ended(books, hit, &failed, method, &next, None);
                }
                Err(TargetError::Invalid(invalid)) => {
                    let trouble = format!(
                        "failed to parse Location header {location:?}: {}",
                        invalid.of(&next)
                    );
                    return self.ended(books, hit, &exchange, method, &location, Some(trouble));
                }
            };
            let elsewhere = is_elsewhere(hit, &way);
            if elsewhere || location.contains("://") {
                host = None;
            }
            prepare(worker, has_body, elsewhere);
            url = next;
            let way = way.borrow();
            let chunks = if has_body { self.chunks(hit.target) } else { None };
            let mut request = Request::new(method, &way, &worker.headers);
            request.host = host;
            request.deadline = deadline;
            request.discard_body = self.plan.keep_body == 0;
            request.keep_max = Some(self.plan.keep_body);
            request.body = match &chunks {
                Some(chunks) => Body::Payload(chunks),
                None if !has_body || hit.target.body.is_empty() => Body::Empty,
                None => Body::Bytes(&hit.target.body),
            };
            exchange = worker.client.exchange(&request).await;
        }
    }
}

/// Status and place, if it is a redirect.
fn location(exchange: &Exchange) -> Option<(u16, String)> {
    if !leads_on(exchange) {
        return None;
    }
    let response = exchange.response().ok()?;
    let place = response.header("location")?;
    Some((response.status(), String::from_utf8_lossy(place).into_owned()))
}

/// Another host than the target's, and none below it: secrets don't go there.
fn is_elsewhere(hit: &Hit<'_>, way: &OwnedTarget) -> bool {
    let Ok(first) = &hit.target.way else { return true };
    let (from, to) = (first.borrow(), way.borrow());
    let below = to.host.strip_suffix(&*from.host).is_some_and(|rest| rest.ends_with('.'));
    from.host != to.host && !below
}

/// Takes off what the next request must not have.
fn prepare(worker: &mut Worker, has_body: bool, elsewhere: bool) {
    if elsewhere {
        for secret in ["Authorization", "Cookie", "Cookie2", "Www-Authenticate"] {
            worker.headers.remove(secret);
        }
    }
    if !has_body {
        worker.headers.remove("Content-Type");
        worker.headers.remove("Content-Encoding");
    }
}
