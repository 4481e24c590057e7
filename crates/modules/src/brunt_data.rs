//! `brunt/data`: data that all VUs of a test share: rows that are given out, queues, counters.
//!
//! ```text
//! rows(name, source, options)  ─► Rows ─► Feed ─┬─ cursor ─► place ─► order, segment ─► row of Elements
//!                                               └─ leases::Rows: blocks of places
//! queue(name, options)         ─► Queue ─┬─ JSON texts, under a lock
//!                                        └─ leases::Queue
//! counter(name, options)       ─► Counter ─┬─ one atomic number
//!                                          └─ leases::Counter
//! ```
//!
//! Where a leader leads several processes, they share by the crate `leases`, which asks the broker: the VU's fiber waits (`share.rs`).
//!
//! Each has a name, by which all VUs find the same one (`names.rs`). They are found in init code alone; each VU's init code finds
//! them again, and from the second run on the options of the test are known: then it is told what can't be shared between
//! the processes of a test (`share.rs`).

mod counter;
mod feed;
mod names;
mod options;
mod queue;
mod rows;
mod share;

use brunt_quickjs::{Ctx, JsResult, Value};

use crate::module::Module;

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "brunt/data"
    }

    fn names(&self) -> Vec<String> {
        ["rows", "queue", "counter"].map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define("rows", ctx.function(c"rows", 2, rows::rows)?)?;
        exports.define("queue", ctx.function(c"queue", 1, queue::queue)?)?;
        exports.define("counter", ctx.function(c"counter", 1, counter::counter)?)
    }
}
