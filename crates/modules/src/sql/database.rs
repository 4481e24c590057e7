//! The objects in the script's hands that take statements: a database, one of its connections, a transaction.

use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value};

use super::door::Door;
use super::options;
use super::source::Source;
use super::work::{self, Job};
use super::{bulk, connection, prepared, rows, transaction, whole};

/// A database.
pub(super) struct Database(Rc<Door>);

/// A connection of a database.
pub(super) struct Connection(Rc<Door>);

/// A transaction.
pub(super) struct Transaction(Rc<Door>);

impl Class for Database {
    const NAME: &'static CStr = c"Database";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            statements(Members::new())
                .method(c"tx", 2, |call| transaction::tx(&call, &door(&call)?))
                .method(c"connection", 0, |call| connection::connection(call.ctx(), &door(&call)?))
                .method(c"close", 0, |call| {
                    door(&call)?.pool().close();
                    Ok(call.ctx().undefined())
                })
        });
        &MEMBERS
    }
}

impl Class for Connection {
    const NAME: &'static CStr = c"Connection";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            statements(Members::new())
                .method(c"tx", 2, |call| transaction::tx(&call, &door(&call)?))
                .method(c"close", 0, |call| {
                    if let Source::Pinned(pinned) = &door(&call)?.source {
                        pinned.finish("sql: connection is already closed");
                    }
                    Ok(call.ctx().undefined())
                })
        });
        &MEMBERS
    }
}

impl Class for Transaction {
    const NAME: &'static CStr = c"Transaction";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| statements(Members::new()));
        &MEMBERS
    }
}

impl Database {
    pub(super) fn make(ctx: Ctx<'_>, door: Rc<Door>) -> JsResult<'_> {
        ctx.instance(Self(door))
    }
}

impl Connection {
    pub(super) fn make(ctx: Ctx<'_>, door: Rc<Door>) -> JsResult<'_> {
        ctx.instance(Self(door))
    }
}

impl Transaction {
    pub(super) fn make(ctx: Ctx<'_>, door: Rc<Door>) -> JsResult<'_> {
        ctx.instance(Self(door))
    }
}

/// The methods that all of them have.
fn statements(members: Members) -> Members {
    members
        .method(c"query", 1, |call| whole::query(call.ctx(), job(&call)?))
        .method(c"queryWithTimeout", 2, |call| whole::query(call.ctx(), timed_job(&call)?))
        .method(c"exec", 1, |call| work::exec(call.ctx(), job(&call)?))
        .method(c"execWithTimeout", 2, |call| work::exec(call.ctx(), timed_job(&call)?))
        .method(c"queryAsync", 1, |call| whole::query_async(call.ctx(), job(&call)?))
        .method(c"execAsync", 1, |call| work::exec_async(call.ctx(), job(&call)?))
        .method(c"queryAll", 1, |call| whole::query_all(call.ctx(), job(&call)?))
        .method(c"rows", 1, |call| rows::rows(call.ctx(), job(&call)?))
        .method(c"prepare", 1, |call| {
            let door = door(&call)?;
            let statement = work::statement(&door, &call.argument(0))?;
            prepared::make(call.ctx(), door, statement)
        })
        .method(c"insert", 4, |call| bulk::insert(&call, &door(&call)?, false))
        .method(c"insertAsync", 4, |call| bulk::insert(&call, &door(&call)?, true))
        .method(c"batch", 2, |call| {
            let door = door(&call)?;
            let statement = work::statement(&door, &call.argument(0))?;
            bulk::batch(call.ctx(), &door, &statement, &call.argument(1))
        })
        .method(c"batchAsync", 2, |call| {
            let door = door(&call)?;
            let statement = work::statement(&door, &call.argument(0))?;
            bulk::batch_async(call.ctx(), &door, &statement, &call.argument(1))
        })
        .method(c"with", 1, with)
}

/// `with(options)`: the same, with other options.
fn with<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this, before) = (call.ctx(), call.this(), door(&call)?);
    let (mut options, marks) = before.options.read(ctx, &call.argument(0))?;
    options.marks = before.core().marks(marks);
    let door = before.with(options);
    if this.instance::<Transaction>().is_some() {
        Transaction::make(ctx, door)
    } else if this.instance::<Connection>().is_some() {
        Connection::make(ctx, door)
    } else {
        Database::make(ctx, door)
    }
}

fn of(this: &Value<'_>) -> Option<Rc<Door>> {
    let database = this.instance::<Database>().map(|database| &database.0);
    let connection = || this.instance::<Connection>().map(|connection| &connection.0);
    let transaction = || this.instance::<Transaction>().map(|transaction| &transaction.0);
    database.or_else(connection).or_else(transaction).map(Rc::clone)
}

fn door(call: &Call<'_>) -> JsResult<'static, Rc<Door>> {
    of(&call.this()).ok_or_else(|| call.ctx().throw_type("this is not a Database of k6/x/sql"))
}

/// `(sql, ...args)`.
fn job(call: &Call<'_>) -> JsResult<'static, Job> {
    let door = door(call)?;
    Job::of_text(call.ctx(), &door, &call.argument(0), &call.arguments_from(1))
}

/// `(duration, sql, ...args)`.
fn timed_job(call: &Call<'_>) -> JsResult<'static, Job> {
    let door = door(call)?;
    let timeout = options::duration(call.ctx(), &call.argument(0))?;
    let job = Job::of_text(call.ctx(), &door, &call.argument(1), &call.arguments_from(2))?;
    Ok(job.within(timeout))
}
