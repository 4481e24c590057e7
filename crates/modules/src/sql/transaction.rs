//! `tx`: a function in a transaction, tried again if the server says so.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use brunt_js::Host;
use brunt_quickjs::{Call, Ctx, Deferred, JsResult, Root, Value};
use brunt_sql::{Driver, Failure, Trouble};

use super::connection::pinned;
use super::database::Transaction;
use super::door::{Door, Faults};
use super::failing::{error, throw, usage};
use super::record::record_retry;
use super::retry;
use super::source::{Lent, Pinned, Source};
use super::work::{Job, run_later, run_now, wait};
use crate::go_error::throw_go;
use crate::state::VuState;

/// New tries, unless the script says otherwise.
const RETRIES: u32 = 0;

/// The most of them.
const RETRIES_MAX: f64 = 1000.0;

/// The words for whoever uses a transaction that is over.
const OVER: &str = "sql: transaction has already been committed or rolled back";

/// The options of a transaction.
#[derive(Clone)]
struct Wishes {
    begin: Vec<String>,
    retries: u32,
}

impl Wishes {
    fn read<'js>(ctx: Ctx<'js>, driver: Driver, given: &Value<'js>) -> JsResult<'js, Self> {
        let (mut level, mut is_read_only, mut retries) = (None, false, RETRIES);
        if given.is_object() {
            let isolation = given.get("isolation")?;
            if !isolation.is_nullish() {
                level = Some(level_of(ctx, &isolation)?);
            }
            is_read_only = given.get("readOnly")?.truthy();
            let count = given.get("retries")?;
            if !count.is_nullish() {
                let count = count.to_number()?;
                if !(0.0..=RETRIES_MAX).contains(&count) {
                    return Err(throw_go(ctx, "retries is a number from 0 to 1000"));
                }
                retries = count as u32;
            }
        }
        let access = if is_read_only { " READ ONLY" } else { "" };
        let begin = match (driver, level) {
            (Driver::Postgres, level) => {
                let level = level.map_or(String::new(), |it| format!(" ISOLATION LEVEL {it}"));
                vec![format!("BEGIN{level}{access}")]
            }
            (Driver::MySql, level) => {
                let set = level.map(|it| format!("SET TRANSACTION ISOLATION LEVEL {it}"));
                set.into_iter().chain([format!("START TRANSACTION{access}")]).collect()
            }
            (Driver::Sqlite, None | Some("SERIALIZABLE")) if is_read_only => {
                vec!["BEGIN".to_owned()]
            }
            // One that begins to write later would be refused, whatever it waits for.
            (Driver::Sqlite, None | Some("SERIALIZABLE")) => vec!["BEGIN IMMEDIATE".to_owned()],
            (Driver::Sqlite, Some(level)) => {
                let why = format!("SQLite's transactions are serializable: it has no {level}");
                return Err(throw_go(ctx, &why));
            }
        };
        Ok(Self { begin, retries })
    }
}

fn level_of<'js>(ctx: Ctx<'js>, given: &Value<'js>) -> JsResult<'js, &'static str> {
    const LEVELS: [&str; 4] =
        ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];
    let text = if given.is_symbol() { String::new() } else { given.to_string_lossy()? };
    let plain = text.to_ascii_uppercase().replace(['-', '_'], " ");
    LEVELS.into_iter().find(|level| *level == plain).ok_or_else(|| {
        let why = format!(
            "the isolation {text:?} is unknown: it is \"read uncommitted\", \"read committed\", \"repeatable read\" or \
             \"serializable\""
        );
        throw_go(ctx, &why)
    })
}

/// One try of a transaction.
struct Try {
    door: Rc<Door>,
    pinned: Rc<Pinned>,
    faults: Rc<Faults>,
    /// The connection that it runs on, if a script has that.
    _lent: Option<Lent>,
}

impl Drop for Try {
    fn drop(&mut self) {
        self.pinned.finish(OVER);
    }
}

impl Try {
    /// One on a connection of its own.
    fn new<'js>(ctx: Ctx<'js>, outer: &Rc<Door>) -> JsResult<'js, Self> {
        let pinned = pinned(ctx, outer)?;
        let lent = match &outer.source {
            Source::Pinned(_) => outer.source.lend().0,
            Source::Pool(_) => None,
        };
        let faults = Rc::<Faults>::default();
        let door = Rc::new(Door {
            source: Source::Pinned(Rc::clone(&pinned)),
            options: outer.options.clone(),
            meters: outer.meters,
            faults: Some(Rc::clone(&faults)),
        });
        Ok(Self { door, pinned, faults, _lent: lent })
    }

    fn job(&self, ctx: Ctx<'_>, sql: &str) -> JsResult<'static, Job> {
        let statement = self.door.core().statement(self.door.driver(), sql);
        Job::new(ctx, &self.door, statement, &[])
    }

    fn run<'js>(&self, ctx: Ctx<'js>, sql: &str) -> JsResult<'js, Result<(), Failure>> {
        run_now(ctx, &self.job(ctx, sql)?)
    }

    /// The statements that end it well. A transaction of PostgreSQL in which a statement failed is rolled back by `COMMIT`,
    /// which does not tell: another statement does.
    fn commit(&self) -> &'static [&'static str] {
        if self.faults.any.get() && self.door.driver() == Driver::Postgres {
            return &["SELECT 1", "COMMIT"];
        }
        &["COMMIT"]
    }

    /// Why it cannot end well, though its function did.
    fn spoilt(&self) -> Option<Failure> {
        self.faults.is_to_retry.get().then(|| {
            let why = "the server rolled the transaction back, and its function went on";
            Failure::new(Trouble::Retry, why)
        })
    }
}

/// `tx(function, options)`.
///
/// # Errors
/// The exception of the function; the error of the server.
pub(super) fn tx<'js>(call: &Call<'js>, door: &Rc<Door>) -> JsResult<'js> {
    let (ctx, function) = (call.ctx(), call.argument(0));
    if !function.is_function() {
        return Err(throw_go(
            ctx,
            "tx(function, options) takes a function, which gets the transaction",
        ));
    }
    let wishes = Wishes::read(ctx, door.driver(), &call.argument(1))?;
    let mut tries = 0;
    loop {
        let one = Try::new(ctx, door)?;
        for sql in &wishes.begin {
            if let Err(failure) = one.run(ctx, sql)? {
                return Err(throw(ctx, &failure));
            }
        }
        let transaction = Transaction::make(ctx, Rc::clone(&one.door))?;
        let thrown = match function.call(&ctx.undefined(), &[transaction]) {
            Ok(value) if value.is_promise() => {
                let later = Later {
                    door: Rc::clone(door),
                    wishes,
                    tries: Cell::new(tries),
                    function: Cell::new(Some(ctx.root(function))),
                    deferred: Cell::new(None),
                    one: RefCell::new(Some(one)),
                };
                return later.begin(ctx, &value);
            }
            Ok(value) => {
                let mut ended = one.spoilt().map_or(Ok(()), Err);
                for sql in one.commit() {
                    if ended.is_ok() {
                        ended = one.run(ctx, sql)?;
                    }
                }
                match ended {
                    Ok(()) => return Ok(value),
                    Err(failure) => {
                        if failure.trouble() == Trouble::Retry {
                            one.faults.is_to_retry.set(true);
                        }
                        throw(ctx, &failure)
                    }
                }
            }
            Err(thrown) => thrown,
        };
        let Some(exception) = ctx.take_exception() else { return Err(thrown) };
        if exception.uncatchable {
            // Its connection goes, and with it the transaction.
            drop(one);
            return Err(ctx.throw_uncatchable("the transaction was left"));
        }
        let is_to_retry = one.faults.is_to_retry.get() && tries < wishes.retries;
        // A connection that broke has nothing to roll back.
        if !one.pinned.is_finished() {
            drop(one.run(ctx, "ROLLBACK")?);
        }
        drop(one);
        if !is_to_retry {
            return Err(ctx.throw_again(exception));
        }
        counted(ctx, door);
        wait(ctx, tokio::time::sleep(retry::wait(tries, VuState::drawn(ctx))))?;
        tries += 1;
    }
}

fn counted(ctx: Ctx<'_>, door: &Door) {
    let tags = VuState::of(ctx).tags();
    record_retry(Host::of(ctx), door.meters, &tags, &door.options.marks);
}

/// A transaction whose function is async.
struct Later {
    door: Rc<Door>,
    wishes: Wishes,
    tries: Cell<u32>,
    function: Cell<Option<Root>>,
    deferred: Cell<Option<Deferred>>,
    one: RefCell<Option<Try>>,
}

impl Later {
    /// The promise of the first try is there.
    fn begin<'js>(self, ctx: Ctx<'js>, first: &Value<'js>) -> JsResult<'js> {
        let (promise, deferred) = ctx.promise()?;
        self.deferred.set(Some(deferred));
        follow(ctx, &Rc::new(self), first)?;
        Ok(promise)
    }

    fn settle<'js>(
        &self,
        ctx: Ctx<'js>,
        with: Result<Value<'js>, Value<'js>>,
    ) -> JsResult<'js, ()> {
        drop(self.function.take());
        drop(self.one.take());
        match self.deferred.take() {
            Some(deferred) => ctx.settle(deferred, with),
            None => Ok(()),
        }
    }
}

/// The promise of the function decides.
fn follow<'js>(ctx: Ctx<'js>, later: &Rc<Later>, promise: &Value<'js>) -> JsResult<'js, ()> {
    let (well, ill) = (Rc::clone(later), Rc::clone(later));
    let well = ctx.closure(c"committed", 1, move |call| {
        let ctx = call.ctx();
        let spoilt = well.one.borrow().as_ref().and_then(Try::spoilt);
        let value = ctx.root(call.argument(0));
        match spoilt {
            Some(failure) => undo(ctx, Rc::clone(&well), ctx.root(error(ctx, &failure)?))?,
            None => commit(ctx, Rc::clone(&well), value, 0)?,
        }
        Ok(ctx.undefined())
    })?;
    let ill = ctx.closure(c"rolledBack", 1, move |call| {
        let ctx = call.ctx();
        undo(ctx, Rc::clone(&ill), ctx.root(call.argument(0)))?;
        Ok(ctx.undefined())
    })?;
    promise.get("then")?.call(promise, &[well, ill]).map(drop)
}

fn job_of(ctx: Ctx<'_>, later: &Later, sql: &str) -> JsResult<'static, Option<Job>> {
    let one = later.one.borrow();
    one.as_ref().map(|one| one.job(ctx, sql)).transpose()
}

/// Carries out the statements of the end from this one on.
fn commit(ctx: Ctx<'_>, later: Rc<Later>, value: Root, at: usize) -> JsResult<'static, ()> {
    let sql = later.one.borrow().as_ref().and_then(|one| one.commit().get(at).copied());
    let Some(sql) = sql else {
        let value = ctx.unroot(value);
        return later.settle(ctx, Ok(value));
    };
    let Some(job) = job_of(ctx, &later, sql)? else { return Ok(()) };
    // The last one ends it.
    let is_last = sql == "COMMIT";
    run_later(ctx, job, move |ctx, ran| match ran {
        Ok(()) if is_last => {
            let value = ctx.unroot(value);
            later.settle(ctx, Ok(value))
        }
        Ok(()) => commit(ctx, later, value, at + 1),
        Err(failure) => {
            drop(ctx.unroot(value));
            let why = ctx.root(error(ctx, &failure)?);
            undo(ctx, later, why)
        }
    })
}

/// Rolls back, and tries again if that may help.
fn undo(ctx: Ctx<'_>, later: Rc<Later>, why: Root) -> JsResult<'static, ()> {
    let (is_to_retry, is_broken) = {
        let one = later.one.borrow();
        let Some(one) = one.as_ref() else { return Ok(()) };
        (one.faults.is_to_retry.get(), one.pinned.is_finished())
    };
    let is_to_retry = is_to_retry && later.tries.get() < later.wishes.retries;
    if is_broken {
        return undone(ctx, later, why, is_to_retry);
    }
    let Some(job) = job_of(ctx, &later, "ROLLBACK")? else { return Ok(()) };
    run_later(ctx, job, move |ctx, _| undone(ctx, later, why, is_to_retry))
}

fn undone(ctx: Ctx<'_>, later: Rc<Later>, why: Root, is_to_retry: bool) -> JsResult<'static, ()> {
    drop(later.one.take());
    let why = ctx.unroot(why);
    if !is_to_retry {
        return later.settle(ctx, Err(why));
    }
    counted(ctx, &later.door);
    let tries = later.tries.get();
    later.tries.set(tries + 1);
    Host::of(ctx).events().spawn(
        tokio::time::sleep(retry::wait(tries, VuState::drawn(ctx))),
        move |ctx, ()| {
            again(ctx, &later).or_else(|thrown| match ctx.take_exception() {
                Some(exception) if !exception.uncatchable => {
                    later.settle(ctx, Err(exception.value))
                }
                _ => Err(thrown),
            })
        },
    );
    Ok(())
}

/// The next try. Its first statements are waited for.
fn again<'js>(ctx: Ctx<'js>, later: &Rc<Later>) -> JsResult<'js, ()> {
    let one = Try::new(ctx, &later.door)?;
    for sql in &later.wishes.begin {
        if let Err(failure) = one.run(ctx, sql)? {
            return Err(throw(ctx, &failure));
        }
    }
    let transaction = Transaction::make(ctx, Rc::clone(&one.door))?;
    *later.one.borrow_mut() = Some(one);
    let Some(root) = later.function.take() else { return Err(throw(ctx, &usage(OVER))) };
    let function = ctx.rooted(&root);
    later.function.set(Some(root));
    match function.call(&ctx.undefined(), &[transaction]) {
        Ok(value) if value.is_promise() => follow(ctx, later, &value),
        Ok(value) => commit(ctx, Rc::clone(later), ctx.root(value), 0),
        Err(thrown) => match ctx.take_exception() {
            Some(exception) if !exception.uncatchable => {
                undo(ctx, Rc::clone(later), ctx.root(exception.value))
            }
            Some(_) => Err(ctx.throw_uncatchable("the transaction was left")),
            None => Err(thrown),
        },
    }
}
