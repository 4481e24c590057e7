//! One core of an attack: a thread with a tokio runtime, its workers and its part of the schedule.

mod closed;
mod open;

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use brunt_fiber::clock;
use brunt_fiber::core::CoreRuntime;
use tokio::sync::Notify;
use tokio::task::spawn_local;

use crate::control::Control;
use crate::load::{Books, Load, Report, Turn};
use crate::pacer::Pacer;
use crate::plan::{Plan, share};
use crate::sink::Sink;
use crate::target::Target;
use crate::targets::TargetStream;

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
    pub(crate) control: Control,
}

/// The state that the tasks of a core share.
struct Core<L> {
    index: usize,
    cores: usize,
    start: u64,
    /// When no more hits are begun (unix ns).
    end: u64,
    plan: Arc<Plan>,
    control: Control,
    load: L,
    books: Books,
    /// Hits under way, and workers that are about to begin one.
    busy: Cell<usize>,
    /// Told when the last of those has ended, and each time a worker has nothing to do.
    rested: Notify,
}

/// Runs a core until all its hits have ended, or are given up. `load` is made on its thread.
///
/// # Errors
/// The system refuses what the core needs.
pub(crate) fn run<L: Load>(
    seed: Seed,
    sink: Box<dyn Sink>,
    load: impl FnOnce() -> io::Result<L>,
) -> io::Result<Report> {
    let runtime = CoreRuntime::new(STEPS_BETWEEN_POLLS)?;
    let load = load()?;
    let duration = seed.plan.duration.map_or(u64::MAX, clock::duration_ns);
    let core = Rc::new(Core {
        index: seed.index,
        cores: seed.cores,
        start: seed.start,
        end: seed.start.saturating_add(duration),
        load,
        plan: seed.plan,
        control: seed.control,
        books: Books::new(sink),
        busy: Cell::new(0),
        rested: Notify::new(),
    });
    let result = runtime.block_on(attack(&core));
    // Hits that were given up end here; their sockets close.
    drop(runtime);
    core.books.sink.borrow_mut().finish();
    result?;
    Ok(core.books.report.take())
}

async fn attack<L: Load>(core: &Rc<Core<L>>) -> io::Result<()> {
    let ticking = Rc::clone(core);
    let ticker = spawn_local(async move {
        loop {
            tokio::time::sleep(TICK).await;
            ticking.books.sink.borrow_mut().tick();
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
        let mut report = core.books.report.borrow_mut();
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

impl<L: Load> Core<L> {
    /// This core's part of a number of workers.
    fn share(&self, whole: usize) -> usize {
        share(whole, self.index, self.cores)
    }

    async fn all_ended(&self) {
        while self.busy.get() > 0 {
            self.rested.notified().await;
        }
    }

    fn worker(&self) -> L::Worker {
        self.control.add_worker();
        self.load.worker()
    }

    /// Waits until the sink has room.
    async fn room(&self) {
        if self.books.sink.borrow().has_room() {
            return;
        }
        let from = clock::now_ns();
        if self.books.report.borrow().full_ns == 0 {
            log::warn!("the reader of the results is too slow: sending waits for it");
        }
        while !self.books.sink.borrow().has_room() && !self.control.is_stopping() {
            tokio::time::sleep(Duration::from_millis(1)).await;
            self.books.sink.borrow_mut().tick();
        }
        self.books.report.borrow_mut().full_ns += clock::now_ns() - from;
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
        let mut report = self.books.report.borrow_mut();
        report.hungry_ns += clock::now_ns() - from;
        // None although the time isn't over: the stream has ended.
        let target = coming?;
        if target.is_none() && !self.control.is_stopping() {
            report.ran_dry = true;
            self.control.stop();
        }
        target
    }

    /// One hit, which was due at `planned` if there is a schedule; on `target`, if it comes from a stream.
    async fn hit(&self, worker: &mut L::Worker, target: Option<&Target>, planned: Option<u64>) {
        let turn = Turn { began: clock::now_ns(), seq: self.control.next_seq(), planned };
        self.load.hit(&self.books, worker, target, turn).await;
    }
}
