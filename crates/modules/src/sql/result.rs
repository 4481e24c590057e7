//! The result of `exec`: functions, as in Go.

use std::ffi::CStr;
use std::sync::LazyLock;

use brunt_quickjs::{Call, Class, Ctx, JsResult, Members};
use brunt_sql::{Driver, Outcome};

use crate::go_error::throw_go;

struct ExecResult {
    rows_affected: u64,
    last_insert_id: Option<i64>,
}

impl Class for ExecResult {
    const NAME: &'static CStr = c"Object";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"rowsAffected", 0, |call| {
                    let affected = of(&call)?.0;
                    Ok(call.ctx().number(affected as f64))
                })
                .method(c"lastInsertId", 0, |call| match of(&call)?.1 {
                    Some(id) => Ok(call.ctx().number(id as f64)),
                    None => {
                        let why = "LastInsertId is not supported by this driver";
                        Err(throw_go(call.ctx(), why))
                    }
                })
        });
        &MEMBERS
    }
}

fn of(call: &Call<'_>) -> JsResult<'static, (u64, Option<i64>)> {
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
    let last_insert_id = match driver {
        Driver::Postgres => outcome.last_insert_id,
        _ => Some(outcome.last_insert_id.unwrap_or(0)),
    };
    let rows_affected = outcome.rows_affected.unwrap_or(0);
    ctx.instance(ExecResult { rows_affected, last_insert_id })
}
