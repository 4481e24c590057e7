//! `http.cookieJar()` and `new http.CookieJar()`.

use std::ffi::CStr;
use std::rc::Rc;

use brunt_fiber::clock;
use brunt_http::cookie::{Scope, SetCookie};
use brunt_http::{Target, TargetError};
use brunt_quickjs::{Call, Ctx, JsResult, Name, Value};

use super::jar::CookieJar;
use super::state::http_for;
use crate::reading::{keys_of, text_or_empty};
use crate::throwing::throw;
use crate::vu_jar::SharedJar;

static DOMAIN: Name = Name::new("domain");
static PATH: Name = Name::new("path");
static EXPIRES: Name = Name::new("expires");
static MAX_AGE: Name = Name::new("max_age");
static SECURE: Name = Name::new("secure");
static HTTP_ONLY: Name = Name::new("http_only");

pub(super) fn vu_jar(call: Call<'_>) -> JsResult<'_> {
    let (_, http) = http_for(call.ctx(), "Making cookie jars")?;
    made(call.ctx(), CookieJar { jar: http.jar.jar() })
}

pub(crate) fn construct(call: Call<'_>) -> JsResult<'_> {
    made(call.ctx(), CookieJar::default())
}

/// Its methods are its own and bound to it, as in k6: scripts print jars, and take methods out of them.
fn made(ctx: Ctx<'_>, jar: CookieJar) -> JsResult<'_> {
    type Method = for<'js> fn(Call<'js>, &SharedJar) -> JsResult<'js>;
    const METHODS: [(&CStr, u8, Method); 4] = [
        (c"clear", 1, clear),
        (c"cookiesForURL", 1, cookies_for_url),
        (c"delete", 2, delete),
        (c"set", 4, set),
    ];
    let shared = Rc::clone(&jar.jar);
    let object = ctx.instance(jar)?;
    for (name, length, method) in METHODS {
        let jar = Rc::clone(&shared);
        let bound = ctx.closure(name, length, move |call| method(call, &jar))?;
        object.define(name.to_str().expect("a name in ASCII"), bound)?;
    }
    Ok(object)
}

/// `None` for a URL that no cookie is for: another scheme, no host.
fn scope_of(call: &Call<'_>) -> JsResult<'static, Option<Scope>> {
    let url = text_or_empty(&call.argument(0))?;
    match Target::parse(&url) {
        Ok(target) => Ok(Some(Scope::of(&target))),
        Err(TargetError::Invalid(invalid)) => {
            Err(throw(call.ctx(), &format!("invalid URL: {}", invalid.of(&url))))
        }
        Err(TargetError::Unreachable(_)) => Ok(None),
    }
}

fn now_ms() -> i64 {
    i64::try_from(clock::now_ns() / 1_000_000).unwrap_or(i64::MAX)
}

fn cookies_for_url<'js>(call: Call<'js>, jar: &SharedJar) -> JsResult<'js> {
    let ctx = call.ctx();
    let scope = scope_of(&call)?;
    let Some(scope) = scope else { return ctx.object() };
    let found: Vec<(String, String)> = jar
        .borrow()
        .cookies_for(&scope, now_ms())
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let object = ctx.object()?;
    for (name, value) in found {
        let known = object.get(&name)?;
        let values = if known.is_array() {
            known
        } else {
            let values = ctx.array()?;
            object.define(&name, values.clone())?;
            values
        };
        values.set_index(values.length()?, ctx.string(&value)?)?;
    }
    Ok(object)
}

fn set<'js>(call: Call<'js>, jar: &SharedJar) -> JsResult<'js> {
    let ctx = call.ctx();
    let scope = scope_of(&call)?;
    let mut cookie = SetCookie {
        name: text_or_empty(&call.argument(1))?,
        value: text_or_empty(&call.argument(2))?,
        ..SetCookie::default()
    };
    let options = call.argument(3);
    if options.is_object() {
        read_options(&options, &mut cookie)?;
    }
    if let Some(scope) = scope {
        jar.borrow_mut().set(&scope, &cookie, now_ms());
    }
    // Also for a cookie that the jar refuses: k6 says so, and scripts check it.
    Ok(ctx.bool(true))
}

fn read_options(options: &Value<'_>, cookie: &mut SetCookie) -> JsResult<'static, ()> {
    for key in keys_of(options)? {
        let value = options.get(&key)?;
        if key.is(&DOMAIN) {
            cookie.domain = value.to_string_lossy()?;
        } else if key.is(&PATH) {
            cookie.path = value.to_string_lossy()?;
        } else if key.is(&EXPIRES) {
            let text = value.to_string_lossy()?;
            cookie.expires_ms = SetCookie::parse_date(&text);
            if cookie.expires_ms.is_none() && !text.is_empty() {
                return Err(throw(
                    options.ctx(),
                    &format!(
                        "unable to parse \"expires\" date string {text:?}: parsing time {text:?} as \
                         \"Mon, 02 Jan 2006 15:04:05 MST\": cannot parse {text:?} as \"Mon\""
                    ),
                ));
            }
        } else if key.is(&MAX_AGE) {
            cookie.max_age = value.to_integer()?;
        } else if key.is(&SECURE) {
            cookie.secure = value.truthy();
        } else if key.is(&HTTP_ONLY) {
            cookie.http_only = value.truthy();
        }
    }
    Ok(())
}

fn clear<'js>(call: Call<'js>, jar: &SharedJar) -> JsResult<'js> {
    let scope = scope_of(&call)?;
    if let Some(scope) = scope {
        jar.borrow_mut().clear(&scope);
    }
    Ok(call.ctx().undefined())
}

fn delete<'js>(call: Call<'js>, jar: &SharedJar) -> JsResult<'js> {
    let scope = scope_of(&call)?;
    let name = text_or_empty(&call.argument(1))?;
    if let Some(scope) = scope {
        jar.borrow_mut().delete(&scope, &name);
    }
    Ok(call.ctx().undefined())
}
