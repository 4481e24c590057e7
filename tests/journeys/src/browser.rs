//! A browser that a journey drives: it keeps cookies, follows redirects, fetches the files of pages once, sends the headers that
//! Chrome sends, and writes all of it down as a [`Recording`].
//!
//! Its clock is its own: a thought of two seconds takes no time.

mod ask;
mod headers;
mod jar;
mod page;

use std::collections::BTreeSet;
use std::time::Duration;

use brunt_traffic::{
    Body, Event, Exchange, Headers, Message, Recording, Request, Resource, Response, Side, Step,
};
use url::Url;

pub use self::ask::{Ask, File};
use self::jar::Jar;
pub use self::page::{Form, Page};
use crate::dice::Dice;
use crate::wire;

/// Redirects that are followed before a journey is wrong.
const REDIRECTS_MAX: usize = 20;
/// The moment at which recordings begin, in seconds since 1970.
const BEGAN: i64 = 1_790_000_000;

/// A browser with one tab.
pub struct Browser {
    recording: Recording,
    now: Duration,
    jar: Jar,
    cached: BTreeSet<Url>,
    current: Option<Url>,
    /// Exchanges that a redirect led to.
    redirected: BTreeSet<usize>,
    /// Values that scripts of pages made.
    made: Vec<String>,
    /// Makes what scripts of pages make: verifiers, UUIDs.
    dice: Dice,
}

/// A conversation over a WebSocket, recorded in the exchange that opened it.
pub struct Talk {
    exchange: usize,
    socket: wire::Socket,
}

/// A session as it was recorded, and what only its browser knows.
#[derive(Debug, Clone)]
pub struct Taken {
    /// All exchanges.
    pub recording: Recording,
    /// Exchanges that a redirect led to: a script does not send them.
    pub redirected: BTreeSet<usize>,
    /// Values that scripts of pages made.
    pub made: Vec<String>,
}

impl Browser {
    /// A browser without cookies, whose client-made values come of a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            recording: Recording {
                origin: "a scripted browser".to_owned(),
                began: Some(BEGAN),
                ..Recording::default()
            },
            now: Duration::ZERO,
            jar: Jar::default(),
            cached: BTreeSet::new(),
            current: None,
            redirected: BTreeSet::new(),
            made: Vec::new(),
            dice: Dice::new(!seed),
        }
    }

    /// The session until now.
    pub fn taken(self) -> Taken {
        Taken { recording: self.recording, redirected: self.redirected, made: self.made }
    }

    /// A step begins.
    pub fn step(&mut self, name: &str) {
        self.now += Duration::from_millis(1);
        self.recording.steps.push(Step { at: self.now, name: name.to_owned() });
    }

    /// The user thinks.
    pub fn think(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    /// A value that a script of the page makes.
    pub fn make(&mut self, value: impl FnOnce(&mut Dice) -> String) -> String {
        let value = value(&mut self.dice);
        self.made.push(value.clone());
        value
    }

    /// The browser's clock, in milliseconds since 1970, as a script of the page reads it.
    pub fn milliseconds(&mut self) -> String {
        let now = BEGAN as u128 * 1000 + self.now.as_millis();
        self.make(|_| now.to_string())
    }

    /// A cookie that scripts of the page can read.
    pub fn cookie(&self, name: &str) -> String {
        let found = self.jar.find(name);
        found.unwrap_or_else(|| panic!("the browser has no cookie {name}"))
    }

    /// Opens a page: its address is typed, or a link's.
    pub fn open(&mut self, url: &str) -> Page {
        let url = self.absolute(url);
        self.navigate(Ask::new("GET", url))
    }

    /// Sends a form as its page would.
    pub fn submit(&mut self, form: Form) -> Page {
        self.navigate(form.into_ask())
    }

    /// The address of a link as an absolute one.
    pub fn absolute(&self, url: &str) -> Url {
        let base = self.current.as_ref();
        let url = base.map_or_else(|| Url::parse(url), |base| base.join(url));
        url.expect("a journey's addresses are valid")
    }

    /// A request by a script of the page.
    pub fn fetch(&mut self, method: &str, url: &str) -> Ask {
        Ask::new(method, self.absolute(url))
    }

    /// Sends a request of a script of the page.
    pub fn send(&mut self, ask: Ask) -> Page {
        self.follow(ask, Resource::Fetch)
    }

    /// Reads all of an event stream.
    pub fn events(&mut self, url: &str) -> Page {
        let ask = Ask::new("GET", self.absolute(url)).header("Accept", "text/event-stream");
        let page = self.follow(ask, Resource::EventSource);
        let at = self.now;
        let text = page.text.clone();
        let exchange = self.recording.exchanges.last_mut().expect("it was just made");
        for block in text.split("\n\n").filter(|block| !block.is_empty()) {
            let part = |name: &str| {
                let lines = block.lines().filter_map(|line| line.strip_prefix(name));
                lines.map(|line| line.trim_start().to_owned()).collect::<Vec<_>>().join("\n")
            };
            let kind = part("event:");
            let kind = if kind.is_empty() { "message".to_owned() } else { kind };
            exchange.events.push(Event { at, kind, data: part("data:") });
        }
        page
    }

    /// Opens a WebSocket.
    pub fn talk(&mut self, url: &str) -> Talk {
        let mut url = self.absolute(url);
        let key = self.dice.base64(16);
        let mut headers = headers::socket(&url, self.current.as_ref(), &key);
        if let Some(cookies) = self.jar.header(&url) {
            headers.push(("Cookie".to_owned(), cookies));
        }
        let sent = self.tick(2);
        let (answer, socket) = wire::send("GET", &url, &headers, b"").expect("the server answers");
        assert_eq!(answer.status, 101, "{url} is no WebSocket");
        url.set_scheme("ws").expect("http may become ws");
        let request = Request {
            method: "GET".to_owned(),
            url,
            version: Some("HTTP/1.1".to_owned()),
            headers: Headers(headers),
            body: Body::Empty,
        };
        let exchange = self.note(sent, request, &answer, Resource::WebSocket);
        Talk { exchange, socket }
    }

    /// Says a text over a WebSocket.
    pub fn say(&mut self, talk: &mut Talk, text: &str) {
        talk.socket.say(text).expect("the server listens");
        self.message(talk.exchange, Side::Client, text);
    }

    /// The next text of the server.
    pub fn hear(&mut self, talk: &mut Talk) -> String {
        let text = talk.socket.hear().expect("the server talks");
        self.message(talk.exchange, Side::Server, &text);
        text
    }

    /// Ends a conversation.
    pub fn hang_up(&mut self, talk: Talk) {
        self.recording.exchanges[talk.exchange].done = self.tick(2);
        talk.socket.close().expect("the server reads");
    }

    fn message(&mut self, exchange: usize, from: Side, text: &str) {
        let at = self.tick(5);
        let data = text.to_owned().into();
        let message = Message { at, from, is_text: true, data };
        self.recording.exchanges[exchange].messages.push(message);
    }

    fn tick(&mut self, ms: u64) -> Duration {
        self.now += Duration::from_millis(ms);
        self.now
    }

    /// Loads a page and the files that it names.
    fn navigate(&mut self, ask: Ask) -> Page {
        let page = self.follow(ask, Resource::Document);
        self.current = Some(page.url.clone());
        for (url, resource) in page.files() {
            if self.cached.insert(url.clone()) {
                self.once(&Ask::new("GET", url), resource);
            }
        }
        page
    }

    /// Sends a request and follows redirects.
    fn follow(&mut self, mut ask: Ask, resource: Resource) -> Page {
        for _ in 0..REDIRECTS_MAX {
            let (exchange, answer) = self.once(&ask, resource);
            let location = answer.headers.get("location").map(str::to_owned);
            let Some(location) =
                location.filter(|_| matches!(answer.status, 301..=303 | 307 | 308))
            else {
                return Page::new(ask.url, answer);
            };
            let url = ask.url.join(&location).expect("the server redirects to an address");
            let keeps = matches!(answer.status, 307 | 308);
            ask = if keeps { Ask { url, ..ask } } else { Ask::new("GET", url) };
            self.redirected.insert(exchange + 1);
        }
        panic!("too many redirects, at last to {}", ask.url);
    }

    fn once(&mut self, ask: &Ask, resource: Resource) -> (usize, Response) {
        let mut headers = headers::of(ask, resource, self.current.as_ref());
        if let Some(cookies) = self.jar.header(&ask.url) {
            headers.push(("Cookie".to_owned(), cookies));
        }
        let sent = self.tick(2);
        let answer = wire::send(&ask.method, &ask.url, &headers, &ask.body);
        let answer = answer.unwrap_or_else(|error| panic!("{} {}: {error}", ask.method, ask.url)).0;
        for (_, cookie) in answer.headers.iter().filter(|(name, _)| is_set_cookie(name)) {
            self.jar.set(&ask.url, cookie);
        }
        let body =
            if ask.body.is_empty() { Body::Empty } else { Body::Bytes(ask.body.clone().into()) };
        let request = Request {
            method: ask.method.clone(),
            url: ask.url.clone(),
            version: Some("HTTP/1.1".to_owned()),
            headers: Headers(headers),
            body,
        };
        self.tick(8);
        let exchange = self.note(sent, request, &answer, resource);
        let response = self.recording.exchanges[exchange].response.clone();
        (exchange, response.expect("it was just noted"))
    }

    fn note(
        &mut self,
        sent: Duration,
        request: Request,
        answer: &wire::Answer,
        resource: Resource,
    ) -> usize {
        let number = self.recording.exchanges.len();
        let body = if answer.body.is_empty() {
            Body::Empty
        } else {
            Body::Bytes(answer.body.clone().into())
        };
        self.recording.exchanges.push(Exchange {
            number,
            sent,
            done: self.now,
            request,
            response: Some(Response {
                status: answer.status,
                headers: Headers(answer.headers.clone()),
                body,
            }),
            failure: None,
            resource: Some(resource),
            messages: Vec::new(),
            events: Vec::new(),
        });
        number
    }
}

fn is_set_cookie(name: &str) -> bool {
    name.eq_ignore_ascii_case("set-cookie")
}

/// Sends the requests of a session again as they were recorded, but for those that redirects led to.
pub fn repeat(taken: &Taken) {
    for (index, exchange) in taken.recording.exchanges.iter().enumerate() {
        let request = &exchange.request;
        let is_socket = exchange.resource == Some(Resource::WebSocket);
        if taken.redirected.contains(&index) || is_socket {
            continue;
        }
        let body = request.body.in_memory().unwrap_or_default();
        let sent = wire::send(&request.method, &request.url, &request.headers.0, body);
        let _ = sent.unwrap_or_else(|error| panic!("{} {}: {error}", request.method, request.url));
    }
}
