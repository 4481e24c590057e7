//! A database server, filled.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use brunt_fiber::clock::now_ns;
use brunt_net::{Dialer, Network, Settings};
use brunt_sql::config::Outside;
use brunt_sql::{Args, Ask, Cell, Chunk, Column, Config, Connection, Driver, Insert, Way};
use tokio::task::LocalSet;
use url::Url;

use super::fill::{Existing, Facts, Filled, Wish};
use super::progress::Progress;
use crate::Context;
use crate::failure::{Failure, Outcome};

const CREATE_MYSQL: &str =
    "CREATE TABLE bulktest (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(45)) ENGINE=InnoDB";
const CREATE_POSTGRES: &str = "CREATE TABLE bulktest (id SERIAL PRIMARY KEY, text VARCHAR(45))";

/// Rows of one statement.
const BATCH: u64 = 10_000;

/// The environment and the files of the user who typed the command.
struct Ours;

impl Outside for Ours {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &str) -> std::io::Result<String> {
        std::fs::read_to_string(path)
    }
}

pub(super) fn fill(context: &Context, url: &Url, wish: &Wish) -> Outcome<Filled> {
    let config = Config::of_url(url.as_str(), &Ours)
        .map_err(|failure| Failure::usage(failure.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, work(context, &config, wish))
}

async fn work(context: &Context, config: &Config, wish: &Wish) -> Outcome<Filled> {
    let settings = config.network(&Settings::default()).unwrap_or_default();
    let network = Network::new(settings, now_ns).context("cannot reach the database")?;
    let dialer = Dialer::new(network, None);
    let mut connection =
        Connection::open(config, &dialer).await.context("cannot reach the database")?;
    let filled = with(context, config.driver(), &mut connection, wish).await;
    connection.close();
    filled
}

async fn with(
    context: &Context,
    driver: Driver,
    connection: &mut Connection,
    wish: &Wish,
) -> Outcome<Filled> {
    let existing = match facts(connection).await? {
        None => Existing::None,
        Some(facts) => wish.judge("the database", &facts)?,
    };
    let began = now_ns();
    if existing != Existing::Same {
        if existing == Existing::Other {
            run(connection, "DROP TABLE bulktest").await?;
        }
        let create = if driver == Driver::Postgres { CREATE_POSTGRES } else { CREATE_MYSQL };
        run(connection, create).await?;
        rows(context, connection, wish).await?;
        if driver == Driver::Postgres {
            let next = wish.rows + 1;
            let restart = format!("ALTER SEQUENCE bulktest_id_seq RESTART WITH {next}");
            run(connection, &restart).await?;
        }
    }
    Ok(Filled { existing, took: Duration::from_nanos(now_ns().saturating_sub(began)) })
}

async fn rows(context: &Context, connection: &mut Connection, wish: &Wish) -> Outcome<()> {
    let columns = ["id".to_owned(), "text".to_owned()];
    let mut progress = Progress::new(context, wish.rows);
    let mut values = Args::new();
    for id in 1..=wish.rows {
        values.push(Cell::Int(id as i64));
        values.push(Cell::Text(&wish.text(id)));
        if id % BATCH == 0 || id == wish.rows {
            let insert = Insert {
                table: "bulktest",
                columns: &columns,
                values: &values,
                way: Way::Fastest,
                batch: None,
            };
            connection.insert(&insert).await.context("cannot insert rows")?;
            values.clear();
            progress.at(id);
        }
    }
    Ok(())
}

/// The facts of the table, if there is one.
async fn facts(connection: &mut Connection) -> Outcome<Option<Facts>> {
    let there = "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'bulktest' \
                 AND table_schema NOT IN ('information_schema', 'pg_catalog')";
    // The stand-in for MySQL has no such schema: the table itself tells.
    let is_there = match run(connection, there).await {
        Ok(count) => count.as_deref() != Some("0"),
        Err(_) if connection.is_idle() => true,
        Err(failure) => return Err(failure),
    };
    if !is_there {
        return Ok(None);
    }
    let count = match run(connection, "SELECT COUNT(*) FROM bulktest").await {
        Ok(count) => number(count.as_deref()),
        // It is in a schema that is not searched.
        Err(_) if connection.is_idle() => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let highest = match run(connection, "SELECT MAX(id) FROM bulktest").await {
        Ok(highest) => number(highest.as_deref()),
        // Without the column it is another table.
        Err(_) if connection.is_idle() => return Ok(Some(Facts { count, ..Facts::default() })),
        Err(failure) => return Err(failure),
    };
    let mut texts = [None, None];
    for (text, id) in texts.iter_mut().zip([1, highest]) {
        *text = run(connection, &format!("SELECT text FROM bulktest WHERE id = {id}")).await?;
    }
    let [first, last] = texts;
    Ok(Some(Facts { count, highest, first, last }))
}

fn number(text: Option<&str>) -> u64 {
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Runs a statement; the first value of its first row as text, if it has one.
async fn run(connection: &mut Connection, sql: &str) -> Outcome<Option<String>> {
    let first = async {
        let args = Args::new();
        connection.start(&Ask { sql, args: &args, is_prepared: false }).await?;
        let mut first = None;
        let mut chunk = Chunk::default();
        loop {
            while connection.next(&mut chunk).await? {
                first = first.or_else(|| text_of(&chunk, &connection.columns()));
            }
            if !connection.next_result().await? {
                return Ok::<_, brunt_sql::Failure>(first);
            }
        }
    };
    first.await.map_err(|failure| anyhow!("{failure}, at {sql}").into())
}

/// The first value of a chunk.
fn text_of(chunk: &Chunk, columns: &[Column]) -> Option<String> {
    let mut text = None;
    let sink = |index: usize, cell: Cell<'_>| {
        if index == 0 {
            text = match cell {
                Cell::Int(value) => Some(value.to_string()),
                Cell::UInt(value) => Some(value.to_string()),
                Cell::Text(bytes) | Cell::Raw(bytes) | Cell::Bytes(bytes) => {
                    Some(String::from_utf8_lossy(bytes).into_owned())
                }
                _ => None,
            };
        }
        Ok::<(), ()>(())
    };
    // A row that breaks its word has no value.
    let _ = chunk.read(0, columns, sink);
    text
}
