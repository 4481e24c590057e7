//! The requests of a page's forms and links: `res.submitForm()`, `res.clickLink()`.

use std::rc::Rc;

use brunt_html::form::{self, Field};
use brunt_html::{Document, NodeId, Selector};
use brunt_http::form::urlencode;
use brunt_http::{Target, TargetError, resolve};
use brunt_quickjs::{Ctx, JsResult, Name, Value};

use super::page::Page;
use crate::http::url::escape_path;
use crate::throwing::{throw, throw_type};

static FORM_SELECTOR: Name = Name::new("formSelector");
static SUBMIT_SELECTOR: Name = Name::new("submitSelector");
static SELECTOR: Name = Name::new("selector");
static FIELDS: Name = Name::new("fields");
static PARAMS: Name = Name::new("params");

/// The request that follows.
pub(crate) struct Link<'js> {
    pub(crate) method: String,
    pub(crate) url: String,
    /// `undefined`, or an object of fields.
    pub(crate) body: Value<'js>,
    pub(crate) params: Value<'js>,
}

/// An option of these functions, whose one argument is an object of them; `undefined` if it is not given.
fn option<'js>(ctx: Ctx<'js>, arguments: Option<&Value<'js>>, name: &Name) -> JsResult<'js> {
    match arguments {
        None => Ok(ctx.undefined()),
        Some(arguments) if arguments.is_nullish() => {
            Err(throw_type(ctx, "Cannot convert undefined or null to object"))
        }
        Some(arguments) => arguments.get(name),
    }
}

/// A text of whatever was given: `undefined` is a text too, if it was given.
fn text<'js>(
    ctx: Ctx<'js>,
    arguments: Option<&Value<'js>>,
    name: &Name,
    default: &str,
) -> JsResult<'js, String> {
    let value = option(ctx, arguments, name)?;
    let is_given = !value.is_undefined()
        || arguments.map_or(Ok(false), |arguments| {
            if arguments.is_object() { arguments.has(name) } else { Ok(false) }
        })?;
    if is_given { value.to_string_lossy() } else { Ok(default.to_owned()) }
}

/// The address that a link of a page leads to.
///
/// # Errors
/// A `GoError` for a malformed address.
fn target<'js>(ctx: Ctx<'js>, page: &Page, link: &str) -> JsResult<'js, String> {
    let url = escape_path(resolve(&page.url(), link));
    match Target::parse(&url) {
        Err(TargetError::Invalid(invalid)) => Err(throw(ctx, &invalid.of(link))),
        Ok(_) | Err(TargetError::Unreachable(_)) => Ok(url),
    }
}

/// The request of `clickLink()`.
///
/// # Errors
/// A `GoError` if there is no such link.
pub(crate) fn clicked<'js>(
    ctx: Ctx<'js>,
    page: &Rc<Page>,
    arguments: Option<&Value<'js>>,
) -> JsResult<'js, Link<'js>> {
    let selector = text(ctx, arguments, &SELECTOR, "a[href]")?;
    let document = &page.document;
    let Some(link) = Selector::new(&selector).find_first(document, document.root()) else {
        let message =
            format!("no element found for selector '{selector}' in response '{}'", page.url());
        return Err(throw(ctx, &message));
    };
    let Some(href) = document.attribute(link, "href") else {
        let message = format!(
            "no valid href attribute value found on element '{selector}' in response '{}'",
            page.url()
        );
        return Err(throw(ctx, &message));
    };
    Ok(Link {
        method: "GET".to_owned(),
        url: target(ctx, page, href)?,
        body: ctx.undefined(),
        params: option(ctx, arguments, &PARAMS)?,
    })
}

/// The request of `submitForm()`.
///
/// # Errors
/// A `GoError` if there is no such form.
pub(crate) fn submission<'js>(
    ctx: Ctx<'js>,
    page: &Rc<Page>,
    arguments: Option<&Value<'js>>,
) -> JsResult<'js, Link<'js>> {
    let selector = text(ctx, arguments, &FORM_SELECTOR, "form")?;
    let document = &page.document;
    // All that match give their fields, the first says how they are sent: as in k6.
    let forms = Selector::new(&selector).find(document, &[document.root()]);
    let Some(&first) = forms.first() else {
        let message =
            format!("no form found for selector '{selector}' in response '{}'", page.url());
        return Err(throw(ctx, &message));
    };
    let method = document.attribute(first, "method").filter(|method| !method.is_empty());
    let method = method.unwrap_or("GET").to_ascii_uppercase();
    let is_get = method == "GET";
    let url = target(ctx, page, document.attribute(first, "action").unwrap_or(""))?;

    let submit = text(ctx, arguments, &SUBMIT_SELECTOR, "[type=\"submit\"]")?;
    let fields = fields(document, &forms, &submit);
    let values = ctx.object()?;
    for (name, field) in fields {
        let text = match field {
            Field::Text(text) => text,
            Field::List(list) if is_get => list.join(","),
            // As Go prints lists.
            Field::List(list) => format!("[{}]", list.join(" ")),
        };
        values.define(name.as_str(), ctx.string(&text)?)?;
    }
    let given = option(ctx, arguments, &FIELDS)?;
    let given = if given.is_map() { of_entries(ctx, given)? } else { given };
    for key in given.keys()? {
        let value = given.get(&key)?;
        // Go's text of nothing.
        let value = if value.is_nullish() && !is_get { ctx.string("<nil>")? } else { value };
        values.define(&key, value)?;
    }
    let params = option(ctx, arguments, &PARAMS)?;
    if is_get {
        let (url, body) = (with_query(url, &values)?, ctx.undefined());
        return Ok(Link { method, url, body, params });
    }
    Ok(Link { method, url, body: values, params })
}

/// The object with the entries of a `Map`.
fn of_entries<'js>(ctx: Ctx<'js>, map: Value<'js>) -> JsResult<'js> {
    let class = ctx.global().get("Object")?;
    class.get("fromEntries")?.call(&class, &[map])
}

/// The fields of the forms, and of the button that sends them.
fn fields(document: &Document, forms: &[NodeId], submit: &str) -> Vec<(String, Field)> {
    let entries = form::entries(document, forms).into_iter();
    let mut fields: Vec<_> =
        entries.filter_map(|(name, field)| field.map(|field| (name, field))).collect();
    let button = Selector::new(submit).find(document, forms).first().copied();
    if let Some(button) = button
        && let Some(name) = document.attribute(button, "name")
        && let Some(value) = form::value(document, button)
    {
        fields.push((name.to_owned(), value));
    }
    fields
}

/// The address with these values as its query, sorted by name; as it is if there are none.
fn with_query<'js>(url: String, values: &Value<'js>) -> JsResult<'js, String> {
    let mut pairs = Vec::new();
    for key in values.keys()? {
        pairs.push((key.text().unwrap_or_default(), values.get(&key)?.to_string_lossy()?));
    }
    if pairs.is_empty() {
        return Ok(url);
    }
    pairs.sort_by(|one, other| one.0.cmp(&other.0));
    let query = urlencode(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let (rest, fragment) = match url.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (url.as_str(), None),
    };
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    Ok(match fragment {
        Some(fragment) => format!("{rest}?{query}#{fragment}"),
        None => format!("{rest}?{query}"),
    })
}
