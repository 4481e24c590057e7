//! Objects that tell a script of events: what the script listens to, what it hears when something fails.

use std::future::{Future, ready};
use std::rc::Rc;

use brunt_js::{Host, Line};
use brunt_quickjs::{Call, Ctx, Deferred, JsResult};

use super::handlers::Handlers;

/// Such an object.
pub(crate) trait Emitter: 'static {
    /// The names of its events. A handler is kept at the place of its event's name.
    const EVENTS: &'static [&'static str];
    /// The place of the event of connections.
    const CONNECT: usize;
    /// The place of the event of failures.
    const ERROR: usize;

    /// The failure.
    type Why: 'static;

    /// The script's functions.
    fn handlers(&self) -> &Handlers;

    /// The script's view of a failure.
    ///
    /// # Errors
    /// If the VM's memory limit is reached.
    fn error<'js>(ctx: Ctx<'js>, why: &Self::Why) -> JsResult<'js>;
}

/// `on(event, handler)`. The inner error is the fault of the arguments.
///
/// # Errors
/// The exception of reading the name.
pub(crate) fn listen<'js, E: Emitter>(
    call: &Call<'js>,
    emitter: &E,
) -> JsResult<'js, Result<(), String>> {
    let (ctx, function) = (call.ctx(), call.argument(1));
    let name = call.argument(0).to_string_lossy()?;
    let Some(event) = E::EVENTS.iter().position(|known| *known == name) else {
        let (last, others) = E::EVENTS.split_last().unwrap_or((&"none", &[]));
        let others = others.join(", ");
        return Ok(Err(format!("unknown event \"{name}\"; there are {others} and {last}")));
    };
    if !function.is_function() {
        return Ok(Err(format!("the handler of \"{name}\" is not a function")));
    }
    emitter.handlers().set(ctx, event, function);
    Ok(Ok(()))
}

/// A call failed: the handler of errors is told later; without one, the call throws.
///
/// # Errors
/// The failure, if it has no handler.
pub(crate) fn failed<'js, E: Emitter>(
    ctx: Ctx<'js>,
    emitter: &Rc<E>,
    why: E::Why,
) -> JsResult<'js, ()> {
    if !emitter.handlers().has(E::ERROR) {
        return Err(ctx.throw(E::error(ctx, &why)?));
    }
    let emitter = Rc::clone(emitter);
    Host::of(ctx).events().spawn(ready(()), move |ctx, ()| {
        let error = E::error(ctx, &why)?;
        emitter.handlers().call(ctx, E::ERROR, &[error])
    });
    Ok(())
}

/// The operation behind a promise failed: it is rejected, and the handler of errors is told.
///
/// # Errors
/// The exception of the handler.
pub(crate) fn reject<'js, E: Emitter>(
    ctx: Ctx<'js>,
    emitter: &E,
    deferred: Deferred,
    why: &E::Why,
) -> JsResult<'js, ()> {
    ctx.settle(deferred, Err(E::error(ctx, why)?))?;
    let error = E::error(ctx, why)?;
    emitter.handlers().call(ctx, E::ERROR, &[error])
}

/// It is connected: the script is told, and then of what `read` tells.
pub(crate) fn connected<E: Emitter, F: Future<Output = ()> + 'static>(
    host: &Host,
    emitter: &Rc<E>,
    read: impl FnOnce(Rc<E>, Line) -> F + 'static,
) {
    let emitter = Rc::clone(emitter);
    host.events().spawn_line(|line| async move {
        let told = Rc::clone(&emitter);
        line.tell(move |ctx| told.handlers().call(ctx, E::CONNECT, &[]));
        read(emitter, line).await;
    });
}
