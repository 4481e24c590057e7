//! Many rows at once: `insert` and `batch`.

use std::rc::Rc;

use brunt_fiber::clock::now_ns;
use brunt_js::Host;
use brunt_quickjs::{Call, Ctx, JsResult, Value, Weight};
use brunt_sql::{Args, Failure, Insert, Outcome, Way};
use tokio::time::Instant;

use super::core::{Label, Named, Statement};
use super::door::{Door, End};
use super::failing::{settling, throw};
use super::incoming::{Reader, Rows, all, fill};
use super::reading::within;
use super::record::Spent;
use super::source::Ready;
use super::{arguments, result, work};
use crate::go_error::throw_go;
use crate::reading::{length_of, text_or_empty};
use crate::state::VuState;

/// Rows that are handed over at once, unless the script says otherwise.
const BATCH: usize = 10_000;

/// A table, and the way of rows into it.
struct Into {
    table: String,
    columns: Vec<String>,
    way: Way,
    batch: Option<usize>,
    label: Rc<Label>,
}

impl Into {
    fn read<'js>(call: &Call<'js>, door: &Door) -> JsResult<'js, Self> {
        let ctx = call.ctx();
        let table = text_or_empty(&call.argument(0))?;
        if table.is_empty() {
            return Err(throw_go(
                ctx,
                "insert(table, columns, rows) takes the name of a table first",
            ));
        }
        let given = call.argument(1);
        let mut columns = Vec::new();
        if given.is_array() {
            for index in 0..length_of(&given)? {
                columns.push(text_or_empty(&given.get_index(index)?)?);
            }
        } else if given.is_string() {
            columns.push(given.to_string_lossy()?);
        }
        if columns.is_empty() || columns.len() > 4096 {
            let why = "the columns of insert() are an array of names, from 1 to 4096 of them";
            return Err(throw_go(ctx, why));
        }
        let (mut way, mut batch, options) = (Way::Fastest, None, call.argument(3));
        if options.is_object() {
            way = Self::way(ctx, &options.get("way")?)?;
            let size = options.get("batch")?;
            if !size.is_nullish() {
                let size = size.to_number()?;
                if !(1.0..=1e6).contains(&size) {
                    return Err(throw_go(ctx, "batch is a number of rows, from 1 to 1000000"));
                }
                batch = Some(size as usize);
            }
        }
        let folded = format!("INSERT INTO {table} ({})", columns.join(", "));
        let label = door.core().label(folded.get(..200).unwrap_or(&folded));
        Ok(Self { table, columns, way, batch, label })
    }

    fn way<'js>(ctx: Ctx<'js>, given: &Value<'js>) -> JsResult<'js, Way> {
        if given.is_nullish() {
            return Ok(Way::Fastest);
        }
        let text = if given.is_symbol() { String::new() } else { given.to_string_lossy()? };
        match text.as_str() {
            "auto" => Ok(Way::Fastest),
            "values" => Ok(Way::Values),
            "copy" => Ok(Way::Copy),
            "load" => Ok(Way::LoadData),
            _ => {
                let why = format!(
                    "the way {text:?} of insert() is unknown: it is \"auto\", \"values\", \"copy\" or \"load\""
                );
                Err(throw_go(ctx, &why))
            }
        }
    }

    async fn put(&self, ready: &Ready, values: &Args, deadline: Option<Instant>) -> Put {
        Put::of(ready, deadline, async |held| {
            let insert = Insert {
                table: &self.table,
                columns: &self.columns,
                values,
                way: self.way,
                batch: self.batch,
            };
            held.insert(&insert).await
        })
        .await
    }
}

/// Rows that were handed over.
struct Put {
    spent: Spent,
    outcome: Result<Outcome, Failure>,
}

impl Put {
    async fn of(
        ready: &Ready,
        deadline: Option<Instant>,
        work: impl AsyncFnOnce(&mut brunt_sql::Connection) -> Result<Outcome, Failure>,
    ) -> Self {
        let mut spent = Spent::default();
        let outcome = async {
            let mut held = within(deadline, ready.held()).await.and_then(|held| held)?;
            if held.is_of_pool() {
                spent.pool_wait = Some(held.lease().waited_ns());
                spent.connecting = held.lease().connecting_ns();
            }
            let sent = now_ns();
            let done = within(deadline, work(&mut held)).await.and_then(|done| done);
            spent.waiting = Some(now_ns().saturating_sub(sent));
            done
        }
        .await;
        Self { spent, outcome }
    }

    fn record(&self, ctx: Ctx<'_>, door: &Door, label: &Rc<Label>) {
        let affected = self.outcome.as_ref().ok().and_then(|outcome| outcome.rows_affected);
        let end = End {
            label,
            spent: self.spent,
            rows: 0,
            affected: affected.unwrap_or(0),
            failure: self.outcome.as_ref().err(),
        };
        door.over(Host::of(ctx), &VuState::of(ctx).tags(), &end);
    }
}

/// `insert(table, columns, rows, options)` and its twin.
///
/// # Errors
/// The server's; a row that does not fit.
pub(super) fn insert<'js>(call: &Call<'js>, door: &Rc<Door>, is_later: bool) -> JsResult<'js> {
    let ctx = call.ctx();
    let into = Into::read(call, door)?;
    let mut rows = Rows::of(ctx, call.argument(2))?;
    let mut reader = Reader::new(ctx, &into.columns, None, door.driver())?;
    if is_later {
        return insert_later(ctx, door, into, rows, reader);
    }
    let deadline = door.options.timeout.map(|timeout| Instant::now() + timeout);
    let most = into.batch.unwrap_or(BATCH).max(BATCH);
    let mut total = Outcome::default();
    let mut args = door.core().args();
    loop {
        args.clear();
        let end = fill(ctx, &mut args, &mut rows, &mut reader, most);
        let is_over = end.inspect_err(|_| rows.leave(ctx))?;
        if !args.is_empty() {
            let put = put_now(ctx, door, &into, &args, deadline)?;
            put.record(ctx, door, &into.label);
            match put.outcome {
                Ok(outcome) => total.add(&outcome),
                Err(failure) => {
                    let thrown = throw(ctx, &failure);
                    rows.leave(ctx);
                    return Err(thrown);
                }
            }
        }
        if is_over {
            break;
        }
    }
    door.core().keep_args(args);
    result::make(ctx, door.driver(), &total)
}

fn put_now<'js>(
    ctx: Ctx<'js>,
    door: &Door,
    into: &Into,
    args: &Args,
    deadline: Option<Instant>,
) -> JsResult<'js, Put> {
    let ready = door.source.check().and_then(|()| door.source.ready(Host::of(ctx)));
    let ready = ready.map_err(|failure| throw(ctx, &failure))?;
    work::wait(ctx, into.put(&ready, args, deadline))
}

fn insert_later<'js>(
    ctx: Ctx<'js>,
    door: &Rc<Door>,
    into: Into,
    mut rows: Rows<'js>,
    mut reader: Reader<'js>,
) -> JsResult<'js> {
    let mut args = Args::new();
    all(ctx, &mut args, &mut rows, &mut reader)?;
    let label = Rc::clone(&into.label);
    if args.is_empty() {
        let (promise, deferred) = ctx.promise()?;
        let nothing = result::make(ctx, door.driver(), &Outcome::default())?;
        ctx.settle(deferred, Ok(nothing))?;
        return Ok(promise);
    }
    promised(ctx, door, label, std::mem::take(&mut reader.weight), async move |ready, deadline| {
        into.put(&ready, &args, deadline).await
    })
}

fn promised<'js>(
    ctx: Ctx<'js>,
    door: &Rc<Door>,
    label: Rc<Label>,
    weight: Weight,
    work: impl AsyncFnOnce(Ready, Option<Instant>) -> Put + 'static,
) -> JsResult<'js> {
    let (promise, deferred) = ctx.promise()?;
    let deadline = door.options.timeout.map(|timeout| Instant::now() + timeout);
    let ready = match door.source.ready(Host::of(ctx)) {
        Ok(ready) => ready,
        Err(failure) => {
            let settling = settling(ctx, Err(failure))?;
            ctx.settle(deferred, settling)?;
            return Ok(promise);
        }
    };
    let door = Rc::clone(door);
    let putting = async move { work(ready, deadline).await };
    Host::of(ctx).events().spawn_weighing(weight, putting, move |ctx, put| {
        put.record(ctx, &door, &label);
        let told = match put.outcome {
            Ok(outcome) => Ok(result::make(ctx, door.driver(), &outcome)?),
            Err(failure) => Err(failure),
        };
        let settling = settling(ctx, told)?;
        ctx.settle(deferred, settling)
    });
    Ok(promise)
}

/// A statement with the rows of a batch.
struct Batch {
    statement: Rc<Statement>,
    named: Option<Rc<Named>>,
    width: usize,
    args: Args,
    weight: Weight,
}

impl Batch {
    fn read<'js>(
        ctx: Ctx<'js>,
        door: &Door,
        statement: &Rc<Statement>,
        rows: &Value<'js>,
    ) -> JsResult<'js, Self> {
        let driver = door.driver();
        let mut rows = Rows::of(ctx, rows.clone())?;
        let first = rows.next()?;
        let named = match &first {
            Some(row) if arguments::is_named(row) && statement.may_have_names() => {
                let named = arguments::named(ctx, statement, row, driver);
                Some(named.inspect_err(|_| rows.leave(ctx))?)
            }
            _ => None,
        };
        let (names, order) = match &named {
            Some(named) => (&named.names[..], Some(&named.order[..])),
            None => (&[][..], None),
        };
        let mut reader = Reader::new(ctx, names, order, driver)?;
        let mut args = Args::new();
        if let Some(first) = first {
            reader.push(ctx, &mut args, &first).inspect_err(|_| rows.leave(ctx))?;
            all(ctx, &mut args, &mut rows, &mut reader)?;
        }
        let statement = Rc::clone(statement);
        Ok(Self { statement, named, width: reader.width, args, weight: reader.weight })
    }

    async fn put(&self, ready: &Ready, deadline: Option<Instant>) -> Put {
        let sql = self.named.as_ref().map_or(&*self.statement.text, |named| &named.sql);
        Put::of(ready, deadline, async |held| held.batch(sql, self.width, &self.args).await).await
    }
}

/// `batch(sql, rows)`.
///
/// # Errors
/// The server's; a row that does not fit.
pub(super) fn batch<'js>(
    ctx: Ctx<'js>,
    door: &Rc<Door>,
    statement: &Rc<Statement>,
    rows: &Value<'js>,
) -> JsResult<'js> {
    let batch = Batch::read(ctx, door, statement, rows)?;
    if batch.args.is_empty() {
        return result::make(ctx, door.driver(), &Outcome::default());
    }
    let deadline = door.options.timeout.map(|timeout| Instant::now() + timeout);
    let ready = door.source.check().and_then(|()| door.source.ready(Host::of(ctx)));
    let ready = ready.map_err(|failure| throw(ctx, &failure))?;
    let put = work::wait(ctx, batch.put(&ready, deadline))?;
    put.record(ctx, door, &statement.label);
    match put.outcome {
        Ok(outcome) => result::make(ctx, door.driver(), &outcome),
        Err(failure) => Err(throw(ctx, &failure)),
    }
}

/// `batchAsync(sql, rows)`.
///
/// # Errors
/// A row that does not fit.
pub(super) fn batch_async<'js>(
    ctx: Ctx<'js>,
    door: &Rc<Door>,
    statement: &Rc<Statement>,
    rows: &Value<'js>,
) -> JsResult<'js> {
    let mut batch = Batch::read(ctx, door, statement, rows)?;
    if batch.args.is_empty() {
        let (promise, deferred) = ctx.promise()?;
        let nothing = result::make(ctx, door.driver(), &Outcome::default())?;
        ctx.settle(deferred, Ok(nothing))?;
        return Ok(promise);
    }
    let weight = std::mem::take(&mut batch.weight);
    promised(ctx, door, Rc::clone(&statement.label), weight, async move |ready, deadline| {
        batch.put(&ready, deadline).await
    })
}
