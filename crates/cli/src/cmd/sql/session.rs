//! One connection, used before a load or without one.

use std::future::Future;
use std::time::Duration;

use brunt_attack::sql::Queries;
use brunt_fiber::{clock, core::CoreRuntime};
use brunt_net::{Dialer, Network, Settings};
use brunt_sql::{Args, Ask, Chunk, Connection, Driver, Failure as Refusal, Trouble};

use super::failure;
use crate::failure::{Failure, Outcome};

/// Steps of tasks between two looks at sockets.
const STEPS_BETWEEN_POLLS: u32 = 16;

/// Runs `work` with a connection that was set up as `queries` want it.
///
/// # Errors
/// There is no connection, or the work's own.
pub(super) fn with<T>(
    queries: &Queries,
    timeout_ns: u64,
    work: impl AsyncFnOnce(&mut Connection) -> Outcome<T>,
) -> Outcome<T> {
    let runtime = CoreRuntime::new(STEPS_BETWEEN_POLLS)?;
    runtime.block_on(async {
        let config = queries.config();
        let network = Settings::default();
        let network = config.network(&network).unwrap_or(network);
        let network = Network::new(network, clock::now_ns)
            .map_err(|error| failure(format!("the TLS settings of the URL: {error}")))?;
        let dialer = Dialer::new(network, None);
        let opening = within(timeout_ns, Connection::open(config, &dialer));
        let mut connection =
            opening.await.map_err(|refusal| unconnected(&refusal, config.driver()))?;
        for sql in &queries.settings().each_connection {
            let done = within(timeout_ns, plain(&mut connection, sql)).await;
            done.map_err(|refusal| refused("--each-connection", &refusal))?;
        }
        let result = work(&mut connection).await;
        if connection.is_idle() {
            connection.close();
        } else {
            connection.cancel(&dialer).await;
        }
        result
    })
}

/// The work, unless it takes longer than it may.
pub(super) async fn within<T>(
    timeout_ns: u64,
    work: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    if timeout_ns == 0 {
        return work.await;
    }
    let timed = tokio::time::timeout(Duration::from_nanos(timeout_ns), work).await;
    timed.unwrap_or_else(|_| Err(Refusal::new(Trouble::Timeout, "it took longer than --timeout")))
}

/// Runs a statement without arguments, and drops its rows.
pub(super) async fn plain(connection: &mut Connection, sql: &str) -> Result<(), Refusal> {
    run(connection, &Ask { sql, args: &Args::new(), is_prepared: false }).await
}

/// Runs a statement, and drops its rows.
pub(super) async fn run(connection: &mut Connection, ask: &Ask<'_>) -> Result<(), Refusal> {
    let mut chunk = Chunk::default();
    connection.start(ask).await?;
    loop {
        while connection.next(&mut chunk).await? {}
        if !connection.next_result().await? {
            return Ok(());
        }
    }
}

/// No connection.
fn unconnected(refusal: &Refusal, driver: Driver) -> Failure {
    let failed = failure(format!("cannot connect to the database: {refusal}"));
    let (code, number) = (refusal.code(), refusal.number());
    match refusal.trouble() {
        _ if code == "53300" || matches!(number, 1040 | 1203) => failed
            .hint("the server has no connection left for us: --connections and max_connections"),
        _ if code.starts_with("28") || number == 1045 => {
            failed.hint("check user and password: MYSQL_PWD, PGPASSWORD, or $NAME in the URL")
        }
        _ if driver == Driver::Sqlite => {
            failed.hint("check the path of the file, and who may read it")
        }
        Trouble::Connect => failed.hint("check host and port of the URL, and that the server runs"),
        _ => failed,
    }
}

/// The database did not take a statement.
pub(super) fn refused(statement: &str, refusal: &Refusal) -> Failure {
    let code = refusal.code();
    let text = refusal.text();
    let code = if text.contains(code) { String::new() } else { format!(" [{code}]") };
    failure(format!("{statement}: {text}{code}"))
}
