//! Connections that nobody waits for: their servers' questions are answered all the same.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::{Rc, Weak};
use std::time::Duration;

use brunt_fiber::core::does_chores;

use super::link::Link;
use crate::network::Network;

/// How long a server may wait for the answer to its PING on an idle connection. Those that ask close no connection before
/// several seconds have passed.
const TEND_EVERY: Duration = Duration::from_secs(1);

/// The open connections of one core, which one task looks after while there are any.
#[derive(Debug, Default)]
pub(crate) struct Tended {
    links: RefCell<Vec<Weak<Link>>>,
    is_tended: Cell<bool>,
}

impl Tended {
    /// From now on, this connection is looked after while it is idle: on a load core. Elsewhere there is nobody to do it, and
    /// connections are as short as what they are for.
    pub(crate) fn add(&self, link: &Rc<Link>, network: &Rc<Network>) {
        if !does_chores() {
            return;
        }
        self.links.borrow_mut().push(Rc::downgrade(link));
        if !self.is_tended.replace(true) {
            tokio::task::spawn_local(tend(Rc::downgrade(network)));
        }
    }

    /// Looks after all, one after the other. `false`: there are none.
    async fn turn(&self, network: &Network) -> bool {
        let all = self.links.borrow().clone();
        for link in all.iter().filter_map(Weak::upgrade) {
            // A panic is the end of this one.
            let tended = catch_unwind(AssertUnwindSafe(|| link.tend(network)));
            if !tended.unwrap_or(false) {
                let given_up = Rc::downgrade(&link);
                self.links.borrow_mut().retain(|link| !link.ptr_eq(&given_up));
            }
            // A server that floods it takes its time.
            tokio::task::yield_now().await;
        }
        let mut links = self.links.borrow_mut();
        links.retain(|link| link.strong_count() > 0);
        if links.is_empty() {
            *links = Vec::new();
            self.is_tended.set(false);
        }
        !links.is_empty()
    }
}

async fn tend(network: Weak<Network>) {
    loop {
        tokio::time::sleep(TEND_EVERY).await;
        let Some(network) = network.upgrade() else { return };
        if !network.tended.turn(&network).await {
            return;
        }
    }
}
