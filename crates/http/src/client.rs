//! One VU's way to the network.

use std::cell::RefCell;
use std::net::IpAddr;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use brunt_net::{Connection, Dialer, Endpoint, Meter, Offer, Proxy};

use crate::dial;
use crate::exchange::{Answer, Exchange, Fate, Recording};
use crate::failure::Failure;
use crate::http1::converse::converse;
use crate::http1::encode::Way;
use crate::http2::{Host, Lines, Link, Running};
use crate::network::Network;
use crate::pool::Pool;
use crate::request::Request;
use crate::shared::Shared;
use crate::target::Scheme;
use crate::timer::Timers;

/// How often a request is sent again that a server of HTTP/2 has not looked at: Go's number.
const REPEATS: u32 = 7;

/// The time before the second of them, which is twice as long each time; the first is sent at once.
const REPEAT_AFTER: Duration = Duration::from_secs(1);

/// The connections of one VU, which are never shared with another; or, if it is [`Client::sharing`], its part in the
/// connections of many.
///
/// Several exchanges of one client may run at once (`http.batch`); each has a connection of its own.
/// Futures are polled by whoever waits: no task is spawned (but one per core for idle connections of HTTP/2). An exchange that is dropped closes its
/// connection.
#[derive(Debug)]
pub struct Client {
    network: Rc<Network>,
    dialer: Rc<Dialer>,
    pool: RefCell<Pool>,
    lines: Lines,
    timers: Timers,
    /// The connections that it uses instead of its own.
    shared: Option<Rc<Shared>>,
}

impl Client {
    /// A client without connections. `local_ip`: the address it dials from, if not the system's choice.
    pub fn new(network: Rc<Network>, local_ip: Option<IpAddr>) -> Self {
        let dialer = Dialer::new(Rc::clone(&network.net), local_ip);
        Self::with(network, dialer, None)
    }

    /// A client that shares idle connections, TLS sessions and the limit of connections per host with others of
    /// its core.
    pub fn sharing(network: Rc<Network>, local_ip: Option<IpAddr>, shared: Rc<Shared>) -> Self {
        let sessions = Rc::clone(&shared.sessions);
        let dialer = Dialer::sharing(Rc::clone(&network.net), local_ip, sessions);
        Self::with(network, dialer, Some(shared))
    }

    fn with(network: Rc<Network>, dialer: Rc<Dialer>, shared: Option<Rc<Shared>>) -> Self {
        Self {
            network,
            dialer,
            pool: RefCell::default(),
            lines: Lines::default(),
            timers: Timers::default(),
            shared,
        }
    }

    fn pool(&self) -> &RefCell<Pool> {
        match &self.shared {
            None => &self.pool,
            Some(shared) => &shared.pool,
        }
    }

    /// The connections to share, if there is a limit to keep.
    fn limit(&self) -> Option<&Shared> {
        self.shared.as_deref().filter(|shared| shared.per_host_max > 0)
    }

    /// Where it keeps what every request needs, as (address, bytes): for fetching it into the cache.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let own = [
            (std::ptr::from_ref(self).addr(), size_of::<Self>()),
            (Rc::as_ptr(&self.dialer).addr(), size_of::<Dialer>()),
        ];
        let pool = self.pool().borrow().places();
        // A client without connections was not used.
        let timers = if pool.is_empty() { Vec::new() } else { self.timers.places() };
        own.into_iter().chain(timers).chain(pool)
    }

    /// Sends one request and waits for the response or for what prevents it. Redirects, cookies and
    /// authentication are the caller's.
    ///
    /// A request on a kept connection that turns out to be closed is sent again on a fresh one, if
    /// nothing of a response came and it does no harm: nothing was sent yet, or the method is GET,
    /// HEAD, OPTIONS or TRACE, or it has an `Idempotency-Key` (Go's rules).
    pub async fn exchange(&self, request: &Request<'_>) -> Exchange {
        let network = &*self.network;
        let limit = network.settings.body_limit;
        let answer = match (request.spool, request.keep_max) {
            (Some(_), _) => Answer::new(Fate::Stream, limit),
            _ if request.discard_body => Answer::new(Fate::Discard, limit),
            (None, Some(keep)) if keep < limit => Answer::new(Fate::Begin, keep),
            _ => Answer::new(Fate::Keep, limit),
        };
        let answer = answer.moving_on(request.moves_on);
        let mut recording = Recording::start(network.net.clock, self.meter(), answer);
        let result = {
            // Pinned here, so that it is not moved on its way into the timer.
            let mut run = pin!(self.run(request, &mut recording));
            let mut ended = None;
            if let Some(write_by) = request.write_by {
                let deadline = network.net.anchor.instant(write_by.deadline());
                ended = self.timers.within(deadline, run.as_mut()).await;
                if ended.is_none() && !write_by.is_written() {
                    ended = Some(Err(Failure::Timeout));
                }
            }
            match (ended, request.deadline) {
                (Some(ended), _) => ended,
                (None, None) => run.await,
                (None, Some(deadline)) => {
                    let ended = self.timers.within(network.net.anchor.instant(deadline), run).await;
                    ended.unwrap_or(Err(Failure::Timeout))
                }
            }
        };
        recording.finish(result.err())
    }

    async fn run(
        &self,
        request: &Request<'_>,
        recording: &mut Recording<'_>,
    ) -> Result<(), Failure> {
        request.check()?;
        let network = &*self.network;
        let is_secure = request.target.scheme == Scheme::Https;
        let proxy = network.proxy(&request.target.endpoint());
        // Inside a tunnel, the request is as if there were no proxy, whose password the server must not see.
        let relay = proxy.filter(|proxy| !is_secure && proxy.relays());
        let way = Way {
            is_proxied: relay.is_some(),
            proxy_authorization: relay.and_then(Proxy::authorization),
            close: network.settings.no_connection_reuse,
        };
        if let Some(lines) = self.http2(is_secure)
            && !lines.is_http1(&request.target.endpoint())
            && let Some(result) = Box::pin(self.run_http2(lines, request, recording)).await
        {
            return result;
        }
        // Given back when this returns: its connection is idle or closed by then.
        let _permit = match self.limit() {
            None => None,
            Some(shared) => Some(Box::pin(shared.permit(request.target)).await),
        };
        let mut idle = self.take_idle(&request.target.endpoint());
        loop {
            let is_reused = idle.is_some();
            let mut connection = if let Some(connection) = idle.take() {
                recording.moments.remote = Some(connection.remote);
                connection
            } else {
                // Boxed, for dialing is rare and its state large: a VU that waits on a kept connection
                // shouldn't carry it.
                Box::pin(self.dial(request, proxy, recording)).await?
            };
            if connection.is_http2() {
                // Another server has answered than the one before, behind the same name.
                return Box::pin(self.run_on(connection, request, recording)).await;
            }
            recording.tls = connection.tls_info;
            recording.acquired(is_reused);
            let sent_before = recording.bytes_sent();
            match converse(&mut connection, network, request, way, recording).await {
                Ok(true) => {
                    self.keep(connection);
                    return Ok(());
                }
                Ok(false) => {
                    self.close(connection);
                    return Ok(());
                }
                Err(failure) => {
                    let was_sent = recording.bytes_sent() > sent_before;
                    let may_repeat = is_reused
                        && failure.is_gone()
                        && !recording.has_answer()
                        && (!was_sent || request.is_replayable())
                        && request.body.rewind();
                    if !may_repeat {
                        return Err(failure);
                    }
                    recording.restart();
                }
            }
        }
    }

    async fn dial(
        &self,
        request: &Request<'_>,
        proxy: Option<&Proxy>,
        recording: &mut Recording<'_>,
    ) -> Result<Connection, Failure> {
        self.way(proxy).dial(&request.target.endpoint(), recording).await
    }

    /// How hosts are spoken to, if HTTP/2 may be spoken.
    fn http2(&self, is_secure: bool) -> Option<&Lines> {
        let settings = &self.network.settings;
        let may = if is_secure { settings.net.tls.http2 } else { settings.prior_http2 };
        let lines = || self.shared.as_ref().map_or(&self.lines, |shared| &shared.lines);
        may.then(lines)
    }

    /// One exchange over HTTP/2. `None`: the host doesn't speak it.
    ///
    /// A request that the server says it has not looked at is sent again, up to [`REPEATS`] times; one on a kept
    /// connection that turns out to be lost, too, if it does no harm.
    async fn run_http2(
        &self,
        lines: &Lines,
        request: &Request<'_>,
        recording: &mut Recording<'_>,
    ) -> Option<Result<(), Failure>> {
        let network = &*self.network;
        let keeps = !network.settings.no_connection_reuse;
        let mut repeats = 0;
        loop {
            let host = lines.host(&request.target.endpoint());
            // The first to come dials; the others wait for the outcome.
            let mut state = host.lock().await;
            let (link, is_reused) = match &*state {
                Host::Http1 => return None,
                Host::Open(link) if link.check(&network.net, self.meter()) => {
                    (Rc::clone(link), true)
                }
                Host::Open(_) | Host::Unknown => {
                    match self.open_link(&request.target.endpoint(), recording).await {
                        Ok(Some(link)) => {
                            let link = Rc::new(link);
                            if keeps {
                                network.tended.add(&link);
                                *state = Host::Open(Rc::clone(&link));
                            }
                            (link, false)
                        }
                        Ok(None) => {
                            *state = Host::Http1;
                            return None;
                        }
                        Err(failure) => return Some(Err(failure)),
                    }
                }
            };
            drop(state);
            recording.moments.remote = Some(link.remote);
            recording.tls = link.tls;
            recording.acquired(is_reused);
            let result = Running::new(&link, &network.net, request, recording).await;
            if !keeps {
                self.meter().sent(link.close());
            }
            let broken = match result {
                Ok(()) => return Some(Ok(())),
                Err(broken) => broken,
            };
            let is_harmless = is_reused && !link.is_open() && request.is_replayable();
            let may_repeat = repeats < REPEATS
                && (broken.is_unseen || is_harmless)
                && !recording.has_answer()
                && request.body.rewind();
            if !may_repeat {
                return Some(Err(broken.failure));
            }
            if repeats > 0 {
                // Boxed, as it is rare.
                Box::pin(tokio::time::sleep(REPEAT_AFTER * (1 << (repeats - 1)))).await;
            }
            repeats += 1;
            recording.restart();
        }
    }

    fn link(&self, connection: Connection) -> Link {
        Link::new(connection, self.network.net.clock, self.network.settings.head_limit)
    }

    /// One exchange on a connection of its own.
    async fn run_on(
        &self,
        connection: Connection,
        request: &Request<'_>,
        recording: &mut Recording<'_>,
    ) -> Result<(), Failure> {
        let link = self.link(connection);
        recording.tls = link.tls;
        recording.acquired(false);
        let result = Running::new(&link, &self.network.net, request, recording).await;
        self.meter().sent(link.close());
        result.map_err(|broken| broken.failure)
    }

    /// Dials. `None`: it is HTTP/1.1 that was agreed on, and the connection waits in the pool.
    async fn open_link(
        &self,
        endpoint: &Endpoint<'_>,
        recording: &mut Recording<'_>,
    ) -> Result<Option<Link>, Failure> {
        let network = &*self.network;
        let proxy = network.proxy(endpoint);
        // A proxy that relays plain requests speaks HTTP/1.1.
        if !endpoint.is_secure && proxy.is_some_and(Proxy::relays) {
            return Ok(None);
        }
        // Boxed, as dialing is rare and its state large.
        let connection = Box::pin(self.way(proxy).dial(endpoint, recording)).await?;
        if endpoint.is_secure && !connection.is_http2() {
            self.keep(connection);
            return Ok(None);
        }
        Ok(Some(self.link(connection)))
    }

    /// The bytes on this client's sockets since the last call: (sent, received). TLS, handshakes and
    /// exchanges that were given up are included.
    pub fn take_wire_bytes(&self) -> (u64, u64) {
        self.meter().take()
    }

    /// Closes all idle connections (`noVUConnectionReuse`, between iterations).
    pub fn close_idle(&self) {
        let lines = self.shared.as_ref().map_or(&self.lines, |shared| &shared.lines);
        self.meter().sent(lines.close());
        let idle = self.pool().borrow_mut().drain();
        for connection in idle {
            self.close(connection);
        }
    }

    /// How many connections are idle.
    pub fn idle_count(&self) -> usize {
        self.pool().borrow().len()
    }

    /// The meter that counts its bytes.
    #[inline]
    pub(crate) fn meter(&self) -> &Meter {
        self.dialer.meter()
    }

    /// Its way to the network, for protocols beside HTTP: what goes over it counts as this client's.
    pub fn dialer(&self) -> &Rc<Dialer> {
        &self.dialer
    }

    fn way<'a>(&'a self, proxy: Option<&'a Proxy>) -> dial::Way<'a> {
        let (network, dialer) = (&*self.network, &*self.dialer);
        dial::Way { network, dialer, proxy, tunnels: false, offer: Offer::Http }
    }

    /// The network it is part of.
    pub fn network(&self) -> &Rc<Network> {
        &self.network
    }

    /// A kept connection that is still good. The dead ones met on the way are closed.
    fn take_idle(&self, endpoint: &Endpoint<'_>) -> Option<Connection> {
        loop {
            let mut connection = self.pool().borrow_mut().take(endpoint)?;
            let mut scratch = self.network.net.scratch.borrow_mut();
            if let Some(received) = connection.check(&mut scratch) {
                self.meter().received(received);
                return Some(connection);
            }
        }
    }

    fn keep(&self, connection: Connection) {
        let settings = &self.network.settings;
        let per_host = if settings.idle_per_host == 0 { 2 } else { settings.idle_per_host };
        let spare = self.pool().borrow_mut().put(connection, settings.idle_total, per_host);
        if let Some(spare) = spare {
            self.close(spare);
        }
    }

    fn close(&self, mut connection: Connection) {
        self.meter().sent(connection.say_goodbye());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Headers, Settings, Target, clock};

    /// Ten thousand VUs may wait in one at once, and each request moves its Exchange.
    #[test]
    fn a_waiting_exchange_is_small() {
        let network = Network::new(Settings::default(), clock::now).unwrap();
        let client = Client::new(network, None);
        let (target, headers) = (Target::parse("http://a.test").unwrap(), Headers::new());
        let request = Request::new("GET", &target, &headers);
        let size = size_of_val(&client.exchange(&request));
        assert!(size <= 1400, "{size}");
        assert!(size_of::<Exchange>() <= 352, "{}", size_of::<Exchange>());
        assert!(size_of::<Client>() <= 200, "{}", size_of::<Client>());
        assert!(size_of::<Connection>() <= 160, "{}", size_of::<Connection>());
    }
}
