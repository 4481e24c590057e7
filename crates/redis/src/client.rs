//! The client: which server a command goes to, and on which connection.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use brunt_net::Dialer;
use rustc_hash::FxHashMap;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::connection::{Connection, Login};
use crate::resp::Reply;
use crate::{Failure, Options, Server, Topology, slot};

/// A client of one server, or of several that belong together.
pub struct Client {
    dialer: Rc<Dialer>,
    options: Options,
    nodes: RefCell<FxHashMap<Rc<Server>, Rc<Node>>>,
    /// Where the slots of a cluster are, as far as the servers told: at most 16384.
    slots: RefCell<FxHashMap<u16, Rc<Server>>>,
    /// The server of the cluster that is asked while the place of a key is unknown: counted on when one doesn't
    /// answer.
    turn: Cell<usize>,
    /// Whom the sentinel named.
    master: RefCell<Option<Rc<Server>>>,
}

/// The connections to one server.
struct Node {
    idle: RefCell<Vec<Connection>>,
    /// As many as there may be connections.
    seats: Semaphore,
}

/// Where a server of a cluster sends a command.
enum Elsewhere {
    /// From now on.
    Moved(u16, Rc<Server>),
    /// This once.
    Ask(Rc<Server>),
}

impl Client {
    /// A client without connections, which dials by way of `dialer`.
    pub fn new(dialer: Rc<Dialer>, options: Options) -> Self {
        Self {
            dialer,
            options,
            nodes: RefCell::default(),
            slots: RefCell::default(),
            turn: Cell::new(0),
            master: RefCell::default(),
        }
    }

    /// Whether a connection is open and idle.
    pub fn is_connected(&self) -> bool {
        self.nodes.borrow().values().any(|node| !node.idle.borrow().is_empty())
    }

    /// Sends a command and waits for its reply. `key`: which of the parts tells where in a cluster it belongs.
    ///
    /// # Errors
    /// There is none, or it is an error of the server's.
    pub async fn ask(&self, parts: &[Vec<u8>], key: Option<usize>) -> Result<Reply, Failure> {
        let mut backoff = self.options.min_backoff;
        let mut tries = 0;
        loop {
            let failure = match self.try_once(parts, key).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            if tries >= self.options.max_retries || !failure.is_worth_another_try() {
                return Err(failure);
            }
            tries += 1;
            // Another one may be the master by now, or have the key.
            *self.master.borrow_mut() = None;
            self.turn.set(self.turn.get().wrapping_add(1));
            if let Some(key) = key.and_then(|key| parts.get(key)) {
                self.slots.borrow_mut().remove(&slot::of(key));
            }
            tokio::time::sleep(backoff).await;
            backoff = (backoff * 2).min(self.options.max_backoff.max(Duration::from_millis(1)));
        }
    }

    async fn try_once(&self, parts: &[Vec<u8>], key: Option<usize>) -> Result<Reply, Failure> {
        let slot = key.and_then(|key| parts.get(key)).map(|key| slot::of(key));
        let (mut server, redirects) = match &self.options.topology {
            Topology::Single(server) => (Rc::new(server.clone()), 0),
            Topology::Sentinel { .. } => (self.find_master().await?, 0),
            Topology::Cluster { nodes, max_redirects } => {
                let known = slot.and_then(|slot| self.slots.borrow().get(&slot).cloned());
                let any = || nodes.iter().cycle().nth(self.turn.get() % nodes.len().max(1));
                let any = || any().cloned().map(Rc::new);
                (known.or_else(any).ok_or(Failure::NoMaster)?, *max_redirects)
            }
        };
        let mut asking = false;
        for _ in 0..=redirects {
            let words = match self.ask_server(&server, parts, asking).await? {
                Reply::Error(words) => words,
                reply => return Ok(reply),
            };
            match elsewhere(&words, &server).filter(|_| redirects > 0) {
                None => return Err(Failure::Server(words)),
                Some(Elsewhere::Moved(slot, to)) => {
                    self.slots.borrow_mut().insert(slot % 16_384, Rc::clone(&to));
                    (server, asking) = (to, false);
                }
                Some(Elsewhere::Ask(to)) => (server, asking) = (to, true),
            }
        }
        Err(Failure::Redirects)
    }

    async fn ask_server(
        &self,
        server: &Rc<Server>,
        parts: &[Vec<u8>],
        asking: bool,
    ) -> Result<Reply, Failure> {
        let node = self.node(server);
        let seat = timeout(self.options.pool_timeout, node.seats.acquire()).await;
        let _seat = seat.map_err(|_| Failure::Busy)?.map_err(|_| Failure::Busy)?;
        let idle = node.idle.borrow_mut().pop();
        let mut connection = if let Some(connection) = idle {
            connection
        } else {
            let options = &self.options;
            let login = Login {
                username: &options.username,
                password: &options.password,
                database: options.database,
            };
            Connection::open(&self.dialer, server, options, login).await?
        };
        if asking {
            self.within(connection.ask(&[b"ASKING".to_vec()])).await?;
        }
        let reply = self.within(connection.ask(parts)).await?;
        // A command that was given up while it waited has not come here: its connection is gone.
        node.idle.borrow_mut().push(connection);
        Ok(reply)
    }

    async fn within(
        &self,
        asking: impl Future<Output = Result<Reply, Failure>>,
    ) -> Result<Reply, Failure> {
        match self.options.read_timeout {
            None => asking.await,
            Some(limit) => timeout(limit, asking).await.unwrap_or(Err(Failure::Timeout)),
        }
    }

    fn node(&self, server: &Rc<Server>) -> Rc<Node> {
        let mut nodes = self.nodes.borrow_mut();
        let node = nodes.entry(Rc::clone(server)).or_insert_with(|| {
            let seats = Semaphore::new(self.options.pool_size.clamp(1, 10_000));
            Rc::new(Node { idle: RefCell::default(), seats })
        });
        Rc::clone(node)
    }

    /// Asks the sentinel, once.
    async fn find_master(&self) -> Result<Rc<Server>, Failure> {
        if let Some(known) = &*self.master.borrow() {
            return Ok(Rc::clone(known));
        }
        let Topology::Sentinel { sentinel, master, username, password } = &self.options.topology
        else {
            return Err(Failure::NoMaster);
        };
        let login = Login { username, password, database: 0 };
        let opened = Connection::open(&self.dialer, sentinel, &self.options, login).await;
        let mut connection = opened.map_err(|failure| {
            let what = "redis: all sentinels specified in configuration are unreachable";
            Failure::Network(format!("{what}: {failure}"))
        })?;
        let question = ["SENTINEL", "get-master-addr-by-name", master];
        let question = question.map(|part| part.as_bytes().to_vec());
        let Reply::Array(parts) = self.within(connection.ask(&question)).await? else {
            return Err(Failure::NoMaster);
        };
        let [Reply::Text(host), Reply::Text(port)] = parts.as_slice() else {
            return Err(Failure::NoMaster);
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let port = text(port).parse().map_err(|_| Failure::NoMaster)?;
        let found = Rc::new(Server { host: text(host), port });
        *self.master.borrow_mut() = Some(Rc::clone(&found));
        Ok(found)
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("topology", &self.options.topology)
            .field("servers", &self.nodes.borrow().len())
            .finish_non_exhaustive()
    }
}

/// Reads `MOVED 3999 127.0.0.1:6381` and `ASK …`. Without a host, the one that was asked is meant.
fn elsewhere(words: &str, asked: &Server) -> Option<Elsewhere> {
    let mut parts = words.split(' ');
    let kind = parts.next()?;
    let slot = parts.next()?.parse().ok()?;
    let (host, port) = parts.next()?.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = if host.is_empty() { &asked.host } else { host };
    let server = Rc::new(Server { host: host.to_owned(), port: port.parse().ok()? });
    match kind {
        "MOVED" => Some(Elsewhere::Moved(slot, server)),
        "ASK" => Some(Elsewhere::Ask(server)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_a_cluster_say_where_a_key_is() {
        let asked = Server { host: "a".to_owned(), port: 1 };
        let Some(Elsewhere::Moved(3999, to)) = elsewhere("MOVED 3999 10.0.0.1:6381", &asked) else {
            panic!()
        };
        assert_eq!(*to, Server { host: "10.0.0.1".to_owned(), port: 6381 });
        let Some(Elsewhere::Ask(to)) = elsewhere("ASK 5 :7", &asked) else { panic!() };
        assert_eq!(*to, Server { host: "a".to_owned(), port: 7 });
        assert!(elsewhere("ERR no such key", &asked).is_none());
        assert!(elsewhere("MOVED x y", &asked).is_none());
    }
}
