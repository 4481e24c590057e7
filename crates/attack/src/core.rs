//! One core of an attack: a thread with a tokio runtime, its workers and its part of the schedule.

mod closed;
mod open;
mod redirect;
mod writing;

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use brunt_fiber::clock;
use brunt_fiber::core::CoreRuntime;
use brunt_http::{
    Body, Client, Exchange, Failure, Headers, Network, Payload, Request, SharedConnections,
};
use brunt_records::Record;
use tokio::sync::Notify;
use tokio::task::spawn_local;

use self::writing::Scribe;
use crate::control::Control;
use crate::pacer::Pacer;
use crate::plan::{Plan, share};
use crate::sink::Sink;
use crate::target::Target;
use crate::targets::{TargetStream, Targets};

/// How often sinks may hand on what they have.
const TICK: Duration = Duration::from_millis(10);

/// After this many steps of tasks a core looks at its sockets and timers, busy or not.
const STEPS_BETWEEN_POLLS: u32 = 16;

/// The parts of a new core.
pub(crate) struct Seed {
    pub(crate) index: usize,
    pub(crate) cores: usize,
    /// When the attack begins (unix ns).
    pub(crate) start: u64,
    pub(crate) plan: Arc<Plan>,
    pub(crate) targets: Targets,
    pub(crate) control: Control,
}

/// The report of a core at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub(crate) ended: u64,
    pub(crate) failed: u64,
    pub(crate) lag_max: u64,
    pub(crate) lag_sum: u64,
    /// When the last hit was begun (unix ns).
    pub(crate) last: u64,
    /// From the start until no more hits were begun.
    pub(crate) paced_ns: u64,
    /// How long hits that were due waited for a worker.
    pub(crate) at_cap_ns: u64,
    /// How long no hit was begun because the sink had no room.
    pub(crate) full_ns: u64,
    /// How long hits that were due waited for a target.
    pub(crate) hungry_ns: u64,
    pub(crate) sockets_refused: u64,
    /// The part of its time that it worked while hits were begun.
    pub(crate) busy: f64,
    /// Targets or schedule ended before the time.
    pub(crate) ran_dry: bool,
}

/// The state that the tasks of a core share.
struct Core {
    index: usize,
    cores: usize,
    start: u64,
    /// When no more hits are begun (unix ns).
    end: u64,
    plan: Arc<Plan>,
    targets: Targets,
    control: Control,
    network: Rc<Network>,
    connections: Rc<SharedConnections>,
    sink: RefCell<Box<dyn Sink>>,
    scribe: RefCell<Scribe>,
    report: RefCell<Report>,
    /// Hits under way, and workers that are about to begin one.
    busy: Cell<usize>,
    /// Told when the last of those has ended, and each time a worker has nothing to do.
    rested: Notify,
}

/// The own state of a worker.
struct Worker {
    client: Client,
    headers: Headers,
    number: String,
}

/// An exchange that panics, which is a fault of ours, is a hit that failed, and ends nothing else.
async fn unless_panic(mut exchange: Pin<&mut impl Future<Output = Exchange>>) -> Exchange {
    poll_fn(|cx| {
        catch_unwind(AssertUnwindSafe(|| exchange.as_mut().poll(cx))).unwrap_or_else(|_| {
            log::error!("a hit panicked, a fault in Brunt: it failed, and the attack goes on. Please report this");
            Poll::Ready(Exchange::unsent(Failure::Aborted, clock::now_ns()))
        })
    })
    .await
}

/// Runs a core until all its hits have ended, or are given up.
///
/// # Errors
/// The system refuses what the core needs.
pub(crate) fn run(seed: Seed, sink: Box<dyn Sink>) -> io::Result<Report> {
    let runtime = CoreRuntime::new(STEPS_BETWEEN_POLLS)?;
    let network = Network::new(seed.plan.network_of(seed.index, seed.cores), clock::now_ns);
    let network = network.map_err(io::Error::other)?;
    let duration = seed.plan.duration.map_or(u64::MAX, clock::duration_ns);
    let core = Rc::new(Core {
        index: seed.index,
        cores: seed.cores,
        start: seed.start,
        end: seed.start.saturating_add(duration),
        connections: SharedConnections::new(&network),
        network,
        scribe: RefCell::new(Scribe::new(&seed.plan)),
        plan: seed.plan,
        targets: seed.targets,
        control: seed.control,
        sink: RefCell::new(sink),
        report: RefCell::default(),
        busy: Cell::new(0),
        rested: Notify::new(),
    });
    let result = runtime.block_on(attack(&core));
    // Hits that were given up end here; their sockets close.
    drop(runtime);
    core.sink.borrow_mut().finish();
    result?;
    Ok(core.report.take())
}

async fn attack(core: &Rc<Core>) -> io::Result<()> {
    let ticking = Rc::clone(core);
    let ticker = spawn_local(async move {
        loop {
            tokio::time::sleep(TICK).await;
            ticking.sink.borrow_mut().tick();
        }
    });
    let before = clock::thread_cpu_ns();
    let begin = async {
        match core.plan.pacer {
            Pacer::Unlimited => closed::run(core).await,
            _ => open::run(core).await,
        }
    };
    tokio::select! {
        result = begin => result?,
        () = core.control.aborting() => {}
    }
    let paced = clock::now_ns().saturating_sub(core.start);
    {
        let mut report = core.report.borrow_mut();
        report.paced_ns = paced;
        if let (Some(before), Some(now)) = (before, clock::thread_cpu_ns()) {
            report.busy = (now - before) as f64 / paced.max(1) as f64;
        }
    }
    tokio::select! {
        () = core.all_ended() => {}
        () = core.control.aborting() => {}
    }
    ticker.abort();
    Ok(())
}

impl Core {
    /// This core's part of a number of workers.
    fn share(&self, whole: usize) -> usize {
        share(whole, self.index, self.cores)
    }

    async fn all_ended(&self) {
        while self.busy.get() > 0 {
            self.rested.notified().await;
        }
    }

    fn worker(&self) -> Worker {
        self.control.add_worker();
        Worker {
            client: Client::sharing(
                Rc::clone(&self.network),
                self.plan.local_ip,
                Rc::clone(&self.connections),
            ),
            headers: Headers::new(),
            number: String::new(),
        }
    }

    /// Waits until the sink has room.
    async fn room(&self) {
        if self.sink.borrow().has_room() {
            return;
        }
        let from = clock::now_ns();
        if self.report.borrow().full_ns == 0 {
            log::warn!("the reader of the results is too slow: sending waits for it");
        }
        while !self.sink.borrow().has_room() && !self.control.is_stopping() {
            tokio::time::sleep(Duration::from_millis(1)).await;
            self.sink.borrow_mut().tick();
        }
        self.report.borrow_mut().full_ns += clock::now_ns() - from;
    }

    /// The time is over.
    async fn over(&self) {
        let left = Duration::from_nanos(self.end.saturating_sub(clock::now_ns()));
        // A timer can't be set to for ever.
        tokio::time::sleep(left.min(Duration::from_hours(24 * 365))).await;
    }

    /// The next target of a stream; `None` if there are no more, or the attack stops.
    async fn next_target(&self, stream: &TargetStream) -> Option<Arc<Target>> {
        if let Some(target) = stream.ready() {
            return Some(target);
        }
        let from = clock::now_ns();
        let coming = tokio::select! {
            biased;
            target = stream.next(&self.control) => Some(target),
            () = self.over() => None,
        };
        let mut report = self.report.borrow_mut();
        report.hungry_ns += clock::now_ns() - from;
        // None although the time isn't over: the stream has ended.
        let target = coming?;
        if target.is_none() && !self.control.is_stopping() {
            report.ran_dry = true;
            self.control.stop();
        }
        target
    }

    /// One hit, which was due at `planned` if there is a schedule; on `target`, or on the one whose turn it is.
    async fn hit(&self, worker: &mut Worker, target: Option<&Target>, planned: Option<u64>) {
        let (began, seq) = (clock::now_ns(), self.control.next_seq());
        match (target, &self.targets) {
            (Some(target), _) => self.exchange(worker, target, seq, began, planned).await,
            (None, Targets::All(targets)) => {
                let target = &targets[(seq % targets.len() as u64) as usize];
                self.exchange(worker, target, seq, began, planned).await;
            }
            (None, Targets::Stream(_)) => unreachable!("a stream's target comes with its hit"),
        }
    }

    async fn exchange(
        &self,
        worker: &mut Worker,
        target: &Target,
        seq: u64,
        began: u64,
        planned: Option<u64>,
    ) {
        let hit = Hit { target, seq, began, planned };
        let way = match &target.way {
            Ok(way) => way.borrow(),
            Err(failure) => {
                let failed = Exchange::unsent(*failure, clock::now_ns());
                return self.ended(&hit, &failed, &target.method, &target.url, None);
            }
        };
        worker.headers.copy_from(&target.headers);
        worker.number.clear();
        writing::decimal(seq, &mut worker.number);
        worker.headers.append("X-Vegeta-Seq", &worker.number).expect("digits can be sent");
        let deadline = self.plan.timeout.map(|most| began + clock::duration_ns(most));
        let chunks = self.chunks(target);
        let mut request = Request::new(&target.method, &way, &worker.headers);
        request.host = target.host.as_deref();
        request.deadline = deadline;
        request.discard_body = self.plan.keep_body == 0;
        request.keep_max = Some(self.plan.keep_body);
        request.body = match &chunks {
            Some(chunks) => Body::Payload(chunks),
            None if target.body.is_empty() => Body::Empty,
            None => Body::Bytes(&target.body),
        };
        let exchange = unless_panic(pin!(worker.client.exchange(&request))).await;
        let redirects = self.plan.redirects.is_some() && redirect::leads_on(&exchange);
        if redirects {
            // Rare, and large: a worker shouldn't carry it.
            Box::pin(self.follow(worker, &hit, exchange, deadline)).await;
        } else {
            self.ended(&hit, &exchange, &target.method, &target.url, None);
        }
    }

    /// The body, if it is to be sent in chunks.
    fn chunks(&self, target: &Target) -> Option<Payload> {
        let is_chunked = self.plan.chunked && !target.body.is_empty();
        is_chunked.then(|| writing::chunked(Arc::clone(&target.body)))
    }

    /// Writes the hit's record. `method` and `url` are those of the last exchange, for what went wrong with it;
    /// `trouble` is what went wrong beyond that.
    fn ended(
        &self,
        hit: &Hit<'_>,
        exchange: &Exchange,
        method: &str,
        url: &str,
        trouble: Option<String>,
    ) {
        let mut scribe = self.scribe.borrow_mut();
        let record: &Record = scribe.write(hit, exchange, (method, url), trouble);
        {
            let mut report = self.report.borrow_mut();
            report.ended += 1;
            report.failed += u64::from(!record.is_success());
            let lag = record.lag();
            report.lag_max = report.lag_max.max(lag);
            report.lag_sum += lag;
            report.last = report.last.max(hit.began);
            report.sockets_refused += u64::from(is_refused_socket(exchange.failure));
        }
        self.sink.borrow_mut().take(record);
    }
}

/// The facts about a hit before it ends.
struct Hit<'a> {
    target: &'a Target,
    seq: u64,
    began: u64,
    planned: Option<u64>,
}

/// No file descriptor (EMFILE, ENFILE), no port (EADDRNOTAVAIL) or no buffer (ENOBUFS) was left.
fn is_refused_socket(failure: Option<Failure>) -> bool {
    matches!(failure, Some(Failure::Net(brunt_net::Failure::DialErrno(23 | 24 | 99 | 105))))
}
