//! Many rows at once: `insert` and `batch`.

use std::rc::Rc;

use brunt_fiber::clock::now_ns;
use brunt_js::Host;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Ctx, JsResult, Value, Weight};
use brunt_sql::{Args, Driver, Failure, Insert, Outcome, Trouble, Way};
use tokio::time::Instant;

use super::arguments::{self, push};
use super::core::{Label, Statement};
use super::door::{Door, End};
use super::failing::{settling, throw};
use super::reading::within;
use super::record::Spent;
use super::source::Ready;
use super::{result, work};
use crate::go_error::throw_go;
use crate::reading::{length_of, text_or_empty};
use crate::state::VuState;

/// Rows that are handed over at once, unless the script says otherwise.
const BATCH: usize = 10_000;

/// Bytes of rows that are handed over at once.
const BATCH_BYTES: usize = 8 << 20;

/// The most that rows weigh that are read before the first is sent.
const ALL_BYTES: usize = 256 << 20;

/// Rows between two looks at the clock.
const LOOK: usize = 64;

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

/// The rows of a call: an array, or anything that can be iterated over.
enum Rows<'js> {
    Array { array: Value<'js>, next: u32 },
    Iterator { iterator: Value<'js>, next: Value<'js> },
}

impl<'js> Rows<'js> {
    fn of(ctx: Ctx<'js>, given: Value<'js>) -> JsResult<'js, Self> {
        if given.is_array() {
            return Ok(Self::Array { array: given, next: 0 });
        }
        if given.is_object() && !given.is_string() {
            let symbol = ctx.global().get("Symbol")?.get("iterator")?;
            let get = ctx.global().get("Reflect")?.get("get")?;
            let make = get.call(&ctx.undefined(), &[given.clone(), symbol])?;
            if make.is_function() {
                let iterator = make.call(&given, &[])?;
                let next = iterator.get("next")?;
                return Ok(Self::Iterator { iterator, next });
            }
        }
        let why = "the rows are an array, or anything that can be iterated over: of arrays, of objects, or of values for one \
                   column";
        Err(throw_go(ctx, why))
    }

    fn next(&mut self) -> JsResult<'js, Option<Value<'js>>> {
        match self {
            Self::Array { array, next } => {
                if *next >= array.length()? {
                    return Ok(None);
                }
                *next += 1;
                array.get_index(*next - 1).map(Some)
            }
            Self::Iterator { iterator, next } => {
                let step = next.call(iterator, &[])?;
                if !step.is_object() {
                    return Err(step.ctx().throw_type("the iterator of rows gives no object"));
                }
                if step.get("done")?.truthy() {
                    return Ok(None);
                }
                step.get("value").map(Some)
            }
        }
    }

    /// The script threw while its rows were read: the iterator may tidy up.
    fn leave(&self, ctx: Ctx<'js>) {
        let Self::Iterator { iterator, .. } = self else { return };
        let Some(exception) = ctx.take_exception() else { return };
        if !exception.uncatchable
            && let Ok(method) = iterator.get("return")
            && method.is_function()
        {
            drop(method.call(iterator, &[]));
        }
        drop(ctx.take_exception());
        if exception.uncatchable {
            let _ = ctx.throw_uncatchable("the VU was stopped");
        } else {
            let _ = ctx.throw_again(exception);
        }
    }
}

/// How rows become arguments.
struct Reader<'js> {
    /// The members of rows that are objects, in order.
    keys: Vec<Key<'js>>,
    /// Values of a row; 0: the first row tells.
    width: usize,
    driver: Driver,
    count: usize,
    weight: Weight,
}

impl<'js> Reader<'js> {
    fn new(ctx: Ctx<'js>, names: &[String], width: usize, driver: Driver) -> JsResult<'js, Self> {
        let model = ctx.object()?;
        for name in names {
            model.define(name, ctx.undefined())?;
        }
        let mut known: Vec<_> =
            model.keys()?.into_iter().map(|key| (key.text().unwrap_or_default(), key)).collect();
        let mut keys = Vec::with_capacity(names.len());
        for name in names {
            // A name that comes twice has one key.
            let Some(at) = known.iter().position(|(text, _)| text == name) else { break };
            keys.push(known.swap_remove(at).1);
        }
        if keys.len() < names.len() {
            keys.clear();
        }
        Ok(Self { keys, width, driver, count: 0, weight: Weight::default() })
    }

    /// Appends a row.
    fn push(&mut self, ctx: Ctx<'js>, args: &mut Args, row: &Value<'js>) -> JsResult<'js, ()> {
        let before = args.len();
        self.count += 1;
        if !row.is_object() {
            push(ctx, args, row, 1, self.driver)?;
        } else if row.is_array() {
            let length = if self.width > 0 { self.width as u32 } else { length_of(row)? };
            if row.length()? != length {
                return Err(self.odd(ctx, row.length()? as usize));
            }
            for index in 0..length {
                push(ctx, args, &row.get_index(index)?, index as usize + 1, self.driver)?;
            }
        } else if arguments::is_named(row) && !self.keys.is_empty() {
            for (index, key) in self.keys.iter().enumerate() {
                push(ctx, args, &row.get(key)?, index + 1, self.driver)?;
            }
        } else {
            push(ctx, args, row, 1, self.driver)?;
        }
        let width = args.len() - before;
        if self.width == 0 {
            self.width = width;
        }
        if width != self.width || width == 0 {
            return Err(self.odd(ctx, width));
        }
        if self.count.is_multiple_of(LOOK) {
            self.weight.set(ctx, arguments::weight(args))?;
            ctx.poll((LOOK * 4) as i32)?;
        }
        Ok(())
    }

    fn odd(&self, ctx: Ctx<'js>, width: usize) -> brunt_quickjs::Thrown {
        let (count, wanted) = (self.count, self.width);
        throw_go(ctx, &format!("row {count} has {width} values, not {wanted}"))
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
    let mut reader = Reader::new(ctx, &into.columns, into.columns.len(), door.driver())?;
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

/// Reads rows until there are enough. `true`: there are no more.
fn fill<'js>(
    ctx: Ctx<'js>,
    args: &mut Args,
    rows: &mut Rows<'js>,
    reader: &mut Reader<'js>,
    most: usize,
) -> JsResult<'js, bool> {
    for _ in 0..most {
        let Some(row) = rows.next()? else { return Ok(true) };
        reader.push(ctx, args, &row)?;
        if args.byte_count() > BATCH_BYTES {
            break;
        }
    }
    Ok(false)
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

/// All rows as arguments.
///
/// # Errors
/// They are too many.
fn all<'js>(ctx: Ctx<'js>, rows: &mut Rows<'js>, reader: &mut Reader<'js>) -> JsResult<'js, Args> {
    let mut args = Args::new();
    loop {
        let end = fill(ctx, &mut args, rows, reader, LOOK).and_then(|is_over| {
            if args.byte_count() + args.len() * arguments::COST > ALL_BYTES {
                let why = format!(
                    "the rows are too many for one call: at most {} MiB; call it for parts of them",
                    ALL_BYTES >> 20
                );
                return Err(throw(ctx, &Failure::new(Trouble::TooLarge, why)));
            }
            Ok(is_over)
        });
        if end.inspect_err(|_| rows.leave(ctx))? {
            reader.weight.set(ctx, arguments::weight(&args))?;
            return Ok(args);
        }
    }
}

fn insert_later<'js>(
    ctx: Ctx<'js>,
    door: &Rc<Door>,
    into: Into,
    mut rows: Rows<'js>,
    mut reader: Reader<'js>,
) -> JsResult<'js> {
    let args = all(ctx, &mut rows, &mut reader)?;
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
    is_named: bool,
    width: usize,
    args: Args,
    driver: Driver,
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
        let named = statement.named(driver);
        let names = named.map_or(&[][..], |named| &named.names);
        let mut unique = names.to_vec();
        unique.sort_unstable();
        unique.dedup();
        if unique.len() < names.len() {
            let why = "a statement of batch() that has a name twice takes arrays, with ? in place of names";
            return Err(throw_go(ctx, why));
        }
        let mut reader = Reader::new(ctx, names, names.len(), driver)?;
        let args = all(ctx, &mut rows, &mut reader)?;
        Ok(Self {
            statement: Rc::clone(statement),
            is_named: named.is_some(),
            width: reader.width,
            args,
            driver,
            weight: reader.weight,
        })
    }

    async fn put(&self, ready: &Ready, deadline: Option<Instant>) -> Put {
        let sql = match self.statement.named(self.driver).filter(|_| self.is_named) {
            Some(named) => named.sql.as_str(),
            None => &self.statement.text,
        };
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
