//! `k6/x/sql`, and its drivers: databases in scripts, with xk6-sql's API and more.
//!
//! ```text
//! open ─► Database ─┬─ query, exec, rows, insert … ─► Ask ─► Source ─► Held: one connection, for one statement
//!                   ├─ prepare ─► Statement             ▲
//!                   └─ tx, connection ─► Pinned ────────┘  one connection, for many
//!
//! Reading (chunks as they came) ─► Shape ─► objects of the script      Spent ─► samples
//! ```
//!
//! The state of a core (statements by text, series by tags, shared pools) is `core.rs`.

mod arguments;
mod array_text;
mod bulk;
mod connection;
mod core;
mod database;
mod door;
pub(crate) mod driver;
mod failing;
mod go_layout;
mod go_time;
mod incoming;
mod open;
mod options;
mod prepared;
mod reading;
mod record;
mod result;
mod retry;
mod rows;
mod shape;
mod source;
mod texts;
mod transaction;
mod whole;
mod work;

use brunt_engine::Ended;
use brunt_js::Host;
use brunt_quickjs::{Ctx, JsResult, Value};

use crate::extension::cut;
use crate::extension::meters::Meters as _;
use crate::module::Module;

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/x/sql"
    }

    fn names(&self) -> Vec<String> {
        vec!["open".to_owned(), "randomTexts".to_owned()]
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        record::SqlMeters::of(ctx)?;
        exports.define("open", ctx.function(c"open", 3, open::open)?)?;
        exports.define("randomTexts", ctx.function(c"randomTexts", 3, texts::random_texts)?)
    }

    fn end(&self, host: &Host, _: Ended) {
        cut(host);
    }
}
