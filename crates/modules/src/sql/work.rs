//! One call: its statement, its arguments, and how it is carried out, while the script waits or not.

use std::rc::Rc;
use std::time::Duration;

use brunt_fiber::block_on;
use brunt_js::Host;
use brunt_quickjs::{Ctx, JsResult, Name, Value, Weight};
use brunt_sql::{Args, Ask, Failure, Trouble};
use tokio::time::Instant;

use super::core::Statement;
use super::door::{Door, End};
use super::failing::{settling, throw};
use super::reading::{Reading, Results};
use super::source::Ready;
use super::{arguments, result, shape};
use crate::state::{Tags, VuState};
use crate::throwing::throw_stopped;

/// Chunks that are read before they become rows.
const FETCH: usize = 4;

/// A statement and its arguments.
pub(super) struct Job {
    pub(super) door: Rc<Door>,
    pub(super) statement: Rc<Statement>,
    /// Its names are placeholders.
    is_named: bool,
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
            [one] if arguments::is_named(one) => statement.named(driver),
            _ => None,
        };
        let is_named = named.is_some();
        let weight = if let Some(named) = named {
            arguments::by_name(ctx, &mut args, &values[0], named, driver)?;
            Weight::of(ctx, arguments::weight(&args))?
        } else {
            arguments::list(ctx, &mut args, values, driver)?
        };
        Ok(Self {
            door: Rc::clone(door),
            statement,
            is_named,
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

    fn ask(&self) -> Ask<'_> {
        let sql = if self.is_named {
            self.statement.named(self.door.driver()).map_or("", |named| named.sql.as_str())
        } else {
            &self.statement.text
        };
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
    fn done(self) {
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

/// `query`.
///
/// # Errors
/// The server's, as a `GoError`.
pub(super) fn query<'js>(ctx: Ctx<'js>, job: Job) -> JsResult<'js> {
    let results = first_or_last(&job);
    let mut reading = job.reading(results);
    if let Err(failure) = job.begin(ctx, &mut reading, FETCH)? {
        return Err(throw(ctx, &failure));
    }
    let mut rows = Rows::new(ctx)?;
    let refused = loop {
        if let Some(failure) = rows.take(ctx, &job.door, &mut reading)? {
            break Some(failure);
        }
        if reading.is_over {
            break None;
        }
        wait(ctx, reading.fetch(FETCH))?;
    };
    ended(ctx, job, &mut reading, refused)?;
    Ok(rows.array)
}

/// SQLite's driver gives the rows of the last statement, the others those of the first.
fn first_or_last(job: &Job) -> Results {
    match job.door.driver() {
        brunt_sql::Driver::Sqlite => Results::Last,
        _ => Results::First,
    }
}

/// The end of a statement whose rows are all there.
///
/// # Errors
/// They are more than they may be.
fn ended<'js>(
    ctx: Ctx<'js>,
    job: Job,
    reading: &mut Reading,
    refused: Option<Failure>,
) -> JsResult<'js, ()> {
    reading.let_go();
    let late = reading.late.take();
    job.over(ctx, reading, refused.as_ref().or(late.as_ref()));
    job.done();
    if let Some(late) = late {
        // As in xk6-sql, which does not look for it: the rows that came are the result.
        log::warn!("a result of SQL ended before its end: {}", late.text());
    }
    refused.map_or(Ok(()), |failure| Err(throw(ctx, &failure)))
}

/// Rows of a result that is kept as a whole.
struct Rows<'js> {
    array: Value<'js>,
    count: u32,
    /// The heap before.
    before: usize,
}

impl<'js> Rows<'js> {
    fn new(ctx: Ctx<'js>) -> JsResult<'js, Self> {
        Ok(Self { array: ctx.array()?, count: 0, before: ctx.memory_used() })
    }

    /// Takes the rows that have come. The inner failure: they are too many.
    fn take(
        &mut self,
        ctx: Ctx<'js>,
        door: &Door,
        reading: &mut Reading,
    ) -> JsResult<'js, Option<Failure>> {
        if std::mem::take(&mut reading.is_anew) && self.count > 0 {
            (self.array, self.count) = (ctx.array()?, 0);
        }
        if reading.chunks.is_empty() {
            return Ok(None);
        }
        let shape = shape::of(ctx, door.driver(), &reading.columns)?;
        for chunk in &reading.chunks {
            self.count = shape.append(ctx, &door.options, chunk, &self.array, self.count)?;
            if let Some(failure) = self.refused(ctx, door) {
                return Ok(Some(failure));
            }
        }
        reading.drop_chunks();
        Ok(None)
    }

    fn refused(&self, ctx: Ctx<'js>, door: &Door) -> Option<Failure> {
        let (used, limit, most) = (ctx.memory_used(), ctx.memory_limit(), door.options.max_result);
        let bound = if used.saturating_sub(self.before) > most {
            format!("maxResult ({most} bytes)")
        } else if limit > 0 && used > limit / 8 * 7 {
            format!("the VU's memory (vuMemory, {limit} bytes)")
        } else {
            return None;
        };
        let count = self.count;
        let why = format!(
            "the result does not fit into {bound}: it was left after {count} rows; read it with db.rows(), which keeps one row at \
             a time"
        );
        Some(Failure::new(Trouble::TooLarge, why))
    }
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

static ROWS: Name = Name::new("rows");
static COLUMNS: Name = Name::new("columns");
static ROWS_AFFECTED: Name = Name::new("rowsAffected");

/// `queryAll`: all results of the statements of a text.
///
/// # Errors
/// The server's, as a `GoError`.
pub(super) fn query_all<'js>(ctx: Ctx<'js>, job: Job) -> JsResult<'js> {
    let mut reading = job.reading(Results::Each);
    if let Err(failure) = job.begin(ctx, &mut reading, FETCH)? {
        return Err(throw(ctx, &failure));
    }
    let mut all = Vec::new();
    let failure = loop {
        let mut rows = Rows::new(ctx)?;
        let refused = loop {
            if let Some(failure) = rows.take(ctx, &job.door, &mut reading)? {
                break Some(failure);
            }
            if reading.is_over {
                break reading.late.take();
            }
            wait(ctx, reading.fetch(FETCH))?;
        };
        if refused.is_some() {
            break refused;
        }
        let affected = reading.outcome.rows_affected.unwrap_or(0);
        all.push(ctx.object_from([
            (&ROWS, rows.array),
            (&COLUMNS, shape::columns(ctx, &reading.columns)?),
            (&ROWS_AFFECTED, ctx.number(affected as f64)),
        ])?);
        match wait(ctx, reading.next_result(FETCH))? {
            Ok(true) => {}
            Ok(false) => break None,
            Err(failure) => break Some(failure),
        }
    };
    ended(ctx, job, &mut reading, failure)?;
    ctx.array_from(all)
}

/// A promise of what a job gives.
///
/// # Errors
/// The database was closed.
fn promised<'js>(
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

/// `queryAsync`.
///
/// # Errors
/// As [`promised`].
pub(super) fn query_async<'js>(ctx: Ctx<'js>, job: Job) -> JsResult<'js> {
    let (results, most) = (first_or_last(&job), job.door.options.max_result);
    let (scale, limit) = (ctx.scale(), ctx.memory_limit());
    let most = if limit > 0 { most.min(limit / 2) } else { most };
    let work = async move |job: &Job, ready: &Ready| {
        let mut reading = job.reading(results);
        if let Err(failure) = reading.begin(ready, &job.ask(), FETCH).await {
            return (reading, Err(failure));
        }
        let mut weights = Vec::new();
        let mut bytes = 0;
        let mut seen = 0;
        loop {
            if reading.chunks.len() < seen {
                (seen, bytes) = (0, 0);
            }
            let fresh: usize =
                reading.chunks[seen..].iter().map(brunt_sql::Chunk::byte_count).sum();
            (seen, bytes) = (reading.chunks.len(), bytes + fresh);
            weights.push(scale.weigh(fresh));
            if bytes > most {
                let why = format!(
                    "the result does not fit into {most} bytes, which is maxResult or half of the VU's memory: read it with \
                     db.rows(), which keeps one row at a time"
                );
                reading.let_go();
                return (reading, Err(Failure::new(Trouble::TooLarge, why)));
            }
            if reading.is_over {
                return (reading, Ok(()));
            }
            reading.fetch(FETCH).await;
        }
    };
    promised(ctx, job, work, |ctx, job, reading| {
        let mut rows = Rows::new(ctx)?;
        match rows.take(ctx, &job.door, reading)? {
            Some(failure) => Ok(Err(failure)),
            None => Ok(Ok(rows.array)),
        }
    })
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
