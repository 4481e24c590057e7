//! Objects whose methods are their own and bound to them, as k6's are: `const { text } = selection` works, and the
//! console shows them.

use brunt_quickjs::name::Key;
use brunt_quickjs::{Class, Ctx, JsResult, Members, Name, Thrown, Value};

use crate::throwing::throw_type;

static BIND: Name = Name::new("bind");

/// The names of methods, sorted: the order in which k6 lists them.
pub(super) fn sorted<'a>(members: impl IntoIterator<Item = &'a Members>) -> Vec<&'static str> {
    let names = members.into_iter().flat_map(Members::names);
    let mut names: Vec<_> = names.filter_map(|name| name.to_str().ok()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The method that `natives` has of this name, bound to an object that holds `this`.
///
/// # Errors
/// If the VM's memory limit is reached.
pub(super) fn method<'js, T: Class>(
    ctx: Ctx<'js>,
    natives: &Value<'js>,
    key: &Key<'js>,
    this: T,
) -> JsResult<'js> {
    let function = natives.get(key)?;
    function.get(&BIND)?.call(&function, &[ctx.instance(this)?])
}

/// The error of an assignment to a property.
///
/// # Errors
/// Always.
pub(super) fn refuse_assignment(ctx: Ctx<'_>, key: &Key<'_>) -> Result<(), Thrown> {
    let name = key.text().unwrap_or_default();
    Err(throw_type(ctx, &format!("Cannot assign to property {name} of a host object")))
}

/// The error of deleting a property.
///
/// # Errors
/// If it is one of these.
pub(super) fn refuse_removal(
    ctx: Ctx<'_>,
    key: &Key<'_>,
    is_there: impl Fn(&str) -> bool,
) -> Result<(), Thrown> {
    match key.text().filter(|name| is_there(name)) {
        Some(name) => {
            let message = format!("Cannot delete property {name} from a Go type");
            Err(throw_type(ctx, &message))
        }
        None => Ok(()),
    }
}
