//! The statements once, each with its rows: as a client of the database would do it.

use brunt_attack::sql::{Prepared, Queries};
use brunt_sql::{Args, Ask, Chunk, Connection, Failure as Refusal, Trouble};

use super::rows::Writer;
use super::{Request, session};
use crate::{Context, exit::Exit, failure::Outcome};

/// Runs each statement with the first row of arguments, and prints what it returns.
///
/// # Errors
/// A statement failed; the rows of those before it are printed.
pub(super) fn perform(context: &Context, request: &Request, queries: &Queries) -> Outcome<Exit> {
    let form = request.format.as_deref().unwrap_or("table");
    session::with(queries, request.timeout_ns, async |connection| {
        if request.is_transaction {
            let done = session::plain(connection, "BEGIN").await;
            done.map_err(|refusal| session::refused("BEGIN", &refusal))?;
        }
        let mut is_first = true;
        for statement in queries.statements() {
            let mut printer = Printer { context, form, is_first: &mut is_first, is_gone: false };
            let work = printer.run(connection, queries, statement);
            let done = session::within(request.timeout_ns, work).await;
            done.map_err(|refusal| session::refused(statement.label(), &refusal))?;
            if printer.is_gone {
                return Ok(Exit::Success);
            }
        }
        if request.is_transaction {
            let done = session::plain(connection, "COMMIT").await;
            done.map_err(|refusal| session::refused("COMMIT", &refusal))?;
        }
        Ok(Exit::Success)
    })
}

/// Prints results as they come.
struct Printer<'a> {
    context: &'a Context,
    form: &'a str,
    /// Nothing was printed so far.
    is_first: &'a mut bool,
    /// Our reader has gone away.
    is_gone: bool,
}

impl Printer<'_> {
    async fn run(
        &mut self,
        connection: &mut Connection,
        queries: &Queries,
        statement: &Prepared,
    ) -> Result<(), Refusal> {
        let mut args = Args::new();
        statement.arguments(queries.rows(), 0, &mut args);
        let is_prepared = !args.is_empty() && queries.settings().is_prepared;
        connection.start(&Ask { sql: statement.sql(), args: &args, is_prepared }).await?;
        loop {
            self.result(connection).await?;
            if self.is_gone || !connection.next_result().await? {
                return Ok(());
            }
        }
    }

    async fn result(&mut self, connection: &mut Connection) -> Result<(), Refusal> {
        let columns = connection.columns();
        let mut chunk = Chunk::default();
        let mut writer = (!columns.is_empty()).then(|| Writer::new(self.form, columns.clone()));
        if writer.is_some() && !std::mem::replace(self.is_first, false) {
            self.print("\n");
        }
        while !self.is_gone && connection.next(&mut chunk).await? {
            let Some(writer) = &mut writer else { continue };
            for row in 0..chunk.len() {
                let read = chunk.read(row, &columns, |index, cell| {
                    writer.cell(index, cell);
                    Ok::<(), ()>(())
                });
                if read.is_err() {
                    let why = "the server sent a row that its columns do not promise";
                    return Err(Refusal::new(Trouble::Protocol, why));
                }
                writer.end_row();
            }
            let text = writer.take();
            self.print(&text);
        }
        let outcome = connection.outcome();
        match writer {
            Some(mut writer) if !self.is_gone => {
                let text = writer.finish();
                self.print(&text);
                if self.form == "table" {
                    self.tell(writer.rows(), "");
                }
            }
            Some(_) => {}
            None => {
                if let Some(rows) = outcome.rows_affected {
                    self.tell(rows, " changed");
                }
            }
        }
        Ok(())
    }

    fn tell(&self, rows: u64, verb: &str) {
        if !self.context.global.quiet {
            let noun = if rows == 1 { "row" } else { "rows" };
            self.context.screen.stderr(&format!("({rows} {noun}{verb})\n"));
        }
    }

    fn print(&mut self, text: &str) {
        let Err(error) = self.context.screen.stdout(text) else { return };
        self.is_gone = true;
        if error.kind() != std::io::ErrorKind::BrokenPipe {
            log::error!("cannot write the rows: {error}");
        }
    }
}
