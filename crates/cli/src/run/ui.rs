//! `--ui`: the page of the run while it goes on, and what may be done to the run from there.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use brunt_engine::RunReport;
use brunt_outputs::stand_back;
use brunt_page::{Access, Answering, Body, Feed, Site};
use brunt_schedule::{Executor, Scenario};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::signal::SignalWatch;
use crate::{
    api::{Subject, Told},
    exit::Exit,
    failure::{Failure, Outcome},
};

/// The port that the page has unless somebody else has it: k6's dashboard's.
const PORT: u16 = 5665;

/// Adds a note on the run to its file; false if there is no room for it now.
pub(crate) type Noting = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The place of the page, before the run starts.
pub(super) struct Ui {
    listener: TcpListener,
    access: Access,
    address: String,
}

/// The page while the run goes on.
pub(super) struct Serving {
    told: Arc<Told>,
    feed: Feed,
}

impl Ui {
    /// Takes the address: nothing, `PORT`, `:PORT`, `HOST` or `HOST:PORT`.
    ///
    /// # Errors
    /// The text is no address, or another process has the address (106, as for the REST API).
    pub(super) fn listen(text: &str) -> Outcome<Self> {
        let failed = |error: &dyn std::fmt::Display| {
            let what = format!("--ui: the page can't be served on {text:?}: {error}");
            Failure::new(Exit::ApiAddress, anyhow::Error::msg(what))
                .hint("write a host and a free port of this machine, such as 127.0.0.1:5665, or only --ui")
        };
        let (host, port) = parts(text).map_err(|error| failed(&error))?;
        let everywhere = if host.is_empty() { "0.0.0.0" } else { &host };
        let name = everywhere.trim_start_matches('[').trim_end_matches(']');
        let bind = |port: u16| {
            let addresses: Vec<SocketAddr> = (name, port).to_socket_addrs()?.collect();
            TcpListener::bind(&addresses[..])
        };
        let listener = match port {
            Some(port) => bind(port),
            // Any other port will do as well.
            None => bind(PORT).or_else(|_| bind(0)),
        };
        let listener = listener.map_err(|error| failed(&error))?;
        let at = listener.local_addr()?;
        let access = Access::new(at, name, brunt_page::machine())?;
        let address = brunt_page::shown(at, &host, &access);
        Ok(Self { listener, access, address })
    }

    /// The address for a browser, with its token if it needs one.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Serves the page of a run.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn serve(
        self,
        run: Arc<dyn Subject>,
        feed: &Feed,
        notes: Noting,
        scenarios: &[Scenario],
    ) -> Outcome<Serving> {
        let of = |path: &str| self.access.address(path);
        let steered =
            |one: &Scenario| matches!(one.executor, Executor::ExternallyControlled { .. });
        let can_pause = scenarios.iter().all(steered) || run.state().is_paused;
        let can_scale = scenarios.iter().any(steered);
        let config = json!({
            "events": of("events"), "report": of("report.html"), "alive": of("alive"),
            "control": {
                "status": of("v1/status"), "pause": can_pause, "scale": can_scale, "stop": true, "note": of("note"),
                "agents": run.state().agents.is_some(),
            },
        });
        let told = Arc::new(Told::new(run));
        let desk = Desk { told: Arc::clone(&told), feed: feed.clone(), notes, config };
        brunt_page::serve(self.listener, Some(self.access), Arc::new(desk), stand_back)?;
        Ok(Serving { told, feed: feed.clone() })
    }
}

/// Host and port of an address; no port if it names none.
fn parts(text: &str) -> Result<(String, Option<u16>), String> {
    let port = |text: &str| {
        text.parse::<u16>().map_err(|_| format!("\"{text}\" is not a port (0 to 65535)"))
    };
    if text.is_empty() {
        return Ok(("127.0.0.1".to_owned(), None));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(("127.0.0.1".to_owned(), Some(port(text)?)));
    }
    match text.rsplit_once(':') {
        Some((host, number)) if !host.contains(':') || host.ends_with(']') => {
            Ok((host.to_owned(), Some(port(number)?)))
        }
        _ => Ok((text.to_owned(), None)),
    }
}

impl Serving {
    /// The run is over: from now on its end is told.
    pub(super) fn ended(&self, report: &RunReport) {
        self.told.ended(report);
    }

    /// People may go on looking at the page, as long as the test did not fail: until the last browser closes it, or until a signal.
    /// After a failed test browsers get the time to fetch the report.
    pub(super) fn linger(&self, failed: bool, signals: &SignalWatch, quiet: bool) {
        /// The time of browsers after a failed test.
        const LAST: Duration = Duration::from_secs(3);
        let feed = &self.feed;
        let over = "the test is over; its page is still open in a browser: close it there, or press Ctrl-C";
        let say = (!quiet && !failed).then_some(over);
        let most = failed.then_some(LAST);
        wait_for_browsers((feed, feed.viewers() > 0), signals, (say, most), |time| {
            feed.wait_for_none(time)
        });
    }
}

/// Waits until no browser looks (which `none` tells after the time that it is given), until all of them are silent for half a minute, until
/// a signal comes that did not come before, or for the time `most` at most.
pub(super) fn wait_for_browsers(
    (feed, is_watched): (&Feed, bool),
    signals: &SignalWatch,
    (say, most): (Option<&str>, Option<Duration>),
    none: impl Fn(Duration) -> bool,
) {
    /// How often a signal is looked for.
    const LOOK: Duration = Duration::from_millis(100);
    if !is_watched {
        return;
    }
    signals.only_count();
    // The signal that ended the test does not end this.
    let before = signals.count();
    if let Some(say) = say {
        log::info!("{say}");
    }
    if feed.is_closed() {
        // Of others the end was told, and since then they are asked whether they are still there.
        feed.sign();
    }
    let end = most.map(|most| Instant::now() + most);
    while !none(LOOK)
        && feed.has_sign()
        && signals.count() == before
        && end.is_none_or(|end| Instant::now() < end)
    {}
}

/// Answers for the page of a run.
struct Desk {
    told: Arc<Told>,
    feed: Feed,
    notes: Noting,
    config: Value,
}

impl Site for Desk {
    fn answer(&self, request: Request<Incoming>) -> Answering {
        let is_get = matches!(*request.method(), Method::GET | Method::HEAD);
        match request.uri().path() {
            "/" if is_get => {
                let page = brunt_page::page(self.feed.page(&self.config));
                Box::pin(async move { page })
            }
            "/events" if is_get => {
                let answer = brunt_page::events(&self.feed, request.headers().get("last-event-id"));
                Box::pin(async move { answer })
            }
            "/alive" if is_get => {
                let answer = brunt_page::alive(&self.feed);
                Box::pin(async move { answer })
            }
            "/report.html" if is_get => {
                let feed = self.feed.clone();
                Box::pin(async move { brunt_page::report(&feed).await })
            }
            "/v1/status" => {
                let told = Arc::clone(&self.told);
                Box::pin(async move {
                    let Ok(answer) = crate::api::answer(&told, request).await;
                    answer.map(http_body_util::BodyExt::boxed_unsync)
                })
            }
            "/note" if *request.method() == Method::POST => {
                let notes = Arc::clone(&self.notes);
                Box::pin(async move { noted(&*notes, request).await })
            }
            "/" | "/events" | "/alive" | "/report.html" | "/note" => {
                Box::pin(async { said(StatusCode::METHOD_NOT_ALLOWED, "not with this method\n") })
            }
            _ => Box::pin(async { said(StatusCode::NOT_FOUND, "there is nothing here\n") }),
        }
    }
}

fn said(status: StatusCode, text: &'static str) -> Response<Body> {
    brunt_page::text(status, "text/plain; charset=utf-8", text)
}

/// `POST {"text": …}`: an event of the run.
async fn noted(
    note: &(dyn Fn(&str) -> bool + Send + Sync),
    request: Request<Incoming>,
) -> Response<Body> {
    /// A note and its JSON.
    const BODY_MAX: usize = 16 << 10;
    const BODY_WAIT: Duration = Duration::from_secs(10);
    let body = Limited::new(request.into_body(), BODY_MAX).collect();
    let body = tokio::time::timeout(BODY_WAIT, body).await;
    let Ok(Ok(body)) = body.map(|body| body.map(http_body_util::Collected::to_bytes)) else {
        return said(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the note is cut short, too slow or too long\n",
        );
    };
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    match asked["text"].as_str().map(str::trim).filter(|text| !text.is_empty()) {
        None => said(StatusCode::BAD_REQUEST, "write {\"text\": \"…\"}\n"),
        Some(text) if note(text) => said(StatusCode::OK, "noted\n"),
        Some(_) => said(StatusCode::TOO_MANY_REQUESTS, "too many notes: wait a second\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_short() {
        let read = |text| parts(text).map(|(host, port)| format!("{host} {port:?}"));
        for (text, said) in [
            ("", "127.0.0.1 None"),
            ("8080", "127.0.0.1 Some(8080)"),
            (":8080", " Some(8080)"),
            ("0.0.0.0:0", "0.0.0.0 Some(0)"),
            ("box", "box None"),
            ("[::1]:80", "[::1] Some(80)"),
            ("::1", "::1 None"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(said), "{text}");
        }
        assert!(parts("a:b").is_err() && parts("70000").is_err());
    }

    #[test]
    fn only_others_need_a_token() {
        let here = Ui::listen("127.0.0.1:0").unwrap();
        assert!(
            here.address().starts_with("http://127.0.0.1:") && !here.address().contains("token")
        );
        let everywhere = Ui::listen("0.0.0.0:0").unwrap();
        assert!(everywhere.address().contains("/?token="), "{}", everywhere.address());
        let taken = here.listener.local_addr().unwrap().to_string();
        assert!(Ui::listen(&taken).is_err());
    }
}
