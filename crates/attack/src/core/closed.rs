//! No schedule: each worker begins its next hit when its last one has ended.

use std::io;
use std::rc::Rc;

use brunt_fiber::clock;
use tokio::task::spawn_local;

use super::Core;
use crate::load::Load;

/// Lets all workers work until the time is over, or the attack stops.
pub(super) async fn run<L: Load>(core: &Rc<Core<L>>) -> io::Result<()> {
    let workers = core.share(core.plan.max_workers.expect("checked when the attack was made"));
    core.busy.set(workers);
    for _ in 0..workers {
        spawn_local(work(Rc::clone(core)));
    }
    core.all_ended().await;
    Ok(())
}

async fn work<L: Load>(core: Rc<Core<L>>) {
    let mut worker = core.worker();
    while !core.control.is_stopping() && clock::now_ns() < core.end {
        core.room().await;
        match core.load.stream() {
            None => core.hit(&mut worker, None, None).await,
            Some(stream) => {
                let Some(target) = core.next_target(stream).await else { break };
                core.hit(&mut worker, Some(&target), None).await;
            }
        }
    }
    core.busy.set(core.busy.get() - 1);
    core.rested.notify_one();
}
