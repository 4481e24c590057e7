//! The parts that the responses of `k6/http` and of `k6/x/fasthttp` share: the names of their properties, and what their methods
//! make of a body.

use std::rc::Rc;

use brunt_html::Selector;
use brunt_quickjs::json::JsonErrorKind;
use brunt_quickjs::{Call, Ctx, JsResult, Name, Thrown, Value};

use super::gjson;
use crate::html::page::Page;
use crate::html::selection::{Selection, selection};
use crate::throwing::throw;

macro_rules! names {
    ($($constant:ident = $text:literal),* $(,)?) => {
        $(pub(super) static $constant: Name = Name::new($text);)*
        pub(super) static NAMES: &[&Name] = &[$(&$constant),*];
    };
}

// In k6's order.
names! {
    REMOTE_IP = "remote_ip",
    REMOTE_PORT = "remote_port",
    URL = "url",
    STATUS = "status",
    STATUS_TEXT = "status_text",
    PROTO = "proto",
    HEADERS = "headers",
    COOKIES = "cookies",
    BODY = "body",
    TIMINGS = "timings",
    TLS_VERSION = "tls_version",
    TLS_CIPHER_SUITE = "tls_cipher_suite",
    OCSP = "ocsp",
    ERROR = "error",
    ERROR_CODE = "error_code",
    REQUEST = "request",
    CLICK_LINK = "clickLink",
    HTML = "html",
    JSON = "json",
    SUBMIT_FORM = "submitForm",
}

pub(super) static DURATION: Name = Name::new("duration");
pub(super) static BLOCKED: Name = Name::new("blocked");
pub(super) static LOOKING_UP: Name = Name::new("looking_up");
pub(super) static CONNECTING: Name = Name::new("connecting");
pub(super) static TLS_HANDSHAKING: Name = Name::new("tls_handshaking");
pub(super) static SENDING: Name = Name::new("sending");
pub(super) static WAITING: Name = Name::new("waiting");
pub(super) static RECEIVING: Name = Name::new("receiving");
static PARSED: Name = Name::new("\u{0}json");

/// The document that a body is.
///
/// # Errors
/// If there is none.
pub(super) fn page_of<'js>(
    ctx: Ctx<'js>,
    bytes: Option<&[u8]>,
    url: &str,
) -> JsResult<'js, Rc<Page>> {
    let Some(bytes) = bytes else {
        return Err(throw(
            ctx,
            "the body is null so we can't transform it to HTML - this likely was because of a request error getting \
             the response",
        ));
    };
    Page::parse(ctx, &String::from_utf8_lossy(bytes), url)
}

/// The result of `html(selector?)` of a response.
pub(super) fn html_of<'js>(call: &Call<'js>, page: &Rc<Page>) -> JsResult<'js> {
    let root = page.document.root();
    let nodes = if call.is_empty() {
        vec![root]
    } else {
        Selector::new(&call.argument(0).to_string_lossy()?).find(&page.document, &[root])
    };
    selection(call.ctx(), Selection::of(page, nodes))
}

/// There is no body that could be JSON.
pub(super) fn no_body(ctx: Ctx<'_>) -> Thrown {
    throw(
        ctx,
        "the body is null so we can't transform it to JSON - this likely was because of a request error getting \
         the response",
    )
}

/// The result of `json(selector?)` of a response with this body. The whole value is kept in the response.
pub(super) fn json_of<'js>(call: &Call<'js>, bytes: &[u8]) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let selector = call.argument(0);
    // An argument that is undefined selects nothing, as in k6.
    if !call.is_empty() {
        let selector = selector.to_string_lossy()?;
        return Ok(select(ctx, bytes, &selector));
    }
    let known = this.get(&PARSED)?;
    if !known.is_undefined() {
        return Ok(known);
    }
    let value = ctx.parse_json(bytes).map_err(|error| {
        if error.kind == JsonErrorKind::Memory {
            return ctx.throw_json(error);
        }
        let what = error.in_go_words();
        // At the end of the text k6 points at the last character there is.
        let least = usize::from(error.line > 1);
        let column = match error.byte {
            Some(_) => error.column,
            None => error.column.saturating_sub(1).max(least),
        };
        throw(
            ctx,
            &format!(
                "cannot parse json due to an error at line {}, character {column} , error: {what}",
                error.line
            ),
        )
    })?;
    if value.is_object() {
        this.define_hidden(&PARSED, value.clone())?;
    }
    Ok(value)
}

/// GJSON path; `undefined` for no match and for what is no JSON.
fn select<'js>(ctx: Ctx<'js>, bytes: &[u8], selector: &str) -> Value<'js> {
    let Ok(text) = std::str::from_utf8(bytes) else { return ctx.undefined() };
    if !gjson::is_valid(text) {
        return ctx.undefined();
    }
    let found = gjson::get(text, selector).and_then(|found| ctx.parse_json(found.as_bytes()).ok());
    found.unwrap_or_else(|| ctx.undefined())
}
