//! The statements of one core: its pool, its records, its figures.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use brunt_fiber::clock;
use brunt_net::{Dialer, Network};
use brunt_records::{Record, Timestamp};
use brunt_sql::{Failure, Pool, PoolOptions, Trouble};

use super::course::{Course, Worker};
use super::{Figures, Queries, status};
use crate::load::{Books, Load, Turn, decimal, put, unless_panic};
use crate::plan::Plan;
use crate::target::Target;
use crate::targets::TargetStream;

/// The statements of one core.
pub(crate) struct Statements {
    queries: Arc<Queries>,
    pool: Rc<Pool>,
    timeout: Option<Duration>,
    zone_minutes: Option<i16>,
    record: RefCell<Record>,
    figures: RefCell<Figures>,
}

/// The headers of a record with details.
const DETAILS: [&str; 6] = [
    "Sqlstate",
    "Sql-Rows",
    "Sql-Rows-Affected",
    "Sql-First-Row-Ns",
    "Sql-Pool-Wait-Ns",
    "Sql-Connecting-Ns",
];

impl Statements {
    /// The connections of core `index` of `cores`.
    ///
    /// # Errors
    /// The network can't be set up as the database wants it.
    pub(crate) fn new(
        plan: &Plan,
        (index, cores): (usize, usize),
        queries: Arc<Queries>,
    ) -> io::Result<Self> {
        let network = plan.network_of(index, cores);
        let settings = queries.config().network(&network.net).unwrap_or(network.net);
        let to_database = Network::new(settings, clock::now_ns).map_err(io::Error::other)?;
        let options = PoolOptions {
            max_open: network.per_host_max,
            max_idle: if network.per_host_max == 0 { usize::MAX } else { network.per_host_max },
            ..PoolOptions::default()
        };
        let config = Rc::new(queries.config().clone());
        let mut record = Record { attack: plan.name.clone(), ..Record::default() };
        if queries.settings().keeps_details {
            let detail = |name: &&str| ((*name).to_owned(), vec![String::new()]);
            record.headers = DETAILS.iter().map(detail).collect();
        }
        Ok(Self {
            pool: Pool::new(config, Dialer::new(to_database, plan.local_ip), options),
            queries,
            timeout: plan.timeout,
            zone_minutes: plan.zone_minutes,
            record: RefCell::new(record),
            figures: RefCell::default(),
        })
    }

    async fn course(
        &self,
        worker: &mut Worker,
        turn: (Option<usize>, usize),
        course: &mut Course,
    ) -> Result<(), Failure> {
        let work = pin!(course.run(&self.queries, &self.pool, worker, turn));
        let work = unless_panic(work, || Err(Failure::new(Trouble::Broken, "a fault in Brunt")));
        match self.timeout {
            None => work.await,
            Some(most) => tokio::time::timeout(most, work).await.unwrap_or_else(|_| {
                Err(Failure::new(Trouble::Timeout, "context deadline exceeded"))
            }),
        }
    }

    fn write(&self, record: &mut Record, turn: Turn, statement: Option<usize>, course: &Course) {
        let finished = clock::now_ns();
        record.seq = turn.seq;
        record.timestamp = Timestamp::from_unix_ns(turn.began);
        if let Some(minutes) = self.zone_minutes {
            record.timestamp = record.timestamp.in_zone(minutes);
        }
        record.planned = turn.planned;
        record.latency = finished.saturating_sub(turn.began);
        (record.bytes_out, record.bytes_in) = (course.bytes_out, course.bytes_in);
        if let Some(one) = statement.map(|index| &self.queries.statements()[index]) {
            put(&mut record.method, one.verb());
            put(&mut record.url, one.label());
        } else {
            put(&mut record.method, "TRANSACTION");
            put(&mut record.url, &self.queries.all);
        }
        record.error.clear();
        record.code = match &course.failure {
            None => 200,
            Some(failure) => {
                // Writing to a String can't fail.
                let _ = write!(record.error, "{}: {}", failure.code(), failure.text());
                status(failure)
            }
        };
        if !record.headers.is_empty() {
            details(record, course, finished);
        }
        self.figures.borrow_mut().add(course, finished);
    }
}

fn details(record: &mut Record, course: &Course, finished: u64) {
    let state = course.failure.as_ref().map_or("00000", Failure::code);
    let first = course.first_row.unwrap_or(finished).saturating_sub(course.sent);
    let numbers = [
        course.rows,
        course.rows_affected,
        if course.sent == 0 { 0 } else { first },
        course.waited_ns,
        course.connecting_ns.unwrap_or_default(),
    ];
    put(&mut record.headers[0].1[0], state);
    for ((_, values), number) in record.headers[1..].iter_mut().zip(numbers) {
        values[0].clear();
        decimal(number, &mut values[0]);
    }
}

impl Load for Statements {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker::default()
    }

    fn stream(&self) -> Option<&TargetStream> {
        None
    }

    async fn hit(&self, books: &Books, worker: &mut Worker, _: Option<&Target>, turn: Turn) {
        let (statement, row) = self.queries.turn(turn.seq);
        let mut course = Course::default();
        let result = self.course(worker, (statement, row), &mut course).await;
        course.failure = result.err();
        let mut record = self.record.borrow_mut();
        self.write(&mut record, turn, statement, &course);
        books.enter(&record, turn, false);
    }
}

impl Drop for Statements {
    fn drop(&mut self) {
        self.queries.add(&self.figures.borrow());
    }
}
