//! A built-in module, as its host sees it.

use brunt_engine::{Ended, Iteration};
use brunt_js::api::SetExport;
use brunt_js::{Host, Remains};
use brunt_quickjs::{Ctx, JsResult, Value};

/// A built-in module: its exports, and what it does as iterations begin and end, of which it hears in VMs that have imported
/// it.
pub(crate) trait Module: Sync {
    /// The name by which scripts import it.
    fn specifier(&self) -> &'static str;

    /// The names of its exports, without `default`.
    fn names(&self) -> Vec<String>;

    /// Makes the exports in one VM: properties of the object that is the default export.
    ///
    /// # Errors
    /// The exception of making them.
    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()>;

    /// The object to be filled.
    ///
    /// # Errors
    /// The exception of making it.
    fn object<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        ctx.object()
    }

    /// Whether an export that is imported by name is the property of the default export whenever it is read, as in some
    /// modules of k6.
    fn shares_exports(&self) -> bool {
        false
    }

    /// Gives a file the export that it imports by name. Libraries replace properties of the object, `http.get` for one, so
    /// the object is the authority.
    ///
    /// # Errors
    /// The exception of making it.
    fn export<'js>(
        &self,
        _ctx: Ctx<'js>,
        name: &str,
        object: &Value<'js>,
        exports: &dyn SetExport<'js>,
    ) -> JsResult<'js, ()> {
        if self.shares_exports() {
            return exports.share(name, object);
        }
        exports.set(name, object.get(name)?)
    }

    /// Whether it hears of iterations in all VMs.
    fn is_always_awake(&self) -> bool {
        false
    }

    /// An iteration, `setup()` or `teardown()` begins.
    fn begin(&self, _host: &Host, _ctx: Ctx<'_>, _iteration: Option<&Iteration>) {}

    /// The script has nothing left to do: what is to be waited for before the iteration is over, at the same time as what remains
    /// to other modules.
    fn remains(&self, _host: &Host) -> Option<Remains> {
        None
    }

    /// The script threw, and nothing of it goes on. Exceptions thrown here are lost.
    fn thrown(&self, _host: &Host, _ctx: Ctx<'_>) {}

    /// The iteration was stopped from outside; what had come by then can be told to the script, until a time (unix ns).
    fn stopped(&self, _host: &Host, _ctx: Ctx<'_>, _until: u64) {}

    /// It is over, interrupted or not. No JavaScript may run here.
    fn end(&self, _host: &Host, _ended: Ended) {}
}
