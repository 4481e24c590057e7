//! `k6/x/sql/driver/NAME`: a symbol each, by which `open` knows a driver.

use brunt_quickjs::{Ctx, JsResult, Value};
use brunt_sql::Driver;

use crate::module::Module;
use crate::state::VuState;

/// The module of a driver.
pub(crate) struct DriverModule {
    driver: Driver,
    specifier: &'static str,
}

/// MySQL and MariaDB.
pub(crate) static MYSQL: DriverModule =
    DriverModule { driver: Driver::MySql, specifier: "k6/x/sql/driver/mysql" };

/// PostgreSQL.
pub(crate) static POSTGRES: DriverModule =
    DriverModule { driver: Driver::Postgres, specifier: "k6/x/sql/driver/postgres" };

/// SQLite.
pub(crate) static SQLITE: DriverModule =
    DriverModule { driver: Driver::Sqlite, specifier: "k6/x/sql/driver/sqlite3" };

impl Module for DriverModule {
    fn specifier(&self) -> &'static str {
        self.specifier
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn object<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        ctx.symbol(match self.driver {
            Driver::MySql => c"mysql",
            Driver::Postgres => c"postgres",
            Driver::Sqlite => c"sqlite3",
        })
    }

    fn fill<'js>(&self, _: Ctx<'js>, _: &Value<'js>) -> JsResult<'js, ()> {
        Ok(())
    }
}

/// The driver of a symbol that one of these modules gave in this VM.
pub(super) fn of_symbol(ctx: Ctx<'_>, symbol: &Value<'_>) -> Option<Driver> {
    let state = VuState::of(ctx);
    let is_it = |module: &&DriverModule| {
        state.module(ctx, module.specifier).is_some_and(|known| known.strict_equals(symbol))
    };
    [&MYSQL, &POSTGRES, &SQLITE].into_iter().find(is_it).map(|module| module.driver)
}
