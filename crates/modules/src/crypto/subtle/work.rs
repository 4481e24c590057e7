//! The state of a call, and its promise: settled at once, or when a thread apart has computed it.

use brunt_crypto::{Failure, Name as ErrorName};
use brunt_js::{Host, Phase};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Ctx, Deferred, JsResult, Name, Thrown, Value, Weight};

use super::apart;

static NAME: Name = Name::new("name");

/// Why a promise is rejected.
pub(super) enum Trouble {
    /// With an error of the API.
    Failure(Failure),
    /// With what the script threw, or the engine.
    Thrown(Thrown),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Thrown> for Trouble {
    fn from(thrown: Thrown) -> Self {
        Self::Thrown(thrown)
    }
}

pub(super) type Outcome<'js> = Result<Value<'js>, Trouble>;

/// The state of a call.
pub(super) enum Work<'js> {
    Done(Value<'js>),
    /// It takes long.
    Heavy(Heavy),
}

/// Something to be computed on another thread, and what becomes of it here.
pub(super) struct Heavy(Start);

type Start = Box<dyn for<'a> FnOnce(Ctx<'a>, Deferred) -> JsResult<'a, ()>>;

impl<'js> Work<'js> {
    /// `input`: how many bytes wait with it.
    pub(super) fn heavy<T: Send + 'static>(
        input: usize,
        compute: impl FnOnce() -> Result<T, Failure> + Send + 'static,
        then: impl for<'a> FnOnce(Ctx<'a>, T) -> Outcome<'a> + 'static,
    ) -> Self {
        Self::Heavy(Heavy(Box::new(move |ctx, deferred| {
            let host = Host::of(ctx);
            if host.core().is_none() || host.phase() == Phase::Init || !brunt_fiber::on_fiber() {
                return finish(ctx, deferred, compute(), then);
            }
            let weight = Weight::of(ctx, input)?;
            let computing = apart::compute(compute);
            let computed = async move {
                computing.await.unwrap_or_else(|_| {
                    Err(Failure::new(ErrorName::Operation, "the computation failed"))
                })
            };
            host.events().spawn_weighing(weight, computed, move |ctx, computed| {
                finish(ctx, deferred, computed, then)
            });
            Ok(())
        })))
    }
}

/// Settles a promise with what was computed.
fn finish<'js, T>(
    ctx: Ctx<'js>,
    deferred: Deferred,
    computed: Result<T, Failure>,
    then: impl FnOnce(Ctx<'js>, T) -> Outcome<'js>,
) -> JsResult<'js, ()> {
    let outcome = computed.map_err(Trouble::from).and_then(|made| then(ctx, made));
    settle(ctx, deferred, outcome)
}

/// A promise of what is known already.
pub(super) fn done<'js>(ctx: Ctx<'js>, outcome: Outcome<'js>) -> JsResult<'js> {
    promise(ctx, outcome.map(Work::Done))
}

/// A promise of what a call comes to.
pub(super) fn promise<'js>(ctx: Ctx<'js>, work: Result<Work<'js>, Trouble>) -> JsResult<'js> {
    let (promise, deferred) = ctx.promise()?;
    match work {
        Ok(Work::Done(value)) => settle(ctx, deferred, Ok(value))?,
        Ok(Work::Heavy(heavy)) => (heavy.0)(ctx, deferred)?,
        Err(trouble) => settle(ctx, deferred, Err(trouble))?,
    }
    Ok(promise)
}

fn settle<'js>(ctx: Ctx<'js>, deferred: Deferred, outcome: Outcome<'js>) -> JsResult<'js, ()> {
    let result = match outcome {
        Ok(value) => Ok(value),
        Err(Trouble::Failure(failure)) => Err(error(ctx, &failure)?),
        Err(Trouble::Thrown(thrown)) => match ctx.take_exception() {
            Some(exception) => Err(exception.value),
            None => return Err(thrown),
        },
    };
    ctx.settle(deferred, result)
}

/// An error with the name that the API gives it.
fn error<'js>(ctx: Ctx<'js>, failure: &Failure) -> JsResult<'js> {
    let kind = match failure.name {
        ErrorName::Type => ErrorKind::Type,
        ErrorName::Syntax => ErrorKind::Syntax,
        _ => ErrorKind::Plain,
    };
    let error = ctx.error(kind, &failure.message);
    error.define_hidden(&NAME, ctx.string(failure.name.as_str())?)?;
    Ok(error)
}
