//! A request as the script asked for it, taken over from JavaScript whole.

use std::borrow::Cow;
use std::rc::Rc;

use brunt_fiber::clock;
use brunt_http::cookie::Scope;
use brunt_http::{Failure, Headers, Payload, Target, TargetError, canonical_name};
use brunt_quickjs::name::Key;
use brunt_quickjs::{Ctx, JsResult, Name, Thrown, Value};

use super::body::{self, KindOf};
use super::download::Download;
use super::expected::Callback;
use super::jar::CookieJar;
use super::login::Auth;
use super::state::HttpState;
use super::url::{UrlTemplate, escape_path};
use crate::boxed::unbox;
use crate::config::Config;
use crate::globals::web::bodies::is_blob;
use crate::globals::web::feed::FeedGuard;
use crate::go_error::go_type;
use crate::go_text;
use crate::reading::{Room, keys_of, tag_text};
use crate::state::VuState;
use crate::vu_jar::SharedJar;

static HEADERS: Name = Name::new("headers");
static COOKIES: Name = Name::new("cookies");
static JAR: Name = Name::new("jar");
static REDIRECTS: Name = Name::new("redirects");
static TAGS: Name = Name::new("tags");
static TIMEOUT: Name = Name::new("timeout");
static AUTH: Name = Name::new("auth");
static COMPRESSION: Name = Name::new("compression");
static RESPONSE_TYPE: Name = Name::new("responseType");
static RESPONSE_CALLBACK: Name = Name::new("responseCallback");
static THROW: Name = Name::new("throw");
static VALUE: Name = Name::new("value");
static REPLACE: Name = Name::new("replace");

/// k6's default: a minute for all of it, redirects included.
const TIMEOUT_NS: u64 = 60_000_000_000;

/// The type of `res.body`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseType {
    Text,
    Binary,
    None,
    /// As it comes, from `res.stream`.
    Stream,
}

/// A cookie of `params.cookies`.
#[derive(Debug, Clone)]
pub(super) struct RequestCookie {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) replace: bool,
}

/// A request, ready to be sent.
pub(super) struct Prepared {
    pub(super) method: Cow<'static, str>,
    pub(super) url: String,
    pub(super) headers: Rc<Headers>,
    pub(super) host: Option<String>,
    /// `None` for no body, which is not the same as an empty one.
    pub(super) body: Option<Payload>,
    /// Bytes of the body that were made for this request: text. Buffers and files are not copied.
    made: usize,
    /// The body before it was compressed, for `res.request`.
    pub(super) shown_body: Option<Payload>,
    /// Where the body comes from, if it is a stream: told when the request is over.
    pub(super) feed: Option<FeedGuard>,
    /// A header that cannot be sent: the request fails as one that was tried.
    pub(super) refused: Option<Failure>,
    pub(super) cookies: Vec<RequestCookie>,
    pub(super) jar: SharedJar,
    /// The jar's cookies for the first request, if they were taken before it goes out.
    pub(super) taken: Option<Vec<(String, String)>>,
    pub(super) redirects: u32,
    pub(super) redirects_set: bool,
    pub(super) timeout_ns: u64,
    pub(super) response_type: ResponseType,
    /// Where the response's body goes, if it is streamed.
    pub(super) download: Option<Rc<Download>>,
    pub(super) callback: Callback,
    /// How to answer a 401.
    pub(super) auth: Option<Auth>,
    /// Others are sent in the same turn.
    pub(super) together: bool,
    pub(super) throw: bool,
    /// The option `throw` of the test.
    pub(super) throws_always: bool,
    /// The `name` of `params.tags`: `url` and `name` tags say this.
    pub(super) name: Option<String>,
    /// The same from `http.url`; a name of the VU's tags goes before it.
    pub(super) template: Option<String>,
    pub(super) tags: Vec<(String, String)>,
}

/// A request that cannot be sent as it was asked for. Not an exception, unless `throw` is on.
#[derive(Debug)]
pub(super) struct Unsendable {
    pub(super) code: u16,
    pub(super) text: String,
    pub(super) throw: bool,
}

/// Either of the two ways in which reading a request fails.
pub(super) enum Refusal {
    Thrown(Thrown),
    Unsendable(Unsendable),
}

impl From<Thrown> for Refusal {
    fn from(thrown: Thrown) -> Self {
        Self::Thrown(thrown)
    }
}

/// The parts of a request that its caller has already told apart.
pub(super) struct Asked<'js> {
    pub(super) method: Cow<'static, str>,
    pub(super) url: Value<'js>,
    pub(super) body: Value<'js>,
    pub(super) params: Value<'js>,
}

impl Prepared {
    pub(super) fn read<'js>(
        ctx: Ctx<'js>,
        http: &HttpState,
        asked: Asked<'js>,
        kind_of: KindOf,
    ) -> Result<Self, Refusal> {
        let state = VuState::of(ctx);
        let config = state.shared.config();
        let mut request = Self {
            method: asked.method,
            url: String::new(),
            headers: Rc::clone(&http.headers),
            host: None,
            body: None,
            made: 0,
            shown_body: None,
            feed: None,
            refused: None,
            cookies: Vec::new(),
            jar: http.jar.jar(),
            taken: None,
            redirects: config.max_redirects,
            redirects_set: config.max_redirects_set,
            timeout_ns: TIMEOUT_NS,
            response_type: if config.discard_response_bodies {
                ResponseType::None
            } else {
                ResponseType::Text
            },
            download: None,
            callback: http.callback.borrow().clone(),
            auth: None,
            together: false,
            throw: config.throw,
            throws_always: config.throw,
            name: None,
            template: None,
            tags: Vec::new(),
        };
        if asked.params.is_object() {
            let throw = asked.params.get(&THROW)?;
            if !throw.is_nullish() {
                request.throw = throw.truthy();
            }
        }
        request.read_url(&asked.url)?;
        if !asked.body.is_nullish() || asked.params.is_object() {
            request.read_rest(ctx, &asked.body, &asked.params, kind_of)?;
        }
        Ok(request)
    }

    /// Bytes that the request holds while it waits, about: of a VU that does not wait for it.
    pub(super) fn waits_with(&self) -> usize {
        let cookies: usize =
            self.cookies.iter().map(|cookie| cookie.name.len() + cookie.value.len()).sum();
        let tags: usize = self.tags.iter().map(|(name, value)| name.len() + value.len()).sum();
        size_of::<Self>() + self.made + self.url.len() + self.headers.bytes() + cookies + tags
    }

    /// Body and params. Apart, because many requests have neither, and what this needs of the stack is much.
    #[inline(never)]
    fn read_rest<'js>(
        &mut self,
        ctx: Ctx<'js>,
        body: &Value<'js>,
        params: &Value<'js>,
        kind_of: KindOf,
    ) -> Result<(), Refusal> {
        let mut encoded =
            body::encode(body, kind_of).map_err(|refusal| self.refuse_body(refusal))?;
        if encoded.is_multipart()
            && let Some(given) = content_type_of(params)?
        {
            let again =
                body::encode_as(body, &given).map_err(|refusal| self.refuse_body(refusal))?;
            encoded = again.unwrap_or(encoded);
        }
        let mut own = OwnHeaders::default();
        let is_lent = body.is_array_buffer()
            || body.is_data_view()
            || body.typed_array_name().is_some()
            || is_blob(body);
        self.body = encoded.payload;
        // A body of more pieces has files.
        if let Some([text]) = self.body.as_ref().map(Payload::pieces)
            && !is_lent
        {
            self.made = text.as_slice().map_or(0, <[u8]>::len);
        }
        self.feed = encoded.feed;
        if params.is_object() {
            self.read_params(params, &mut own)?;
        }
        if let Some(content_type) = encoded.content_type
            && (encoded.is_by_hand || !own.has("Content-Type"))
        {
            own.set("Content-Type", &content_type);
        }
        if !own.is_empty() {
            own.finish(self, VuState::of(ctx).shared.config());
        }
        Ok(())
    }

    /// Itself, unless its URL is none.
    pub(super) fn with_valid_url(self) -> Result<Self, Refusal> {
        match Target::parse(&self.url) {
            Err(TargetError::Invalid(invalid)) => {
                let text = format!("invalid URL: {}", invalid.of(&self.url));
                Err(self.unsendable(1020, text))
            }
            _ => Ok(self),
        }
    }

    /// Takes the jar's cookies now, since it goes out later: what happens to the jar until then is not its business.
    pub(super) fn take_cookies(&mut self) {
        let jar = self.jar.borrow();
        let taken = if jar.is_empty() {
            Vec::new()
        } else {
            let Ok(target) = Target::parse(&self.url) else { return };
            let now_ms = i64::try_from(clock::now_ns() / 1_000_000).unwrap_or(i64::MAX);
            let cookies = jar.cookies_for(&Scope::of(&target), now_ms);
            cookies.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        drop(jar);
        self.taken = Some(taken);
    }

    fn unsendable(&self, code: u16, text: impl Into<String>) -> Refusal {
        // The option decides here, not the param: so it is in k6.
        Refusal::Unsendable(Unsendable { code, text: text.into(), throw: self.throws_always })
    }

    fn refuse_body(&self, refusal: body::BodyRefusal) -> Refusal {
        match refusal {
            body::BodyRefusal::Thrown(thrown) => Refusal::Thrown(thrown),
            body::BodyRefusal::Type(text) => self.unsendable(0, text),
        }
    }

    fn read_url(&mut self, url: &Value<'_>) -> Result<(), Refusal> {
        if let Some(text) = url.as_str() {
            self.url = escape_path(text.as_str().to_owned());
            return Ok(());
        }
        self.read_other_url(url)
    }

    #[inline(never)]
    fn read_other_url(&mut self, url: &Value<'_>) -> Result<(), Refusal> {
        if let Some(template) = url.instance::<UrlTemplate>() {
            self.url = escape_path(template.url.clone());
            self.template = Some(template.name.clone());
            return Ok(());
        }
        Err(self.unsendable(1020, format!("invalid URL: '#{}'", go_text::plain(url))))
    }

    fn read_params<'js>(
        &mut self,
        params: &Value<'js>,
        own: &mut OwnHeaders,
    ) -> Result<(), Refusal> {
        for key in keys_of(params)? {
            let value = params.get(&key)?;
            // A timeout, type or compression that is no value is refused, as by k6.
            let means_something = |key: &Key<'js>| {
                key.is(&RESPONSE_CALLBACK)
                    || key.is(&REDIRECTS)
                    || key.is(&TIMEOUT)
                    || key.is(&RESPONSE_TYPE)
                    || key.is(&COMPRESSION)
            };
            if value.is_nullish() && !means_something(&key) {
                continue;
            }
            self.read_param(&key, &value, own)?;
        }
        Ok(())
    }

    fn read_param<'js>(
        &mut self,
        key: &Key<'js>,
        value: &Value<'js>,
        own: &mut OwnHeaders,
    ) -> Result<(), Refusal> {
        if key.is(&HEADERS) {
            let mut room = Room::new();
            for name in keys_of(value)? {
                // Even `null` is sent, as text: that is what k6 does.
                let text = room.text(&value.get(&name)?)?;
                let name = name.text().unwrap_or_default();
                own.set(&name, &text);
            }
        } else if key.is(&TAGS) {
            self.read_tags(value)?;
        } else if key.is(&COOKIES) {
            self.read_cookies(value)?;
        } else if key.is(&JAR) {
            match value.instance::<CookieJar>() {
                Some(jar) => self.jar = Rc::clone(&jar.jar),
                // k6 passes over it without a word.
                None => log::warn!(
                    "the \"jar\" param of the request to {} is no CookieJar; the VU's jar is used",
                    self.url
                ),
            }
        } else if key.is(&REDIRECTS) {
            let redirects = value.to_integer()?;
            self.redirects = u32::try_from(redirects.max(0)).unwrap_or(u32::MAX);
            self.redirects_set = true;
        } else if key.is(&TIMEOUT) {
            self.timeout_ns =
                timeout(value).ok_or_else(|| self.unsendable(0, invalid_timeout(value)))?;
        } else if key.is(&AUTH) {
            // Anything else says nothing: the credentials of a URL are enough for "basic".
            self.auth = Auth::of(&value.to_string_lossy()?);
        } else if key.is(&COMPRESSION) {
            self.compress(&value.to_string_lossy()?, own)?;
        } else if key.is(&RESPONSE_TYPE) {
            let kind = value.to_string_lossy()?;
            self.response_type = match kind.as_str() {
                "text" => ResponseType::Text,
                "binary" => ResponseType::Binary,
                "none" => ResponseType::None,
                "stream" => ResponseType::Stream,
                other => {
                    return Err(self
                        .unsendable(0, format!("{other} does not belong to ResponseType values")));
                }
            };
            let is_streamed = self.response_type == ResponseType::Stream;
            self.download = is_streamed.then(|| Download::new(false));
        } else if key.is(&RESPONSE_CALLBACK) {
            self.callback = Callback::read(value)
                .ok_or_else(|| self.unsendable(0, "unsupported responseCallback"))?;
        }
        Ok(())
    }

    fn read_tags(&mut self, tags: &Value<'_>) -> Result<(), Refusal> {
        let mut room = Room::new();
        for key in keys_of(tags)? {
            let (name, value) = (key.text().unwrap_or_default(), tags.get(&key)?);
            let Some(text) = tag_text(&value) else {
                return Err(self.unsendable(
                    0,
                    format!(
                        "invalid HTTP request metric tags: invalid value for metric tag '{name}': only String, \
                         Boolean and Number types are accepted as a metric tag values"
                    ),
                ));
            };
            room.take(tags.ctx(), text.len())?;
            if name == "name" {
                self.name = Some(text);
            } else {
                self.tags.push((name, text));
            }
        }
        Ok(())
    }

    fn read_cookies(&mut self, cookies: &Value<'_>) -> Result<(), Refusal> {
        let mut room = Room::new();
        for key in keys_of(cookies)? {
            let (name, value) = (key.text().unwrap_or_default(), cookies.get(&key)?);
            if value.is_nullish() {
                continue;
            }
            let cookie = if go_type(&value) == "map[string]interface {}" && !value.is_array_buffer()
            {
                // Without a value it is empty; `undefined` as a value is sent as text.
                let text = value.get(&VALUE)?;
                let text = if text.is_undefined() && !value.has(&VALUE)? {
                    String::new()
                } else {
                    text.to_string_lossy()?
                };
                RequestCookie { name, value: text, replace: value.get(&REPLACE)?.truthy() }
            } else {
                RequestCookie { name, value: value.to_string_lossy()?, replace: false }
            };
            room.take(cookies.ctx(), cookie.value.len())?;
            self.cookies.push(cookie);
        }
        Ok(())
    }

    fn compress(&mut self, list: &str, own: &mut OwnHeaders) -> Result<(), Refusal> {
        if list.is_empty() {
            return Ok(());
        }
        // Unknown names are refused even if there is nothing to compress.
        let body = self.body.clone().unwrap_or_default();
        let Some(bytes) = body.in_memory() else {
            let why = "a body that is read while it is sent can't be compressed: leave out \"compression\"";
            return Err(self.unsendable(0, why));
        };
        let (encoded, header) = brunt_http::content::encode(list, &bytes)
            .map_err(|error| self.unsendable(0, error.to_string()))?;
        if self.body.is_none() {
            return Ok(());
        }
        self.shown_body = self.body.replace(encoded.into());
        // k6 looks for a header of the script's after this; `finish` settles it.
        own.compression = Some(header);
        Ok(())
    }
}

/// Headers that a request has of its own: name as it goes on the wire, value; the last of a name wins.
#[derive(Default)]
struct OwnHeaders {
    lines: Vec<(String, String)>,
    /// The value of `Content-Encoding` for `compression`.
    compression: Option<String>,
}

impl OwnHeaders {
    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.compression.is_none()
    }

    fn has(&self, canonical: &str) -> bool {
        self.lines.iter().any(|(name, _)| name == canonical)
    }

    fn get(&self, canonical: &str) -> Option<&str> {
        let mut lines = self.lines.iter();
        lines.find(|(name, _)| name == canonical).map(|(_, value)| value.as_str())
    }

    fn set(&mut self, name: &str, value: &str) {
        let canonical = canonical_name(name);
        self.lines.retain(|(known, _)| *known != canonical);
        self.lines.push((canonical, value.to_owned()));
    }

    /// Puts the lines in Go's order: `User-Agent`, then by name.
    fn finish(mut self, request: &mut Prepared, config: &Config) {
        if let Some(compression) = self.compression.take() {
            match self.get("Content-Encoding") {
                None => self.set("Content-Encoding", &compression),
                Some(own) if own == compression => {}
                Some(own) => log::warn!(
                    "the request to {} has the \"Content-Encoding\" header {own:?} and the compression \
                     {compression:?}; the header is sent as it is, which the server may not understand",
                    request.url
                ),
            }
        }
        let mut headers = Headers::new();
        let mut add = |name: &str, value: &str| headers.append(name, value);
        if !config.user_agent.is_empty() || self.has("User-Agent") {
            let agent = self.get("User-Agent").unwrap_or(&config.user_agent);
            if !agent.is_empty()
                && let Err(failure) = add("User-Agent", agent)
            {
                request.refused = Some(failure);
            }
        }
        self.lines.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (name, value) in self.lines {
            match name.as_str() {
                "Host" => request.host = Some(value).filter(|host| !host.is_empty()),
                "Content-Length" => {
                    let length = request.body.as_ref().map_or(Some(0), Payload::len);
                    let length = length.map(|length| length.to_string());
                    if !value.is_empty() && length.as_deref() != Some(value.trim()) {
                        log::warn!(
                            "The specified Content-Length header {value:?} in the {} request for {} doesn't match \
                             the actual request body length of {}, so it will be ignored!",
                            request.method,
                            request.url,
                            length.as_deref().unwrap_or("an unknown number of bytes")
                        );
                    }
                }
                // The agent comes first; Brunt itself says how the body is framed.
                "User-Agent" | "Transfer-Encoding" => {}
                _ => {
                    if let Err(failure) = add(&name, &value) {
                        request.refused.get_or_insert(failure);
                    }
                }
            }
        }
        request.headers = Rc::new(headers);
    }
}

/// The `Content-Type` of params, if it says that of a form with parts.
fn content_type_of<'js>(params: &Value<'js>) -> JsResult<'js, Option<String>> {
    if !params.is_object() {
        return Ok(None);
    }
    let headers = params.get(&HEADERS)?;
    if !headers.is_object() {
        return Ok(None);
    }
    let mut given = None;
    for name in keys_of(&headers)? {
        if name.text().is_some_and(|name| name.eq_ignore_ascii_case("content-type")) {
            given = Some(headers.get(&name)?.to_string_lossy()?);
        }
    }
    Ok(given.filter(|given| {
        given.get(..19).is_some_and(|start| start.eq_ignore_ascii_case("multipart/form-data"))
    }))
}

/// A number of milliseconds, or a duration string.
fn timeout(value: &Value<'_>) -> Option<u64> {
    if let Some(ms) = value.as_number() {
        return Some(from_ms(ms));
    }
    if value.is_object() {
        // A number in an object is that number to k6.
        return unbox(value)?.as_number().map(from_ms);
    }
    let ns = brunt_duration::parse_millis(value.as_str()?.as_str()).ok()?;
    Some(u64::try_from(ns).unwrap_or(0))
}

/// No time, or less than none, is 0: the request fails as timed out. So does a time that is no number of nanoseconds
/// for Go.
fn from_ms(ms: f64) -> u64 {
    let ns = ms * 1e6;
    if ns < i64::MAX as f64 { ns as u64 } else { 0 }
}

fn invalid_timeout(value: &Value<'_>) -> String {
    if let Some(text) = value.as_str() {
        let why = brunt_duration::parse_millis(&text).err();
        return format!(
            "invalid timeout value: {}",
            why.map_or(String::new(), |why| why.to_string())
        );
    }
    let kind = if value.is_array_buffer() { "sobek.ArrayBuffer" } else { go_type(value) };
    format!("invalid timeout value: unable to use type {kind} as a duration value")
}

/// A method as the script gives it; none is `GET`.
pub(super) fn method_of(method: &Value<'_>) -> JsResult<'static, Cow<'static, str>> {
    if method.is_nullish() {
        return Ok(Cow::Borrowed("GET"));
    }
    let method = method.to_string_lossy()?;
    Ok(if method.is_empty() { Cow::Borrowed("GET") } else { Cow::Owned(method) })
}
