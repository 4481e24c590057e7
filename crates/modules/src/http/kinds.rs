//! Objects of this module that are no bodies of requests.

use brunt_quickjs::Value;

use super::fasthttp;
use super::jar::CookieJar;
use super::response::Response;
use super::url::UrlTemplate;

/// k6's name of an object that has no members to make a form of: a promise that was not awaited, a response.
pub(super) fn kind_of(body: &Value<'_>) -> Option<&'static str> {
    if !body.is_object() {
        return None;
    }
    if body.is_promise() {
        return Some("*sobek.Promise");
    }
    if body.instance::<Response>().is_some() {
        return Some("*http.Response");
    }
    if body.instance::<CookieJar>().is_some() {
        return Some("*http.CookieJar");
    }
    if body.instance::<UrlTemplate>().is_some() {
        return Some("httpext.URL");
    }
    fasthttp::kind_of(body)
}

/// Whether it is an object whose methods are its own properties.
pub(crate) fn has_own_methods(value: &Value<'_>) -> bool {
    value.instance::<Response>().is_some() || value.instance::<CookieJar>().is_some()
}
