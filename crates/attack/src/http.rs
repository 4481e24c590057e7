//! HTTP exchanges as a load.

mod redirect;
mod writing;

use std::cell::RefCell;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use brunt_fiber::clock;
use brunt_http::{
    Body, Client, Exchange, Failure, Headers, Network, Payload, Request, SharedConnections,
};
use brunt_records::Record;

use self::writing::Scribe;
use crate::load::{Books, Load, Turn, decimal, unless_panic};
use crate::plan::Plan;
use crate::target::Target;
use crate::targets::{TargetStream, Targets};

/// The exchanges of one core.
pub(crate) struct Exchanges {
    plan: Arc<Plan>,
    targets: Targets,
    network: Rc<Network>,
    connections: Rc<SharedConnections>,
    scribe: RefCell<Scribe>,
}

/// The own state of a worker.
pub(crate) struct Worker {
    client: Client,
    headers: Headers,
    number: String,
}

/// The facts about a hit before it ends.
struct Hit<'a> {
    target: &'a Target,
    turn: Turn,
}

impl Exchanges {
    /// The share of core `index` of `cores`.
    ///
    /// # Errors
    /// The network can't be set up as the plan wants it.
    pub(crate) fn new(
        plan: &Arc<Plan>,
        (index, cores): (usize, usize),
        targets: Targets,
    ) -> io::Result<Self> {
        let network = Network::new(plan.network_of(index, cores), clock::now_ns);
        let network = network.map_err(io::Error::other)?;
        Ok(Self {
            plan: Arc::clone(plan),
            targets,
            connections: SharedConnections::new(&network),
            network,
            scribe: RefCell::new(Scribe::new(plan)),
        })
    }

    async fn exchange(&self, books: &Books, worker: &mut Worker, target: &Target, turn: Turn) {
        let hit = Hit { target, turn };
        let way = match &target.way {
            Ok(way) => way.borrow(),
            Err(failure) => {
                let failed = Exchange::unsent(*failure, clock::now_ns());
                return self.ended(books, &hit, &failed, &target.method, &target.url, None);
            }
        };
        worker.headers.copy_from(&target.headers);
        worker.number.clear();
        decimal(turn.seq, &mut worker.number);
        worker.headers.append("X-Vegeta-Seq", &worker.number).expect("digits can be sent");
        let deadline = self.plan.timeout.map(|most| turn.began + clock::duration_ns(most));
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
        let exchange = unless_panic(pin!(worker.client.exchange(&request)), panicked).await;
        let redirects = self.plan.redirects.is_some() && redirect::leads_on(&exchange);
        if redirects {
            // Rare, and large: a worker shouldn't carry it.
            Box::pin(self.follow(books, worker, &hit, exchange, deadline)).await;
        } else {
            self.ended(books, &hit, &exchange, &target.method, &target.url, None);
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
        books: &Books,
        hit: &Hit<'_>,
        exchange: &Exchange,
        method: &str,
        url: &str,
        trouble: Option<String>,
    ) {
        let mut scribe = self.scribe.borrow_mut();
        let record: &Record = scribe.write(hit, exchange, (method, url), trouble);
        books.enter(record, hit.turn, is_refused_socket(exchange.failure));
    }
}

impl Load for Exchanges {
    type Worker = Worker;

    fn worker(&self) -> Worker {
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

    fn stream(&self) -> Option<&TargetStream> {
        match &self.targets {
            Targets::All(_) => None,
            Targets::Stream(stream) => Some(stream),
        }
    }

    /// On `target`, or on the one whose turn it is.
    async fn hit(&self, books: &Books, worker: &mut Worker, target: Option<&Target>, turn: Turn) {
        match (target, &self.targets) {
            (Some(target), _) => self.exchange(books, worker, target, turn).await,
            (None, Targets::All(targets)) => {
                let target = &targets[(turn.seq % targets.len() as u64) as usize];
                self.exchange(books, worker, target, turn).await;
            }
            (None, Targets::Stream(_)) => unreachable!("a stream's target comes with its hit"),
        }
    }
}

/// The exchange in place of one that panicked.
fn panicked() -> Exchange {
    Exchange::unsent(Failure::Aborted, clock::now_ns())
}

/// No file descriptor (EMFILE, ENFILE), no port (EADDRNOTAVAIL) or no buffer (ENOBUFS) was left.
fn is_refused_socket(failure: Option<Failure>) -> bool {
    matches!(failure, Some(Failure::Net(brunt_net::Failure::DialErrno(23 | 24 | 99 | 105))))
}
