//! One connection to a database, whichever it is.

use std::rc::Rc;

use brunt_net::Dialer;

use crate::args::Args;
use crate::chunk::Chunk;
use crate::column::Columns;
use crate::config::{Config, Server};
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::{mysql, postgres, sqlite};

/// A statement and its arguments.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The statement, with the placeholders of its database: `?` or `$1`.
    pub sql: &'a str,
    /// The arguments, in order.
    pub args: &'a Args,
    /// The server keeps the statement, prepared, for the next time on this connection. Each connection keeps at most as many
    /// as its driver says, and lets go of those that were not used for the longest time.
    pub is_prepared: bool,
}

/// Rows for a table.
#[derive(Debug, Clone, Copy)]
pub struct Insert<'a> {
    /// The table, perhaps with its schema: `shop.orders`. Quoted by the driver.
    pub table: &'a str,
    /// The columns. Quoted by the driver.
    pub columns: &'a [String],
    /// The values, row by row: a multiple of the number of columns.
    pub values: &'a Args,
    /// How they go to the server.
    pub way: Way,
    /// The most rows of one statement. `None`: as many as the protocol and the server's limits allow, at most 10 000.
    pub batch: Option<usize>,
}

/// How rows go to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// The fastest that needs no permission: `COPY` for PostgreSQL, `INSERT` with many rows for MySQL and SQLite.
    #[default]
    Fastest,
    /// `INSERT … VALUES (…), (…)`.
    Values,
    /// `COPY … FROM STDIN` (PostgreSQL).
    Copy,
    /// `LOAD DATA LOCAL INFILE` (MySQL, where the server allows it).
    LoadData,
}

/// A connection. One statement runs at a time: [`Self::start`], then [`Self::next`] until it says `false`, for each result.
///
/// A future of it that is dropped before it is done leaves the connection unusable; [`Self::is_idle`] says so.
#[derive(Debug)]
pub enum Connection {
    /// MySQL or MariaDB.
    MySql(Box<mysql::Connection>),
    /// PostgreSQL.
    Postgres(Box<postgres::Connection>),
    /// SQLite.
    Sqlite(Box<sqlite::Connection>),
}

/// Calls the same method of whichever connection it is.
macro_rules! whichever {
    ($this:expr, $connection:ident => $call:expr) => {
        match $this {
            Connection::MySql($connection) => $call,
            Connection::Postgres($connection) => $call,
            Connection::Sqlite($connection) => $call,
        }
    };
}

impl Connection {
    /// Connects and logs in. SQLite opens its file.
    ///
    /// # Errors
    /// Why not.
    pub async fn open(config: &Config, dialer: &Rc<Dialer>) -> Result<Self, Failure> {
        Ok(match &config.server {
            Server::MySql(settings) => {
                Self::MySql(Box::new(mysql::Connection::open(settings, dialer).await?))
            }
            Server::Postgres(settings) => {
                Self::Postgres(Box::new(postgres::Connection::open(settings, dialer).await?))
            }
            Server::Sqlite(settings) => {
                Self::Sqlite(Box::new(sqlite::Connection::open(settings).await?))
            }
        })
    }

    /// Sends a statement and waits for the first of the server's answer: the columns of a result, or the end.
    ///
    /// # Errors
    /// The server's refusal (the connection stays usable), or why the connection is not.
    pub async fn start(&mut self, ask: &Ask<'_>) -> Result<(), Failure> {
        whichever!(self, connection => connection.start(ask).await)
    }

    /// The columns of the result that is being read; none if the statement has no result.
    pub fn columns(&self) -> Columns {
        whichever!(self, connection => connection.columns())
    }

    /// Empties the chunk and fills it with the next rows, at least one. `false`: this result has no more, and the chunk is empty.
    ///
    /// # Errors
    /// The server's refusal in the middle of the rows, or a broken connection.
    pub async fn next(&mut self, chunk: &mut Chunk) -> Result<bool, Failure> {
        whichever!(self, connection => connection.next(chunk).await)
    }

    /// Goes on to the next result of the statement, after [`Self::next`] said `false`. `false`: the statement is over.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub async fn next_result(&mut self) -> Result<bool, Failure> {
        whichever!(self, connection => connection.next_result().await)
    }

    /// The outcome of the result that was just read to its end: rows are those of this result alone.
    pub fn outcome(&self) -> Outcome {
        whichever!(self, connection => connection.outcome())
    }

    /// Runs a statement once for each row of arguments, by the fastest way that keeps the order: many statements are on the wire
    /// before the first is answered, or an `INSERT` takes many rows. `width`: arguments of one row. All or none of them, unless the
    /// storage engine has no transactions: without a transaction around it, it makes one.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn batch(
        &mut self,
        sql: &str,
        width: usize,
        args: &Args,
    ) -> Result<Outcome, Failure> {
        whichever!(self, connection => connection.batch(sql, width, args).await)
    }

    /// Puts rows into a table, in statements as large as protocol and server allow.
    ///
    /// # Errors
    /// As [`Self::start`]; the way is one that the database does not have.
    pub async fn insert(&mut self, insert: &Insert<'_>) -> Result<Outcome, Failure> {
        whichever!(self, connection => connection.insert(insert).await)
    }

    /// Whether it may be used for the next statement: nothing was left in the middle, and nothing broke.
    pub fn is_idle(&self) -> bool {
        whichever!(self, connection => connection.is_idle())
    }

    /// Whether the server has closed it, or sent something unasked, since it was used: a look that does not wait.
    pub fn is_stale(&mut self) -> bool {
        whichever!(self, connection => connection.is_stale())
    }

    /// Whether a transaction is open on it, as far as the server or the thread says.
    pub fn is_in_transaction(&self) -> bool {
        whichever!(self, connection => connection.is_in_transaction())
    }

    /// Makes a connection that was left in the middle go away, and has the server stop its statement: over a second connection
    /// (`CancelRequest`, `KILL QUERY`), by interrupting the thread. It takes at most a second.
    pub async fn cancel(self, dialer: &Rc<Dialer>) {
        match self {
            Self::MySql(connection) => connection.cancel(dialer).await,
            Self::Postgres(connection) => connection.cancel(dialer).await,
            // Dropped, it interrupts its thread.
            Self::Sqlite(connection) => drop(connection),
        }
    }

    /// Says goodbye, as far as that needs no waiting.
    pub fn close(self) {
        whichever!(self, connection => connection.close());
    }

    /// The bytes of its statements since the last call: (sent, received). SQLite has none.
    pub fn take_bytes(&mut self) -> (u64, u64) {
        whichever!(self, connection => connection.take_bytes())
    }
}
