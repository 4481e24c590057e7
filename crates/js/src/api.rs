//! The imports and calls of scripts, seen from the host.

use std::any::Any;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use brunt_engine::{Ended, Iteration, ScenarioHere};
use brunt_metrics::{Metadata, Recorder, TagsId};
use brunt_quickjs::{Ctx, JsResult, Thrown, Value};

use crate::host::Host;

/// Work that goes on without the script.
pub type Remains = Pin<Box<dyn Future<Output = ()>>>;

/// The modules and globals of a script world. One value for all cores.
pub trait Api: Send + Sync + 'static {
    /// The export names of a built-in module, `default` among them if it has one.
    ///
    /// # Errors
    /// A sentence for the user: not a module, or not supported yet.
    fn exports(&self, specifier: &str) -> Result<Vec<String>, String>;

    /// Fills in the exports of a built-in module in one VM.
    ///
    /// # Errors
    /// The exception thrown while making them.
    fn evaluate<'js>(
        &self,
        ctx: Ctx<'js>,
        specifier: &str,
        exports: &dyn SetExport<'js>,
    ) -> JsResult<'js, ()>;

    /// Installs the globals in a fresh VM.
    ///
    /// # Errors
    /// The exception thrown while making them.
    fn install<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()>;

    /// Throws an error of the host, in the way of the world that is hosted.
    fn throw(&self, ctx: Ctx<'_>, message: &str) -> Thrown;

    /// The API's state for the whole test; found again with [`Host::shared`].
    fn shared(&self) -> Arc<dyn Any + Send + Sync>;

    /// The VU works for this scenario from now on.
    fn activate(&self, host: &Host, ctx: Ctx<'_>, scenario: &Rc<ScenarioHere>);

    /// An iteration, `setup()` or `teardown()` begins (see [`Host::phase`]).
    fn begin(&self, host: &Host, ctx: Ctx<'_>, iteration: Option<&Iteration>);

    /// The script has nothing left to do: what is to be waited for before the iteration (or `setup()`, `teardown()`)
    /// is over.
    fn remains(&self, _host: &Host) -> Option<Remains> {
        None
    }

    /// The script threw, and nothing of it goes on; what is open can say goodbye to it here. Exceptions of that are
    /// lost.
    fn thrown(&self, _host: &Host, _ctx: Ctx<'_>) {}

    /// The iteration was stopped from outside; what had come by then can be told to the script here, until a time (unix ns):
    /// nothing else of the core runs meanwhile. The script can't wait any more, and what it throws is lost.
    fn stopped(&self, _host: &Host, _ctx: Ctx<'_>, _until: u64) {}

    /// It is over, interrupted or not. No JavaScript may run here.
    fn end(&self, host: &Host, ended: Ended);

    /// The tags of what the engine measures for this VU.
    fn tags(&self, host: &Host, recorder: &mut Recorder) -> TagsId;

    /// The metadata of samples of this VU.
    fn metadata(&self, host: &Host) -> Option<Metadata>;

    /// `setup()`'s result as JSON text, by the rules of the world that is hosted. `None` for no data.
    ///
    /// # Errors
    /// A sentence for the user.
    fn encode_data<'js>(&self, ctx: Ctx<'js>, value: &Value<'js>)
    -> Result<Option<String>, String>;

    /// Code runs in another scope from now on (see `brunt_quickjs::Ctx::enter_scope`).
    fn scope(&self, _host: &Host, _from: i32, _to: i32) {}

    /// Writes an uncaught exception of an iteration to the log.
    fn report(&self, host: &Host, text: &str);

    /// An object that is to be shown in the script's exported `options`, as JSON; `None` to leave them alone.
    fn consolidated_options(&self) -> Option<String>;
}

/// Where exports go: a module that is being evaluated, or an object for `require()`.
pub trait SetExport<'js> {
    /// Sets one.
    ///
    /// # Errors
    /// If it was not announced.
    fn set(&self, name: &str, value: Value<'js>) -> JsResult<'js, ()>;

    /// Whether it was asked for or announced: an export that no module imports need not be made.
    fn wants(&self, name: &str) -> bool {
        let _ = name;
        true
    }

    /// Sets one to the property of that name, of the object that is the default export; from now on too, if both are asked
    /// for.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    fn share(&self, name: &str, object: &Value<'js>) -> JsResult<'js, ()> {
        self.set(name, object.get(name)?)
    }

    /// Makes one live: each reading of it reads the property of that name, whose getter may throw. Nothing is read now.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    fn live(&self, name: &str, object: &Value<'js>) -> JsResult<'js, ()> {
        if self.wants(name) { self.set(name, object.get(name)?) } else { Ok(()) }
    }
}
