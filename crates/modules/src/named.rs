//! Objects whose properties have names that no class could list: `__ENV`, tags, a category of made-up data.

use std::ffi::CStr;

use brunt_quickjs::class::Own;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Class, Ctx, JsResult, Members, Value};

/// The values behind such an object.
pub(crate) trait Named: 'static {
    /// The name of the object.
    const NAME: &'static CStr;

    /// The value of a property; `None` if there is none of this name.
    ///
    /// # Errors
    /// If the VM's memory limit is reached.
    fn get<'js>(&self, ctx: Ctx<'js>, name: &str) -> JsResult<'js, Option<Value<'js>>>;

    /// All names, in their order.
    fn names(&self, ctx: Ctx<'_>) -> Vec<String>;

    /// An assignment.
    ///
    /// # Errors
    /// If it is refused.
    fn set<'js>(&self, ctx: Ctx<'js>, name: String, value: &Value<'js>) -> JsResult<'js, ()>;

    /// A deletion.
    ///
    /// # Errors
    /// If it is refused.
    fn remove<'js>(&self, ctx: Ctx<'js>, name: String) -> JsResult<'js, ()>;
}

/// The class of the objects.
pub(crate) struct ByName<T>(pub(crate) T);

impl<T: Named> Class for ByName<T> {
    const NAME: &'static CStr = T::NAME;
    const EXOTIC: bool = true;
    const DYNAMIC: bool = true;

    fn members() -> &'static Members {
        static NONE: Members = Members::new();
        &NONE
    }

    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        let Some(name) = key.text() else { return Ok(Own::None) };
        Ok(self.0.get(ctx, &name)?.map_or(Own::None, Own::Once))
    }

    fn dynamic_names(&self, ctx: Ctx<'_>) -> Vec<String> {
        self.0.names(ctx)
    }

    fn assign<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>, value: &Value<'js>) -> JsResult<'js, ()> {
        // A name that there is no memory for cannot be set.
        key.text().map_or(Ok(()), |name| self.0.set(ctx, name, value))
    }

    fn remove<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, ()> {
        key.text().map_or(Ok(()), |name| self.0.remove(ctx, name))
    }
}
