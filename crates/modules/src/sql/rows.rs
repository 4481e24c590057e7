//! `rows`: a result read row by row, as an iterator and as an async iterator.

use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Class, Ctx, Deferred, JsResult, Members, Name, Value};
use brunt_sql::{Columns, Failure};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::failing::{settling, throw, usage};
use super::reading::{Reading, Results};
use super::shape::{self, Shape};
use super::source::{Kept, Lent};
use super::work::{Job, wait};
use crate::extension::{Link, keep};

/// The rest of a result that the script leaves early is read for this time, to keep its connection.
const REST_TIME: Duration = Duration::from_millis(20);

/// And this number of chunks at most.
const REST_CHUNKS: usize = 16;

/// A result that is being read.
struct Cursor {
    job: Job,
    columns: Columns,
    shape: Rc<Shape>,
    /// Taken out while it is in use.
    reading: RefCell<Option<Box<Reading>>>,
    /// The next row of the first chunk.
    next: Cell<usize>,
    /// Its last row was read, or it was closed.
    is_over: Cell<bool>,
    /// It is there again.
    back: Notify,
    lent: RefCell<(Option<Lent>, Option<Kept>)>,
}

impl Link for Cursor {
    fn cut(&self) {
        self.is_over.set(true);
        drop((self.reading.take(), self.lent.take()));
    }
}

/// The iterator.
struct Rows(Rc<Cursor>);

/// The async iterator of the same rows.
struct AsyncRows(Rc<Cursor>);

impl Class for Rows {
    const NAME: &'static CStr = c"Rows";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .next(|call| of(&call)?.step(call.ctx()))
                .method(c"return", 1, |call| {
                    let ctx = call.ctx();
                    of(&call)?.close(ctx)?;
                    iterated(ctx, Err(call.argument(0)))
                })
                .method(c"close", 0, |call| {
                    of(&call)?.close(call.ctx())?;
                    Ok(call.ctx().undefined())
                })
                .method(c"[Symbol.iterator]", 0, |call| Ok(call.this()))
                .method(c"[Symbol.asyncIterator]", 0, |call| {
                    call.ctx().instance(AsyncRows(of(&call)?))
                })
                .getter(c"columns", |call| shape::columns(call.ctx(), &of(&call)?.columns))
        });
        &MEMBERS
    }
}

impl Class for AsyncRows {
    const NAME: &'static CStr = c"AsyncRows";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"next", 0, |call| {
                    let ctx = call.ctx();
                    let cursor = of_async(&call)?;
                    let (promise, deferred) = ctx.promise()?;
                    cursor.step_later(ctx, deferred)?;
                    Ok(promise)
                })
                .method(c"return", 1, |call| {
                    let ctx = call.ctx();
                    of_async(&call)?.close(ctx)?;
                    let (promise, deferred) = ctx.promise()?;
                    ctx.settle(deferred, Ok(iterated(ctx, Err(call.argument(0)))?))?;
                    Ok(promise)
                })
                .method(c"[Symbol.asyncIterator]", 0, |call| Ok(call.this()))
        });
        &MEMBERS
    }
}

fn of(call: &Call<'_>) -> JsResult<'static, Rc<Cursor>> {
    match call.this().instance::<Rows>() {
        Some(rows) => Ok(Rc::clone(&rows.0)),
        None => Err(call.ctx().throw_type("this is not Rows of k6/x/sql")),
    }
}

fn of_async(call: &Call<'_>) -> JsResult<'static, Rc<Cursor>> {
    match call.this().instance::<AsyncRows>() {
        Some(rows) => Ok(Rc::clone(&rows.0)),
        None => Err(call.ctx().throw_type("this is not AsyncRows of k6/x/sql")),
    }
}

static VALUE: Name = Name::new("value");
static DONE: Name = Name::new("done");

/// An object as `next` and `return` of iterators give it: a value, or the end with one.
fn iterated<'js>(ctx: Ctx<'js>, value: Result<Value<'js>, Value<'js>>) -> JsResult<'js> {
    let is_done = ctx.bool(value.is_err());
    let value = value.unwrap_or_else(|last| last);
    ctx.object_from([(&VALUE, value), (&DONE, is_done)])
}

/// Starts a statement whose rows are read one by one.
///
/// # Errors
/// The server's, as a `GoError`.
pub(super) fn rows<'js>(ctx: Ctx<'js>, job: Job) -> JsResult<'js> {
    let mut reading = Box::new(job.reading(Results::First));
    if let Err(failure) = job.begin(ctx, &mut reading, 1)? {
        return Err(throw(ctx, &failure));
    }
    let lent = if reading.is_held() { job.door.source.lend() } else { (None, None) };
    let columns = Rc::clone(&reading.columns);
    let cursor = Rc::new(Cursor {
        shape: shape::of(ctx, job.door.driver(), &columns)?,
        columns,
        job,
        reading: RefCell::new(Some(reading)),
        next: Cell::new(0),
        is_over: Cell::new(false),
        back: Notify::new(),
        lent: RefCell::new(lent),
    });
    if Host::of(ctx).phase() != Phase::Init {
        keep(ctx, &cursor);
    }
    ctx.instance(Rows(cursor))
}

impl Cursor {
    /// The next row; `None` behind the last one. Waits for it.
    fn step<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, Option<Value<'js>>> {
        if self.is_over.get() {
            return Ok(None);
        }
        let Some(mut reading) = self.reading.take() else { return Err(busy(ctx)) };
        loop {
            if let Some(row) = self.row(ctx, &mut reading) {
                self.put(reading);
                return row.map(Some);
            }
            if reading.is_over {
                return self.ended(ctx, reading).map(|()| None);
            }
            // One that was stopped goes, and its connection with it.
            wait(ctx, reading.fetch(1))?;
        }
    }

    /// The next of the rows that have come.
    fn row<'js>(&self, ctx: Ctx<'js>, reading: &mut Reading) -> Option<JsResult<'js>> {
        let chunk = reading.chunks.first()?;
        let row = self.next.get();
        if row < chunk.len() {
            self.next.set(row + 1);
            let mut values = Vec::with_capacity(self.columns.len());
            let options = &self.job.door.options;
            return Some(self.shape.row(ctx, options, chunk, row, &mut values));
        }
        self.next.set(0);
        reading.drop_chunks();
        None
    }

    fn put(&self, reading: Box<Reading>) {
        // It may have been closed meanwhile.
        if !self.is_over.get() {
            *self.reading.borrow_mut() = Some(reading);
        }
        self.back.notify_one();
    }

    /// There are no more rows.
    fn ended<'js>(&self, ctx: Ctx<'js>, mut reading: Box<Reading>) -> JsResult<'js, ()> {
        self.is_over.set(true);
        reading.let_go();
        drop(self.lent.take());
        self.back.notify_one();
        let late = reading.late.take();
        self.job.over(ctx, &reading, late.as_ref());
        late.map_or(Ok(()), |failure| Err(throw(ctx, &failure)))
    }

    /// The script wants no more of it.
    fn close<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        if self.is_over.replace(true) {
            return Ok(());
        }
        let Some(mut reading) = self.reading.take() else { return Ok(()) };
        let spent = reading.spent;
        reading.deadline = Some(Instant::now() + REST_TIME);
        for _ in 0..REST_CHUNKS {
            if reading.is_over {
                break;
            }
            reading.drop_chunks();
            wait(ctx, reading.fetch(1))?;
        }
        // Not read in time: that is no failure of the statement.
        (reading.spent, reading.late) = (spent, None);
        self.ended(ctx, reading)
    }

    /// [`Self::step`] for a promise.
    fn step_later(self: &Rc<Self>, ctx: Ctx<'_>, deferred: Deferred) -> JsResult<'static, ()> {
        if self.is_over.get() {
            return settle(ctx, deferred, Ok(None));
        }
        let cursor = Rc::clone(self);
        let Some(mut reading) = self.reading.take() else {
            // Another step is under way.
            let back = async move {
                cursor.back.notified().await;
                cursor
            };
            Host::of(ctx).events().spawn(back, move |ctx, cursor| cursor.step_later(ctx, deferred));
            return Ok(());
        };
        let row = self.row(ctx, &mut reading);
        if let Some(row) = row {
            self.put(reading);
            return settle(ctx, deferred, Ok(Some(row?)));
        }
        if !reading.is_over {
            let fetching = async move {
                reading.fetch(1).await;
                (cursor, reading)
            };
            Host::of(ctx).events().spawn(fetching, move |ctx, (cursor, reading)| {
                cursor.put(reading);
                cursor.step_later(ctx, deferred)
            });
            return Ok(());
        }
        self.is_over.set(true);
        reading.let_go();
        drop(self.lent.take());
        self.back.notify_one();
        let late = reading.late.take();
        self.job.over(ctx, &reading, late.as_ref());
        settle(ctx, deferred, late.map_or(Ok(None), Err))
    }
}

fn settle<'js>(
    ctx: Ctx<'js>,
    deferred: Deferred,
    row: Result<Option<Value<'js>>, Failure>,
) -> JsResult<'static, ()> {
    let told = match row {
        Ok(Some(row)) => Ok(iterated(ctx, Ok(row))?),
        Ok(None) => Ok(iterated(ctx, Err(ctx.undefined()))?),
        Err(failure) => Err(failure),
    };
    let settling = settling(ctx, told)?;
    ctx.settle(deferred, settling)
}

fn busy(ctx: Ctx<'_>) -> brunt_quickjs::Thrown {
    throw(ctx, &usage("another next() of these rows is under way: await it first"))
}
