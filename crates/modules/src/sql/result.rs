//! The result of `exec`: functions, as in Go.

use std::ffi::CStr;
use std::sync::LazyLock;

use brunt_quickjs::{Call, Class, Ctx, JsResult, Members};
use brunt_sql::{Driver, Outcome};

use crate::go_error::throw_go;

struct ExecResult {
    /// `None`: the statement was empty.
    rows_affected: Option<u64>,
    last_insert_id: Option<i64>,
}

impl Class for ExecResult {
    const NAME: &'static CStr = c"Object";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"rowsAffected", 0, |call| {
                    let Some(affected) = of(&call)?.0 else {
                        let why = "no RowsAffected available after the empty statement";
                        return Err(throw_go(call.ctx(), why));
                    };
                    Ok(call.ctx().number(affected as f64))
                })
                .method(c"lastInsertId", 0, |call| match of(&call)?.1 {
                    Some(id) => Ok(call.ctx().number(id as f64)),
                    None if of(&call)?.0.is_none() => {
                        let why = "no LastInsertId available after the empty statement";
                        Err(throw_go(call.ctx(), why))
                    }
                    None => {
                        let why = "LastInsertId is not supported by this driver";
                        Err(throw_go(call.ctx(), why))
                    }
                })
        });
        &MEMBERS
    }
}

fn of(call: &Call<'_>) -> JsResult<'static, (Option<u64>, Option<i64>)> {
    match call.this().instance::<ExecResult>() {
        Some(result) => Ok((result.rows_affected, result.last_insert_id)),
        None => Err(call.ctx().throw_type("this is not a result of k6/x/sql")),
    }
}

/// The object.
///
/// # Errors
/// If there is no memory.
pub(super) fn make<'js>(ctx: Ctx<'js>, driver: Driver, outcome: &Outcome) -> JsResult<'js> {
    // PostgreSQL gives out no ids.
    let (rows_affected, last_insert_id) = match driver {
        Driver::Postgres => (outcome.rows_affected, outcome.last_insert_id),
        _ => (Some(outcome.rows_affected.unwrap_or(0)), Some(outcome.last_insert_id.unwrap_or(0))),
    };
    ctx.instance(ExecResult { rows_affected, last_insert_id })
}
