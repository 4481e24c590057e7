//! Connections that no task waits for: their servers' questions are answered all the same.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::{Rc, Weak};
use std::time::Duration;

use brunt_fiber::core::does_chores;
use brunt_net::Network;

use super::link::Link;

/// How long a server may wait for the answer to its PING on an idle connection. Those that ask close no connection before
/// several seconds have passed.
const TEND_EVERY: Duration = Duration::from_secs(1);

/// The open connections of one core, which one task looks after while there are any.
#[derive(Debug)]
pub(crate) struct Tended {
    network: Rc<Network>,
    links: RefCell<Vec<Weak<Link>>>,
    has_task: Cell<bool>,
}

impl Tended {
    pub(crate) fn new(network: Rc<Network>) -> Rc<Self> {
        let (links, has_task) = (RefCell::default(), Cell::default());
        Rc::new(Self { network, links, has_task })
    }

    /// From now on, this connection is looked after while it is idle: on a load core. Elsewhere no task could do it,
    /// and connections are as short as their purpose.
    pub(crate) fn add(self: &Rc<Self>, link: &Rc<Link>) {
        if !does_chores() {
            return;
        }
        self.links.borrow_mut().push(Rc::downgrade(link));
        if !self.has_task.replace(true) {
            tokio::task::spawn_local(tend(Rc::downgrade(self)));
        }
    }

    /// Looks after all, one after the other. `false`: there are none.
    async fn turn(&self) -> bool {
        let all = self.links.borrow().clone();
        for link in all.iter().filter_map(Weak::upgrade) {
            // A panic is the end of this one.
            let tended = catch_unwind(AssertUnwindSafe(|| link.tend(&self.network)));
            if !tended.unwrap_or(false) {
                let given_up = Rc::downgrade(&link);
                self.links.borrow_mut().retain(|link| !link.ptr_eq(&given_up));
            }
            // A server that floods it takes its time.
            brunt_fiber::turn::given_way().await;
        }
        let mut links = self.links.borrow_mut();
        links.retain(|link| link.strong_count() > 0);
        if links.is_empty() {
            *links = Vec::new();
            self.has_task.set(false);
        }
        !links.is_empty()
    }
}

async fn tend(tended: Weak<Tended>) {
    loop {
        tokio::time::sleep(TEND_EVERY).await;
        let Some(tended) = tended.upgrade() else { return };
        if !tended.turn().await {
            return;
        }
    }
}
