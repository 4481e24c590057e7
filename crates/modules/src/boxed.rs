//! `new Number(5)` and its kin: objects around a primitive.

use brunt_quickjs::{JsResult, Value};

/// The classes whose objects hold a primitive.
const CLASSES: [&str; 5] = ["Number", "String", "Boolean", "BigInt", "Symbol"];

/// The primitive in a boxed one; `None` for any other object. Plain objects are told by their prototype and cost two
/// looks; what throws on the way is no boxed primitive.
pub(crate) fn unbox<'js>(value: &Value<'js>) -> Option<Value<'js>> {
    look(value).unwrap_or_else(|_| {
        drop(value.ctx().take_exception());
        None
    })
}

fn look<'js>(value: &Value<'js>) -> JsResult<'js, Option<Value<'js>>> {
    let prototype = value.prototype()?;
    if !prototype.is_object() || !prototype.prototype()?.is_object() {
        return Ok(None);
    }
    let global = value.ctx().global();
    for name in CLASSES {
        let class = global.get(name)?;
        if class.is_function() && value.instance_of(&class)? {
            let primitive = class.get("prototype")?.get("valueOf")?.call(value, &[])?;
            return Ok((!primitive.is_object()).then_some(primitive));
        }
    }
    Ok(None)
}
