//! Statements, done and answered.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::sleep;

use super::{Ended, Session};
use crate::mysql::bind::{Argument, Value, value};
use crate::mysql::change::Sweep;
use crate::mysql::database::Done;
use crate::mysql::facts::{self, Asker};
use crate::mysql::login::{USER, check_database};
use crate::mysql::reply::{self, Heading};
use crate::mysql::select::Reading;
use crate::mysql::statement::{Fact, Statement};
use crate::mysql::trouble::Trouble;

/// The longest SLEEP.
const SLEEP_MAX: Duration = Duration::from_hours(1);
/// Pages that are worked on before others have their turn.
const TURN: u32 = 16;

/// Why a statement has no result.
enum Stopped {
    Refused(Trouble),
    Ended,
}

impl From<Trouble> for Stopped {
    fn from(trouble: Trouble) -> Self {
        Self::Refused(trouble)
    }
}

impl From<std::io::Error> for Stopped {
    fn from(_: std::io::Error) -> Self {
        Self::Ended
    }
}

impl Session<'_> {
    /// Does a statement and answers. `false`: it was refused.
    pub(super) async fn answer(
        &mut self,
        statement: &Statement,
        args: &[Argument],
        is_binary: bool,
        has_more: bool,
    ) -> Result<bool, Ended> {
        let counts = &self.shared.counts;
        let number = counts.statements.fetch_add(1, Relaxed) + 1;
        let every = self.shared.config.kill_every;
        if every > 0 && number.is_multiple_of(every) {
            counts.cut.fetch_add(1, Relaxed);
            return Err(Ended);
        }
        let mark = self.log.len();
        match self.perform(statement, args, is_binary, has_more).await {
            Ok(()) => Ok(true),
            Err(Stopped::Ended) => Err(Ended),
            Err(Stopped::Refused(trouble)) => {
                let mark = if trouble.code == 1213 { 0 } else { mark };
                self.shared.database().undo(&mut self.log, mark);
                self.is_in_transaction &= trouble.code != 1213;
                self.refuse(&trouble);
                Ok(false)
            }
        }
    }

    async fn perform(
        &mut self,
        statement: &Statement,
        args: &[Argument],
        is_binary: bool,
        has_more: bool,
    ) -> Result<(), Stopped> {
        if statement.writes() {
            self.may_write()?;
        }
        let mut done = Done::default();
        match statement {
            Statement::Nothing => {}
            Statement::Lock | Statement::Commit => self.commit().await,
            Statement::Rollback => self.roll_back(),
            Statement::Begin => {
                self.commit().await;
                self.is_in_transaction = true;
            }
            Statement::Autocommit(is_on) => {
                if *is_on {
                    self.commit().await;
                }
                self.is_autocommit = *is_on;
            }
            Statement::Use(name) => {
                check_database(name)?;
                self.database = Some(name.clone());
            }
            Statement::Kill(connection, is_whole) => {
                if !self.shared.kill(*connection, *is_whole) {
                    let text = format!("Unknown thread id: {connection}");
                    return Err(Trouble::new(1094, "HY000", text).into());
                }
            }
            Statement::Schema(change) => {
                self.commit().await;
                done = self.shared.database().change(change)?;
                self.wrote(done).await;
                self.shared.costs.commit().await;
                done.changed = 0;
            }
            Statement::Insert(insert) => {
                done = self.shared.database().insert(insert, args, &mut self.log)?;
                if done.last_id > 0 {
                    self.last_id = done.last_id;
                }
                self.end_write(done).await;
            }
            Statement::Update(update) => {
                let sweep = Sweep::update(&self.shared.database(), update, args)?;
                done = self.sweep(sweep).await?;
            }
            Statement::Joined(joined) => {
                let sweep = Sweep::joined(&self.shared.database(), joined)?;
                done = self.sweep(sweep).await?;
            }
            Statement::Delete(delete) => {
                let sweep = Sweep::delete(&self.shared.database(), delete, args)?;
                done = self.sweep(sweep).await?;
            }
            Statement::Select(select) => {
                let reading = Reading::new(&self.shared.database(), select, args)?;
                return self.send(reading, is_binary, has_more).await;
            }
            Statement::Facts(all) => return self.tell(all, args, is_binary, has_more).await,
            Statement::ShowTables => {
                let names: Vec<_> = self.shared.database().names().map(str::to_owned).collect();
                let headings = [Heading::text("Tables_in_demo")];
                let manner = self.manner(has_more);
                manner.headings(&mut self.wire.packets, &headings);
                for name in names {
                    let cells = [Some(name.as_bytes())];
                    reply::row(&mut self.wire.packets, &headings, &cells, is_binary);
                }
                manner.end(&mut self.wire.packets);
                return Ok(());
            }
        }
        self.ok(done, has_more);
        Ok(())
    }

    /// Whether a statement that writes may begin.
    fn may_write(&self) -> Result<(), Trouble> {
        let (config, counts) = (&self.shared.config, &self.shared.counts);
        if config.read_only {
            let text = "The MySQL server is running with the --read-only option so it cannot execute this statement";
            return Err(Trouble::new(1290, "HY000", text));
        }
        let number = counts.writes.fetch_add(1, Relaxed) + 1;
        if config.deadlock_every > 0 && number.is_multiple_of(config.deadlock_every) {
            counts.deadlocks.fetch_add(1, Relaxed);
            return Err(Trouble::deadlock());
        }
        Ok(())
    }

    /// KILL QUERY, or KILL, was said.
    fn check_interrupted(&self) -> Result<(), Trouble> {
        match self.living.is_interrupted.load(Relaxed) {
            true => Err(Trouble::interrupted()),
            false => Ok(()),
        }
    }

    async fn sweep(&mut self, mut sweep: Sweep) -> Result<Done, Trouble> {
        let mut pages = 0;
        while sweep.step(&mut self.shared.database(), &mut self.log)? {
            self.check_interrupted()?;
            pages += 1;
            if pages % TURN == 0 {
                yield_now().await;
            }
        }
        self.end_write(sweep.done).await;
        Ok(sweep.done)
    }

    async fn wrote(&self, done: Done) {
        self.shared.counts.rows_written.fetch_add(done.written, Relaxed);
        self.shared.costs.rows(done.written, 0).await;
    }

    /// Rows were written; outside a transaction that is a commit.
    async fn end_write(&mut self, done: Done) {
        self.wrote(done).await;
        if self.is_autocommit && !self.is_in_transaction {
            self.log.clear();
            self.shared.counts.commits.fetch_add(1, Relaxed);
            self.shared.costs.commit().await;
        } else {
            self.is_in_transaction = true;
        }
    }

    /// Ends a transaction, if there is one.
    async fn commit(&mut self) {
        if !self.is_in_transaction {
            return;
        }
        let has_written = self.log.len() > 0;
        self.log.clear();
        self.is_in_transaction = false;
        self.shared.counts.commits.fetch_add(1, Relaxed);
        if has_written {
            self.shared.costs.commit().await;
        }
    }

    pub(super) fn roll_back(&mut self) {
        if self.is_in_transaction {
            self.shared.counts.rollbacks.fetch_add(1, Relaxed);
        }
        self.shared.database().undo(&mut self.log, 0);
        self.is_in_transaction = false;
    }

    /// Sends rows as they are read.
    async fn send(
        &mut self,
        mut reading: Reading,
        is_binary: bool,
        has_more: bool,
    ) -> Result<(), Stopped> {
        let manner = self.manner(has_more);
        manner.headings(&mut self.wire.packets, &reading.headings);
        let (mut pages, mut before) = (0, 0);
        loop {
            let more = reading.step(&self.shared.database(), &mut self.wire.packets, is_binary);
            self.shared.costs.rows(0, reading.read - before).await;
            before = reading.read;
            if self.wire.packets.is_full() {
                self.wire.flush().await?;
            }
            if !more {
                break;
            }
            self.check_interrupted()?;
            pages += 1;
            if pages % TURN == 0 {
                yield_now().await;
            }
        }
        self.shared.counts.rows_read.fetch_add(reading.read, Relaxed);
        self.shared.counts.rows_sent.fetch_add(reading.sent, Relaxed);
        manner.end(&mut self.wire.packets);
        Ok(())
    }

    /// Answers a SELECT without a table.
    async fn tell(
        &mut self,
        all: &[(String, Fact)],
        args: &[Argument],
        is_binary: bool,
        has_more: bool,
    ) -> Result<(), Stopped> {
        let headings: Vec<_> = all.iter().map(|(name, fact)| facts::heading(name, fact)).collect();
        let mut texts = Vec::new();
        for (_, fact) in all {
            let is_interrupted = match fact {
                Fact::Sleep(seconds) => self.sleep(value(seconds, args)?).await?,
                _ => false,
            };
            let asker = Asker {
                connection: self.number,
                last_id: self.last_id,
                user: USER,
                database: self.database.as_deref(),
                is_autocommit: self.is_autocommit,
                is_read_only: self.shared.config.read_only,
            };
            texts.push(if is_interrupted {
                Some(b"1".to_vec())
            } else {
                facts::text(fact, &asker, args)?
            });
        }
        let cells: Vec<_> = texts.iter().map(Option::as_deref).collect();
        let manner = self.manner(has_more);
        manner.headings(&mut self.wire.packets, &headings);
        reply::row(&mut self.wire.packets, &headings, &cells, is_binary);
        manner.end(&mut self.wire.packets);
        Ok(())
    }

    /// SLEEP. Returns whether KILL QUERY ended it.
    async fn sleep(&self, seconds: Value<'_>) -> Result<bool, Stopped> {
        let seconds = match seconds {
            Value::Int(seconds) => seconds as f64,
            Value::Text(text) => std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.parse::<f64>().ok())
                .ok_or_else(|| Trouble::new(1210, "HY000", "Incorrect arguments to sleep"))?,
            Value::Null | Value::Default => 0.0,
        };
        let time = Duration::try_from_secs_f64(seconds)
            .map_err(|_| Trouble::new(1210, "HY000", "Incorrect arguments to sleep"))?;
        let woken = async {
            while !self.living.is_interrupted.load(Relaxed) {
                self.living.wake.notified().await;
            }
        };
        tokio::select! {
            () = sleep(time.min(SLEEP_MAX)) => Ok(false),
            () = woken => match self.living.is_killed.load(Relaxed) {
                true => Err(Stopped::Ended),
                false => Ok(true),
            },
        }
    }
}
