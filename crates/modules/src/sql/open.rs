//! `open`: a database of a script.

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use brunt_js::Host;
use brunt_quickjs::{Call, Ctx, JsResult, Value};
use brunt_sql::config::Outside;

use super::core::{Marks, SqlCore};
use super::database::Database;
use super::door::Door;
use super::driver;
use super::failing::throw;
use super::options::{self, Options};
use super::record::SqlMeters;
use super::source::{PoolHere, Source};
use crate::extension::meters::Meters as _;
use crate::go_error::throw_go;
use crate::reading::text_or_empty;
use crate::state::VuState;

/// `open(driver, dsn, options)`.
///
/// # Errors
/// The driver is none; the DSN or an option cannot be read.
pub(super) fn open<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let symbol = symbol(ctx, call.argument(0))?;
    let Some(driver) = driver::of_symbol(ctx, &symbol) else {
        return Err(throw_go(ctx, "unsupported database: "));
    };
    let dsn = text_or_empty(&call.argument(1))?;
    let given = call.argument(2);
    let (limits, is_shared) = options::pool(ctx, &given)?;
    let host = Host::of(ctx);
    let core = host.core_slot::<SqlCore>();
    let env = &VuState::of(ctx).shared.world.env;
    let place = core.place(driver, &dsn, &World(env)).map_err(|failure| throw(ctx, &failure))?;
    let marks = Marks { db: place.config.database().into(), ..Marks::default() };
    let (mut options, marks) = Options::new(Rc::new(marks)).read(ctx, &given)?;
    options.marks = core.marks(marks);
    let pool = PoolHere::new(place, core, limits, is_shared);
    let (source, meters) = (Source::Pool(pool), SqlMeters::of(ctx)?);
    Database::make(ctx, Rc::new(Door { source, options, meters, faults: None }))
}

/// The symbol of a driver: the argument, or what its `valueOf()` gives.
fn symbol<'js>(ctx: Ctx<'js>, given: Value<'js>) -> JsResult<'js, Value<'js>> {
    if given.is_symbol() {
        return Ok(given);
    }
    if given.is_object() {
        let value_of = given.get("valueOf")?;
        if value_of.is_function() {
            let value = value_of.call(&given, &[])?;
            if value.is_symbol() {
                return Ok(value);
            }
        }
    }
    Err(throw_go(ctx, "unsupported database: invalid driver parameter type"))
}

/// The variables that scripts see, and the files of the machine.
struct World<'a>(&'a BTreeMap<String, String>);

impl Outside for World<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn file(&self, path: &str) -> io::Result<String> {
        // A pipe would hold the core until somebody writes to it.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        std::fs::read_to_string(path)
    }
}
