//! One core for a test, and short ways to speak with a database on it.

use std::future::Future;
use std::rc::Rc;

use brunt_net::{Dialer, Network};
use brunt_sql::config::Outside;
use brunt_sql::{Args, Ask, Cell, Chunk, Config, Connection, Driver, Failure, Outcome};

/// Files as they are, no variables.
pub(crate) struct Files;

impl Outside for Files {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self, path: &str) -> std::io::Result<String> {
        std::fs::read_to_string(path)
    }
}

/// Runs a future as a load core does.
pub(crate) fn on_a_core<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

pub(crate) fn config(driver: Driver, dsn: &str) -> Rc<Config> {
    Rc::new(Config::read(driver, dsn, &Files).unwrap())
}

pub(crate) fn dialer(config: &Config) -> Rc<Dialer> {
    let settings = brunt_net::Settings::default();
    let settings = config.network(&settings).unwrap_or(settings);
    Dialer::new(Network::new(settings, brunt_net::clock::now).unwrap(), None)
}

pub(crate) async fn open(driver: Driver, dsn: &str) -> Result<Connection, Failure> {
    let config = config(driver, dsn);
    Connection::open(&config, &dialer(&config)).await
}

/// A value as a text that tells its kind.
pub(crate) fn shown(cell: Cell<'_>) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match cell {
        Cell::Null => "NULL".to_owned(),
        Cell::Bool(value) => format!("bool {value}"),
        Cell::Int(value) => format!("{value}"),
        Cell::UInt(value) => format!("u{value}"),
        Cell::Float(value) => format!("f{value}"),
        Cell::Single(value) => format!("s{value}"),
        Cell::Text(bytes) => format!("text {}", text(bytes)),
        Cell::Raw(bytes) => format!("raw {}", text(bytes)),
        Cell::Bytes(bytes) => format!("bytes {bytes:?}"),
        Cell::Time(at) => {
            format!("time {}.{:09}{:+}", at.unix_seconds, at.nanos, at.offset_seconds)
        }
    }
}

/// The rows of the result that is being read.
pub(crate) async fn rows(connection: &mut Connection) -> Result<Vec<Vec<String>>, Failure> {
    let (mut chunk, mut all) = (Chunk::default(), Vec::new());
    let columns = connection.columns();
    while connection.next(&mut chunk).await? {
        assert!(!chunk.is_empty());
        for row in 0..chunk.len() {
            let mut values = Vec::new();
            let sink = |_, cell: Cell<'_>| {
                values.push(shown(cell));
                Ok::<(), ()>(())
            };
            chunk.read(row, &columns, sink).expect("a row as its columns promise");
            all.push(values);
        }
    }
    Ok(all)
}

pub(crate) fn args(cells: &[Cell<'_>]) -> Args {
    let mut args = Args::new();
    for cell in cells {
        args.push(*cell);
    }
    args
}

/// The rows of the first result, all others dropped.
pub(crate) async fn query(
    connection: &mut Connection,
    sql: &str,
    cells: &[Cell<'_>],
) -> Result<Vec<Vec<String>>, Failure> {
    connection.start(&Ask { sql, args: &args(cells), is_prepared: false }).await?;
    let all = rows(connection).await?;
    while connection.next_result().await? {
        rows(connection).await?;
    }
    Ok(all)
}

/// The outcome of a statement of one result.
pub(crate) async fn exec(
    connection: &mut Connection,
    sql: &str,
    cells: &[Cell<'_>],
) -> Result<Outcome, Failure> {
    query(connection, sql, cells).await?;
    Ok(connection.outcome())
}
