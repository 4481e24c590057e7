//! `data()`: the `data-…` attributes as values.

use brunt_html::Attribute;
use brunt_quickjs::{Call, Ctx, JsResult};

use super::selection::this;

pub(super) fn data(call: Call<'_>) -> JsResult<'_> {
    let (ctx, this) = (call.ctx(), this(&call)?);
    let attributes = this.nodes().first().map(|&node| this.page().document.attributes(node));
    let has_attributes = attributes.as_ref().is_some_and(|attributes| attributes.len() > 0);
    let given = attributes.into_iter().flatten().filter_map(|attribute| {
        let name = attribute.name().strip_prefix("data-").filter(|name| !name.is_empty())?;
        Some((camel(name), attribute))
    });
    let key = call.argument(0);
    if call.is_empty() {
        if !has_attributes {
            return Ok(ctx.undefined());
        }
        let object = ctx.object()?;
        for (name, attribute) in given {
            object.define(name.as_str(), value(ctx, attribute)?)?;
        }
        return Ok(object);
    }
    let key = camel(&key.to_string_lossy()?);
    for (name, attribute) in given {
        if name == key {
            return value(ctx, attribute);
        }
    }
    Ok(ctx.undefined())
}

/// `e-f` is `eF`.
fn camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut is_next_upper = false;
    for letter in name.chars() {
        if letter == '-' {
            is_next_upper = true;
        } else if is_next_upper {
            camel.extend(letter.to_uppercase());
            is_next_upper = false;
        } else {
            camel.push(letter);
        }
    }
    camel
}

/// Booleans, numbers as they would be written, JSON; any other text is itself.
fn value<'js>(ctx: Ctx<'js>, attribute: Attribute<'_>) -> JsResult<'js> {
    let text = attribute.value();
    match text {
        "" | "null" | "undefined" => return Ok(ctx.undefined()),
        "true" => return Ok(ctx.bool(true)),
        "false" => return Ok(ctx.bool(false)),
        _ => {}
    }
    if let Ok(number) = text.parse::<f64>()
        && !number.is_infinite()
        && number.to_string() == text
    {
        return Ok(ctx.number(number));
    }
    if text.starts_with(['{', '['])
        && let Ok(parsed) = ctx.parse_json(text.as_bytes())
    {
        return Ok(parsed);
    }
    ctx.string(text)
}
