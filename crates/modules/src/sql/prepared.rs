//! `prepare`: a statement that the server keeps.

use std::cell::Cell;
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value};

use super::core::Statement;
use super::door::Door;
use super::failing::{throw, usage};
use super::work::{self, Job};
use super::{bulk, rows, whole};

/// The object. Each connection prepares the statement when it first comes to it, as in Go.
struct Prepared {
    door: Rc<Door>,
    statement: Rc<Statement>,
    is_closed: Cell<bool>,
}

impl Class for Prepared {
    const NAME: &'static CStr = c"Statement";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"query", 0, |call| whole::query(call.ctx(), job(&call)?))
                .method(c"exec", 0, |call| work::exec(call.ctx(), job(&call)?))
                .method(c"rows", 0, |call| rows::rows(call.ctx(), job(&call)?))
                .method(c"queryAsync", 0, |call| whole::query_async(call.ctx(), job(&call)?))
                .method(c"execAsync", 0, |call| work::exec_async(call.ctx(), job(&call)?))
                .method(c"batch", 1, |call| {
                    let (door, statement) = open(&call)?;
                    bulk::batch(call.ctx(), &door, &statement, &call.argument(0))
                })
                .method(c"close", 0, |call| {
                    let this = call.this();
                    this_of(&call, &this)?.is_closed.set(true);
                    Ok(call.ctx().undefined())
                })
                .getter(c"sql", |call| {
                    let this = call.this();
                    call.ctx().string(&this_of(&call, &this)?.statement.text)
                })
        });
        &MEMBERS
    }
}

fn this_of<'a>(call: &Call<'_>, this: &'a Value<'_>) -> JsResult<'a, &'a Prepared> {
    this.instance().ok_or_else(|| call.ctx().throw_type("this is not a Statement of k6/x/sql"))
}

fn open(call: &Call<'_>) -> JsResult<'static, (Rc<Door>, Rc<Statement>)> {
    let this = call.this();
    let prepared = this_of(call, &this)?;
    if prepared.is_closed.get() {
        return Err(throw(call.ctx(), &usage("sql: statement is closed")));
    }
    Ok((Rc::clone(&prepared.door), Rc::clone(&prepared.statement)))
}

fn job(call: &Call<'_>) -> JsResult<'static, Job> {
    let (door, statement) = open(call)?;
    Ok(Job::new(call.ctx(), &door, statement, &call.arguments_from(0))?.prepared())
}

/// The object of a statement.
///
/// # Errors
/// If there is no memory.
pub(super) fn make(ctx: Ctx<'_>, door: Rc<Door>, statement: Rc<Statement>) -> JsResult<'_> {
    ctx.instance(Prepared { door, statement, is_closed: Cell::new(false) })
}
