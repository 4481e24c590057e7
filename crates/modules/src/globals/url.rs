//! `URL` (WHATWG URL). Its `searchParams` and it are two views of one thing.

pub(super) mod params;

use std::cell::RefCell;
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Thrown, Value, Weight};
use url::{Url, quirks};

use super::text::needs_new;
use crate::go_error::adopt;
use crate::lazy::{LazyGlobal, lazy};
use params::SearchParams;

/// Gives the VM `URL` and `URLSearchParams`.
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    static MEMBERS: LazyLock<Members> =
        LazyLock::new(|| lazy::<SearchParams>(lazy::<UrlObject>(Members::new())));
    ctx.global().define_members(&MEMBERS)
}

/// A URL, whose text counts as memory of the VU.
struct Weighed {
    url: RefCell<Url>,
    weight: Weight,
}

impl Weighed {
    fn new<'js>(ctx: Ctx<'js>, url: Url) -> JsResult<'js, Rc<Self>> {
        let weight = Weight::of(ctx, url.as_str().len())?;
        Ok(Rc::new(Self { url: RefCell::new(url), weight }))
    }

    /// The URL has changed.
    fn weigh<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        self.weight.set(ctx, self.url.borrow().as_str().len())
    }
}

/// A `URL` object, shared with its `searchParams`.
struct UrlObject(Rc<Weighed>);

impl LazyGlobal for UrlObject {
    const NAME: &'static CStr = c"URL";
    fn make(ctx: Ctx<'_>) -> JsResult<'_> {
        static STATICS: LazyLock<Members> = LazyLock::new(|| {
            Members::new().function(c"canParse", 1, can_parse).function(c"parse", 1, parse_or_null)
        });
        let prototype = ctx.class_prototype::<Self>()?;
        let class = ctx.constructor(c"URL", 1, construct, &prototype)?;
        class.define_members(&STATICS)?;
        Ok(class)
    }
}

/// A property that the `url` crate reads and writes by the standard's names.
macro_rules! part {
    ($members:expr, $name:literal, $get:ident, $set:ident) => {
        $members.accessor(
            $name,
            |call| {
                let value = call.this();
                let text = quirks::$get(&this(call.ctx(), &value)?.0.url.borrow()).to_string();
                call.ctx().string(&text)
            },
            |call| {
                let value = call.this();
                let text = call.argument(0).to_js_str()?;
                // The standard ignores what these setters do not understand.
                let object = &this(call.ctx(), &value)?.0;
                let _ = quirks::$set(&mut object.url.borrow_mut(), &text);
                object.weigh(call.ctx())?;
                Ok(call.ctx().undefined())
            },
        )
    };
}

impl Class for UrlObject {
    const NAME: &'static CStr = c"URL";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            let members = Members::new()
                .accessor(c"href", href, set_href)
                .getter(c"origin", |call| {
                    let value = call.this();
                    let origin = quirks::origin(&this(call.ctx(), &value)?.0.url.borrow());
                    call.ctx().string(&origin)
                })
                .getter(c"searchParams", search_params)
                .function(c"toString", 0, href)
                .function(c"toJSON", 0, href)
                .tag(c"URL");
            let members = part!(members, c"protocol", protocol, set_protocol);
            let members = part!(members, c"username", username, set_username);
            let members = part!(members, c"password", password, set_password);
            let members = part!(members, c"host", host, set_host);
            let members = part!(members, c"hostname", hostname, set_hostname);
            let members = part!(members, c"port", port, set_port);
            let members = part!(members, c"pathname", pathname, set_pathname);
            let members = part!(members, c"search", search, set_search);
            part!(members, c"hash", hash, set_hash)
        });
        &MEMBERS
    }
}

fn this<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a UrlObject> {
    value.instance().ok_or_else(|| ctx.throw_type("this is not a URL"))
}

/// The meaning of the arguments `(url, base)` of a call. The inner error is the text that is no URL.
fn read<'js>(call: &Call<'js>) -> JsResult<'js, Result<Url, String>> {
    if call.is_empty() {
        return Err(call.ctx().throw_type("a URL needs an argument"));
    }
    let text = call.argument(0).to_string_lossy()?;
    let base = call.argument(1);
    let base = if base.is_undefined() { None } else { Some(base.to_string_lossy()?) };
    let base = match base.map(|base| Url::parse(&base).map_err(|_| base)).transpose() {
        Ok(base) => base,
        Err(base) => return Ok(Err(base)),
    };
    Ok(Url::options().base_url(base.as_ref()).parse(&text).map_err(|_| text))
}

fn invalid(ctx: Ctx<'_>, text: &str) -> Thrown {
    ctx.throw_type(&format!("Invalid URL: {text}"))
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    needs_new(&call, "URL")?;
    let url = read(&call)?.map_err(|text| invalid(call.ctx(), &text))?;
    let object = call.ctx().instance(UrlObject(Weighed::new(call.ctx(), url)?))?;
    adopt(&call, &object)?;
    Ok(object)
}

fn can_parse<'js>(call: Call<'js>) -> JsResult<'js> {
    let parsed = read(&call)?;
    Ok(call.ctx().bool(parsed.is_ok()))
}

fn parse_or_null<'js>(call: Call<'js>) -> JsResult<'js> {
    match read(&call)? {
        Ok(url) => call.ctx().instance(UrlObject(Weighed::new(call.ctx(), url)?)),
        Err(_) => Ok(call.ctx().null()),
    }
}

fn href<'js>(call: Call<'js>) -> JsResult<'js> {
    let value = call.this();
    call.ctx().string(this(call.ctx(), &value)?.0.url.borrow().as_str())
}

fn set_href<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.this());
    let text = call.argument(0).to_js_str()?;
    let url = this(ctx, &value)?;
    *url.0.url.borrow_mut() = Url::parse(&text).map_err(|_| invalid(ctx, &text))?;
    url.0.weigh(ctx)?;
    Ok(ctx.undefined())
}

/// Made at the first look, and the same object ever after: it becomes a property of the URL.
fn search_params<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.this());
    let url = Rc::clone(&this(ctx, &value)?.0);
    let params = ctx.instance(SearchParams::of(url))?;
    value.define_hidden("searchParams", params.clone())?;
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{all, vm};

    #[test]
    fn a_url_has_the_parts_of_the_standard() {
        all(
            &vm(install),
            &[
                (
                    "const u = new URL('https://us%20er:pa@EXAMPLE.com:8080/a/../b c?x=1&y=%20#frag'); u.href",
                    "https://us%20er:pa@example.com:8080/b%20c?x=1&y=%20#frag",
                ),
                (
                    "[u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.origin].join(' ')",
                    "https: us%20er pa example.com:8080 example.com 8080 /b%20c ?x=1&y=%20 #frag https://example.com:8080",
                ),
                (
                    "String(new URL('../c?q', 'http://h/a/b/d')) + ' ' + new URL('//x/y', 'https://h')",
                    "http://h/a/c?q https://x/y",
                ),
                ("new URL('nope')", "threw TypeError: Invalid URL: nope"),
                ("new URL('/x', 'nope')", "threw TypeError: Invalid URL: nope"),
                ("URL('http://h')", "threw TypeError: the class URL is made with `new`"),
                (
                    "[URL.canParse('http://h'), URL.canParse('x'), URL.canParse('x', 'http://h'), URL.parse('x'), URL.parse('http://h').href].join()",
                    "true,false,true,,http://h/",
                ),
                (
                    "const w = new URL('http://h/p'); w.protocol = 'https'; w.port = '81'; w.pathname = 'é'; w.search = 'a b'; w.hash = 'z'; w.hostname = 'g'; w.username = 'me'; w.href",
                    "https://me@g:81/%C3%A9?a%20b#z",
                ),
                ("w.port = 'x'; w.port + w.href.length; w.href = 'http://n/'; w.href", "http://n/"),
                (
                    "try { w.href = 'bad' } catch (e) { `${e.name} ${w.href}` }",
                    "TypeError http://n/",
                ),
                ("JSON.stringify({ u: new URL('http://h') })", r#"{"u":"http://h/"}"#),
                ("Object.prototype.toString.call(u) + (u instanceof URL)", "[object URL]true"),
                (
                    "class My extends URL { get x() { return this.host } } new My('http://h:1').x",
                    "h:1",
                ),
            ],
        );
    }

    #[test]
    fn the_search_params_and_the_url_follow_each_other() {
        all(
            &vm(install),
            &[
                (
                    "const u = new URL('http://h/?a=1&b=2'); const p = u.searchParams; p === u.searchParams",
                    "true",
                ),
                ("p.append('c', 'x y&'); p.delete('a'); u.href", "http://h/?b=2&c=x+y%26"),
                ("u.search = '?z=9'; p.get('z') + p.has('b')", "9false"),
                ("p.delete('z'); u.href + [...p].length", "http://h/0"),
                ("u.href = 'http://h/?q=%E2%82%AC'; p.get('q')", "€"),
            ],
        );
    }
}
