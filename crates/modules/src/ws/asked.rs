//! The params of both WebSocket modules, and how they open a connection.

use std::rc::Rc;

use brunt_fiber::clock;
use brunt_http::cookie::{self, Scope};
use brunt_http::{Client, Failure, OwnedTarget, Target, TargetError, canonical_name};
use brunt_net::Failure as Broken;
use brunt_quickjs::{Ctx, JsResult, Name, Value};
use brunt_websocket::{Asked, Connected, Handshake, HandshakeError, connect};

use crate::connections::Connections;
use crate::http::jar::jar_in;
use crate::reading::{Room, keys_of, tag_text};
use crate::state::VuState;
use crate::throwing::throw;
use crate::vu_jar::{SharedJar, VuJar};

static HEADERS: Name = Name::new("headers");
static TAGS: Name = Name::new("tags");
static JAR: Name = Name::new("jar");
static COMPRESSION: Name = Name::new("compression");

/// k6's: a handshake that takes longer has failed.
const HANDSHAKE_NS: u64 = 60_000_000_000;

/// The params of a connection, taken over from JavaScript whole.
pub(crate) struct Params {
    agent: String,
    /// Canonical names.
    headers: Vec<(String, String)>,
    host: Option<String>,
    jar: SharedJar,
    pub(crate) tags: Vec<(String, String)>,
    compression: bool,
    message_max: usize,
    client: Rc<Client>,
}

/// How strict a module is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// `k6/ws`: what it doesn't know is ignored.
    Lax,
    /// `k6/websockets`.
    Strict,
}

impl Params {
    /// Reads the params; nullish ones are the defaults.
    ///
    /// # Errors
    /// A `GoError` that says what is wrong.
    pub(crate) fn read<'js>(
        ctx: Ctx<'js>,
        params: &Value<'js>,
        strictness: Strictness,
    ) -> JsResult<'js, Self> {
        let state = VuState::of(ctx);
        let config = state.shared.config();
        let mut read = Self {
            agent: config.user_agent.clone(),
            headers: Vec::new(),
            host: None,
            jar: VuJar::of(ctx).jar(),
            tags: Vec::new(),
            compression: false,
            message_max: usize::try_from(config.network.body_limit).unwrap_or(usize::MAX),
            client: Connections::of(ctx).client(),
        };
        if !params.is_object() {
            return Ok(read);
        }
        for key in keys_of(params)? {
            let value = params.get(&key)?;
            if key.is(&HEADERS) {
                if value.is_object() {
                    read.read_headers(&value)?;
                }
            } else if key.is(&TAGS) {
                if value.is_object() {
                    read.read_tags(ctx, &value, strictness)?;
                }
            } else if key.is(&JAR) {
                if let Some(jar) = jar_in(&value) {
                    read.jar = jar;
                }
            } else if key.is(&COMPRESSION) {
                match value.to_string_lossy()?.trim() {
                    "deflate" => read.compression = true,
                    "" if strictness == Strictness::Lax => {}
                    other => {
                        return Err(throw(
                            ctx,
                            &format!(
                                "unsupported compression algorithm '{other}', supported algorithm is 'deflate'"
                            ),
                        ));
                    }
                }
            } else if strictness == Strictness::Strict {
                let name = key.text().unwrap_or_default();
                return Err(throw(ctx, &format!("unknown WebSocket's option {name}")));
            }
        }
        Ok(read)
    }

    fn read_headers<'js>(&mut self, headers: &Value<'js>) -> JsResult<'js, ()> {
        let mut room = Room::new();
        for key in keys_of(headers)? {
            let value = room.text(&headers.get(&key)?)?;
            let name = canonical_name(&key.text().unwrap_or_default());
            match name.as_str() {
                "Host" => self.host = Some(value),
                "User-Agent" => self.agent = value,
                _ => self.set_header(name, value),
            }
        }
        Ok(())
    }

    /// Sets a header; the last one of a name counts.
    pub(crate) fn set_header(&mut self, canonical: String, value: String) {
        self.headers.retain(|(known, _)| *known != canonical);
        self.headers.push((canonical, value));
    }

    fn read_tags<'js>(
        &mut self,
        ctx: Ctx<'js>,
        tags: &Value<'js>,
        strictness: Strictness,
    ) -> JsResult<'js, ()> {
        for key in keys_of(tags)? {
            let (name, value) = (key.text().unwrap_or_default(), tags.get(&key)?);
            let Some(text) = tag_text(&value) else {
                let what = match strictness {
                    Strictness::Lax => "invalid ws.connect() metric tags",
                    Strictness::Strict => "invalid WebSocket tags option",
                };
                return Err(throw(
                    ctx,
                    &format!(
                        "{what}: invalid value for metric tag '{name}': only String, Boolean and Number types are \
                         accepted as a metric tag values"
                    ),
                ));
            };
            self.tags.retain(|(known, _)| *known != name);
            self.tags.push((name, text));
        }
        Ok(())
    }

    /// Opens the connection. Cookies go along, and those that come are kept.
    pub(crate) async fn open(&self, target: &OwnedTarget) -> Connected {
        let target = &target.borrow();
        let scope = Scope::of(target);
        let mut headers = self.headers.clone();
        if !headers.iter().any(|(name, _)| name == "Cookie") {
            let mut text = String::new();
            for (name, value) in self.jar.borrow().cookies_for(&scope, now_ms()) {
                cookie::append(&mut text, name, value);
            }
            if !text.is_empty() {
                headers.push(("Cookie".to_owned(), text));
            }
        }
        let asked = Asked {
            target,
            agent: &self.agent,
            headers: &headers,
            host: self.host.as_deref(),
            compression: self.compression,
            deadline: clock::now_ns().saturating_add(HANDSHAKE_NS),
            message_max: self.message_max,
        };
        let connected = connect(&self.client, &asked).await;
        if let Some(head) = connected.exchange.head()
            && head.has_cookies()
        {
            let values = head
                .headers()
                .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
                .map(|(_, value)| value);
            self.jar.borrow_mut().set_from_response(&scope, values, now_ms());
        }
        connected
    }
}

fn now_ms() -> i64 {
    i64::try_from(clock::now_ns() / 1_000_000).unwrap_or(i64::MAX)
}

/// Go's dialer asks for the empty name.
const NO_HOST: &str = "lookup : no such host";

/// The address of a `ws` or `wss` URL, as http or https.
///
/// # Errors
/// Go's words for what is wrong.
pub(crate) fn target_of(url: &str) -> Result<OwnedTarget, String> {
    let malformed = || "malformed ws or wss URL".to_owned();
    let invalid = |error| match error {
        TargetError::Invalid(invalid) => invalid.of(url),
        TargetError::Unreachable(Failure::NoHost) => NO_HOST.to_owned(),
        TargetError::Unreachable(failure) => failure.to_string(),
    };
    let Some((scheme, rest)) = url.split_once("://") else {
        let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        let is_ours = scheme.is_some_and(|scheme| matches!(&*scheme, "ws" | "wss"));
        return Err(if is_ours { NO_HOST.to_owned() } else { malformed() });
    };
    let http = match scheme.to_ascii_lowercase().as_str() {
        "ws" => format!("http://{rest}"),
        "wss" => format!("https://{rest}"),
        _ => return Err(malformed()),
    };
    let target = Target::parse(&http).map_err(invalid)?;
    if target.userinfo.is_some() {
        return Err(malformed());
    }
    Ok(target.to_owned_target())
}

/// Why there is no connection, as k6 tells it: the words of Go's dialer, where HTTP has shorter ones.
pub(crate) fn reason(error: &HandshakeError, target: &OwnedTarget) -> String {
    let HandshakeError::Failed(failure) = error else { return error.to_string() };
    let target = target.borrow();
    let host = if target.host == "localhost" { "127.0.0.1" } else { &*target.host };
    match failure {
        Failure::Aborted => {
            format!("dial tcp {host}:{}: operation was canceled", target.port)
        }
        // Go names our end, too.
        Failure::Timeout => format!("read tcp {host}:{}: i/o timeout", target.port),
        Failure::Net(Broken::Refused) => {
            format!("dial tcp {host}:{}: connect: connection refused", target.port)
        }
        Failure::Net(Broken::DialTimeout) => {
            format!("dial tcp {host}:{}: i/o timeout", target.port)
        }
        Failure::Net(Broken::NoSuchHost) => brunt_net::no_such_host(host),
        Failure::Net(Broken::Ended(_)) => "unexpected EOF".to_owned(),
        Failure::Net(failure) => failure.of_certificate().unwrap_or_else(|| failure.to_string()),
        other => {
            let text = other.to_string();
            let prefix = "net/http: HTTP/1.x transport connection broken: ";
            text.strip_prefix(prefix).unwrap_or(&text).to_owned()
        }
    }
}

/// The status and the subprotocol that tags tell; `None` if no answer came.
pub(crate) fn told(connected: &Connected) -> Option<(u16, &str)> {
    let head = connected.exchange.head()?;
    let protocol = match &connected.outcome {
        Ok(Handshake { protocol, .. }) => protocol.as_str(),
        Err(_) => "",
    };
    Some((head.status(), protocol))
}
