//! One call: its statement, its arguments, and how it is carried out, while the script waits or not.

use std::rc::Rc;
use std::time::Duration;

use brunt_fiber::block_on;
use brunt_js::Host;
use brunt_quickjs::{Ctx, JsResult, Value, Weight};
use brunt_sql::{Args, Ask, Failure};
use tokio::time::Instant;

use super::core::{Named, Statement};
use super::door::{Door, End};
use super::failing::{settling, throw};
use super::reading::{Reading, Results};
use super::source::Ready;
use super::{arguments, result};
use crate::state::{Tags, VuState};
use crate::throwing::throw_stopped;

/// A statement and its arguments.
pub(super) struct Job {
    pub(super) door: Rc<Door>,
    pub(super) statement: Rc<Statement>,
    /// The form with placeholders in place of names.
    named: Option<Rc<Named>>,
    args: Args,
    /// It is kept by the server.
    is_prepared: bool,
    _weight: Weight,
    pub(super) tags: Rc<Tags>,
    timeout: Option<Duration>,
}

impl Job {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// A value that is no argument.
    pub(super) fn new<'js>(
        ctx: Ctx<'js>,
        door: &Rc<Door>,
        statement: Rc<Statement>,
        values: &[Value<'js>],
    ) -> JsResult<'js, Self> {
        let driver = door.driver();
        let mut args = door.core().args();
        let named = match values {
            [one] if arguments::is_named(one) && statement.may_have_names() => {
                Some(arguments::named(ctx, &statement, one, driver)?)
            }
            _ => None,
        };
        let weight = if let Some(named) = &named {
            for (index, place) in named.order.iter().enumerate() {
                let value = values[0].get(&named.names[*place])?;
                arguments::push(ctx, &mut args, &value, index + 1, driver)?;
            }
            Weight::of(ctx, arguments::weight(&args))?
        } else {
            arguments::list(ctx, &mut args, values, driver)?
        };
        Ok(Self {
            door: Rc::clone(door),
            statement,
            named,
            is_prepared: door.options.is_prepared && !args.is_empty(),
            args,
            _weight: weight,
            tags: VuState::of(ctx).tags(),
            timeout: door.options.timeout,
        })
    }

    /// The same, whose text is a value.
    ///
    /// # Errors
    /// As [`Self::new`]; the exception of the text.
    pub(super) fn of_text<'js>(
        ctx: Ctx<'js>,
        door: &Rc<Door>,
        text: &Value<'js>,
        values: &[Value<'js>],
    ) -> JsResult<'js, Self> {
        let statement = statement(door, text)?;
        Self::new(ctx, door, statement, values)
    }

    /// With a time limit of its own.
    pub(super) fn within(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// The server keeps it.
    pub(super) fn prepared(self) -> Self {
        Self { is_prepared: true, ..self }
    }

    pub(super) fn ask(&self) -> Ask<'_> {
        let sql = self.named.as_ref().map_or(&*self.statement.text, |named| &named.sql);
        Ask { sql, args: &self.args, is_prepared: self.is_prepared }
    }

    pub(super) fn reading(&self, results: Results) -> Reading {
        let deadline = self.timeout.map(|timeout| Instant::now() + timeout);
        Reading::new(self.door.core(), self.door.driver(), results, deadline)
    }

    /// Begins, while the script waits.
    ///
    /// # Errors
    /// The VU was stopped; the inner one is why it did not begin, and is recorded.
    pub(super) fn begin<'js>(
        &self,
        ctx: Ctx<'js>,
        reading: &mut Reading,
        most: usize,
    ) -> JsResult<'js, Result<(), Failure>> {
        let ready = self.ready(ctx)?;
        let began = wait(ctx, reading.begin(&ready, &self.ask(), most))?;
        if let Err(failure) = &began {
            self.over(ctx, reading, Some(failure));
        }
        Ok(began)
    }

    /// A source that may be waited for while the script does.
    fn ready<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, Ready> {
        let source = &self.door.source;
        let ready = source.check().and_then(|()| source.ready(Host::of(ctx)));
        ready.map_err(|failure| throw(ctx, &failure))
    }

    /// Records its end.
    pub(super) fn over(&self, ctx: Ctx<'_>, reading: &Reading, failure: Option<&Failure>) {
        let affected =
            if reading.columns.is_empty() { reading.outcome.rows_affected } else { None };
        let end = End {
            label: &self.statement.label,
            spent: reading.spent,
            rows: reading.rows,
            affected: affected.unwrap_or(0),
            failure,
        };
        self.door.over(Host::of(ctx), &self.tags, &end);
    }

    /// It is over: its room is there for the next.
    pub(super) fn done(self) {
        self.door.core().keep_args(self.args);
    }
}

/// A statement by its text.
///
/// # Errors
/// The exception of the text.
pub(super) fn statement<'js>(door: &Door, text: &Value<'js>) -> JsResult<'js, Rc<Statement>> {
    let (core, driver) = (door.core(), door.driver());
    if let Some(text) = text.as_str() {
        return Ok(core.statement(driver, text.as_str()));
    }
    Ok(core.statement(driver, &arguments::sql_text(text)?))
}

/// Waits for a future.
///
/// # Errors
/// The VU was stopped meanwhile.
pub(super) fn wait<'js, T>(ctx: Ctx<'js>, future: impl Future<Output = T>) -> JsResult<'js, T> {
    block_on(future).map_err(|_| throw_stopped(ctx))
}

/// `exec`.
///
/// # Errors
/// The server's, as a `GoError`.
pub(super) fn exec<'js>(ctx: Ctx<'js>, job: Job) -> JsResult<'js> {
    let mut reading = job.reading(Results::Last);
    let ready = job.ready(ctx)?;
    let ran = wait(ctx, reading.run(&ready, &job.ask()))?;
    job.over(ctx, &reading, ran.as_ref().err());
    match ran {
        Ok(()) => {
            let made = result::make(ctx, job.door.driver(), &reading.outcome);
            job.done();
            made
        }
        Err(failure) => Err(throw(ctx, &failure)),
    }
}

/// A promise of what a job gives.
///
/// # Errors
/// The database was closed.
pub(super) fn promised<'js>(
    ctx: Ctx<'js>,
    job: Job,
    work: impl AsyncFnOnce(&Job, &Ready) -> (Reading, Result<(), Failure>) + 'static,
    then: impl for<'a> FnOnce(Ctx<'a>, &Job, &mut Reading) -> JsResult<'a, Result<Value<'a>, Failure>>
    + 'static,
) -> JsResult<'js> {
    let (promise, deferred) = ctx.promise()?;
    let ready = match job.door.source.ready(Host::of(ctx)) {
        Ok(ready) => ready,
        Err(failure) => {
            let settling = settling(ctx, Err(failure))?;
            ctx.settle(deferred, settling)?;
            return Ok(promise);
        }
    };
    let working = async move {
        let (reading, result) = work(&job, &ready).await;
        (job, reading, result)
    };
    Host::of(ctx).events().spawn(working, move |ctx, (job, mut reading, result)| {
        let told = match result {
            Ok(()) => then(ctx, &job, &mut reading)?,
            Err(failure) => Err(failure),
        };
        reading.let_go();
        job.over(ctx, &reading, told.as_ref().err().or(reading.late.as_ref()));
        job.done();
        let settling = settling(ctx, told)?;
        ctx.settle(deferred, settling)
    });
    Ok(promise)
}

/// `execAsync`.
///
/// # Errors
/// As [`promised`].
pub(super) fn exec_async<'js>(ctx: Ctx<'js>, job: Job) -> JsResult<'js> {
    let work = async |job: &Job, ready: &Ready| {
        let mut reading = job.reading(Results::Last);
        let result = reading.run(ready, &job.ask()).await;
        (reading, result)
    };
    promised(ctx, job, work, |ctx, job, reading| {
        result::make(ctx, job.door.driver(), &reading.outcome).map(Ok)
    })
}

/// Runs a statement without rows.
///
/// # Errors
/// The VU was stopped; the inner one is the server's.
pub(super) fn run_now<'js>(ctx: Ctx<'js>, job: &Job) -> JsResult<'js, Result<(), Failure>> {
    let mut reading = job.reading(Results::Last);
    let ready = job.ready(ctx)?;
    let ran = wait(ctx, reading.run(&ready, &job.ask()))?;
    job.over(ctx, &reading, ran.as_ref().err());
    Ok(ran)
}

/// The same, while the script goes on.
///
/// # Errors
/// The database was closed.
pub(super) fn run_later<'js>(
    ctx: Ctx<'js>,
    job: Job,
    then: impl for<'a> FnOnce(Ctx<'a>, Result<(), Failure>) -> JsResult<'a, ()> + 'static,
) -> JsResult<'js, ()> {
    let ready = job.door.source.ready(Host::of(ctx)).map_err(|failure| throw(ctx, &failure))?;
    let running = async move {
        let mut reading = job.reading(Results::Last);
        let ran = reading.run(&ready, &job.ask()).await;
        (job, reading, ran)
    };
    Host::of(ctx).events().spawn(running, move |ctx, (job, reading, ran)| {
        job.over(ctx, &reading, ran.as_ref().err());
        then(ctx, ran)
    });
    Ok(())
}
