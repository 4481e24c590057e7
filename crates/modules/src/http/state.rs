//! The HTTP side of one VM: its connections, its cookies, its response callback.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::net::IpAddr;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use brunt_fiber::clock;
use brunt_http::cookie::Jar;
use brunt_http::{Client, Headers, Network, OwnedTarget, Target, TargetError};
use brunt_js::{Host, Remains};
use brunt_net::Dialer;
use brunt_quickjs::touched;
use rustc_hash::FxHashMap;

use super::download::Download;
use super::expected::Callback;
use super::fasthttp::{Networks, SharedReady};
use super::limiter::Limiter;
use super::record::SeriesCache;
use super::url::mask;
use crate::api::Shared;
use crate::config::SystemTags;
use crate::watch::Watcher;

/// A jar that requests, and scripts, share.
pub(crate) type SharedJar = Rc<RefCell<Jar>>;

/// What one core's VUs share.
pub(crate) struct HttpShared {
    network: Rc<Network>,
    pub(super) series: RefCell<SeriesCache>,
    pub(super) system_tags: SystemTags,
    pub(super) limiter: Option<Arc<Limiter>>,
    /// The headers of a request without any of its own.
    headers: Rc<Headers>,
    /// URLs that were taken apart before.
    places: RefCell<FxHashMap<Box<str>, Rc<Place>>>,
    /// Those of `k6/x/fasthttp`.
    pub(super) networks: Networks,
    pub(super) ready: SharedReady,
    /// Who looks at each exchange, if anybody does.
    pub(super) watcher: Option<Arc<dyn Watcher>>,
    /// Those of `k6/net/grpc`.
    grpc_networks: crate::grpc::Networks,
}

/// URLs that are remembered; a test that makes up URLs without end starts over.
const PLACES_MAX: usize = 1024;

/// A URL taken apart.
pub(super) struct Place {
    pub(super) target: OwnedTarget,
    /// The URL as tags show it. All VUs of the core read this one, so that it stays in the cache.
    pub(super) shown: Box<str>,
}

impl HttpShared {
    /// Each request has a connection of its own.
    pub(super) fn closes(&self) -> bool {
        self.network.closes_each()
    }

    fn new(shared: &Shared) -> Rc<Self> {
        let config = shared.config();
        // Settings were checked when the options were read; what fails here is the machine.
        let network = Network::new(config.network.clone(), clock::now_ns).unwrap_or_else(|error| {
            log::error!("the network settings cannot be used: {error}");
            Network::new(brunt_http::Settings::default(), clock::now_ns)
                .expect("default settings are sound")
        });
        let mut headers = Headers::new();
        if !config.user_agent.is_empty()
            && headers.append("User-Agent", &config.user_agent).is_err()
        {
            log::warn!("the user agent has characters that no header may have; it is left out");
        }
        Rc::new(Self {
            network,
            headers: Rc::new(headers),
            series: RefCell::default(),
            system_tags: config.system_tags,
            limiter: shared.limiter(),
            places: RefCell::default(),
            networks: Networks::default(),
            ready: SharedReady::default(),
            watcher: config.watcher.clone(),
            grpc_networks: crate::grpc::Networks::default(),
        })
    }

    /// A URL taken apart.
    pub(super) fn place(&self, url: &str) -> Result<Rc<Place>, TargetError> {
        if let Some(place) = self.places.borrow().get(url) {
            return Ok(Rc::clone(place));
        }
        let target = Target::parse(url)?.to_owned_target();
        let place = Rc::new(Place { target, shown: mask(url).into() });
        let mut places = self.places.borrow_mut();
        if places.len() >= PLACES_MAX {
            places.clear();
        }
        places.insert(url.into(), Rc::clone(&place));
        Ok(place)
    }

    /// That of the core, or a fresh one where there is no core.
    pub(super) fn of(shared: &Shared, host: &Host) -> Rc<Self> {
        match host.core_state() {
            Some(core) => Rc::clone(core.api(|| Self::new(shared))),
            None => Self::new(shared),
        }
    }
}

pub(crate) struct HttpState {
    pub(super) shared: Rc<HttpShared>,
    pub(crate) client: Rc<Client>,
    jar: RefCell<SharedJar>,
    pub(crate) callback: RefCell<Callback>,
    /// The headers of a request without any of its own.
    pub(crate) headers: Rc<Headers>,
    /// The address that it dials from, if not the system's choice.
    pub(super) local_ip: Option<IpAddr>,
    /// Clients that the script made, each once.
    others: RefCell<Vec<Rc<Client>>>,
    /// Those of other protocols with networks of their own.
    dialers: RefCell<Vec<Rc<Dialer>>>,
    /// Sent and received by clients that are gone, and not told yet.
    left_bytes: Cell<(u64, u64)>,
    /// Responses whose bodies are streamed, in this iteration.
    downloads: RefCell<Vec<Weak<Download>>>,
}

impl HttpState {
    pub(crate) fn new(shared: &Shared, host: &Host) -> Self {
        let here = HttpShared::of(shared, host);
        let network = Rc::clone(&here.network);
        let config = shared.config();
        let headers = Rc::clone(&here.headers);
        let local_ip = local_ip(&config.local_ips, host.ids().local);
        Self {
            shared: here,
            client: Rc::new(Client::new(network, local_ip)),
            local_ip,
            others: RefCell::default(),
            dialers: RefCell::default(),
            left_bytes: Cell::default(),
            jar: RefCell::default(),
            callback: RefCell::default(),
            headers,
            downloads: RefCell::default(),
        }
    }

    /// A stream that ends with the iteration, if not before.
    pub(super) fn keep_track_of(&self, download: &Rc<Download>) {
        let mut downloads = self.downloads.borrow_mut();
        downloads.retain(|known| known.strong_count() > 0);
        downloads.push(Rc::downgrade(download));
    }

    /// The script has nothing left to do: responses that it left unread come to their end, if that is near. `None` if
    /// there are none.
    pub(crate) fn unread_downloads(&self) -> Option<Remains> {
        let downloads = self.downloads.borrow();
        let unread = downloads.iter().filter_map(Weak::upgrade).filter(|each| each.is_left());
        let unread: Vec<_> = unread.collect();
        if unread.is_empty() {
            return None;
        }
        Some(Box::pin(async move {
            for download in unread {
                poll_fn(|cx| download.spool.poll_end(cx)).await;
            }
        }))
    }

    /// The iteration is over: what has not come yet doesn't come any more.
    pub(crate) fn end_downloads(&self) {
        for download in self.downloads.take().iter().filter_map(Weak::upgrade) {
            download.cut();
        }
    }

    /// The VU's jar.
    pub(crate) fn jar(&self) -> SharedJar {
        Rc::clone(&self.jar.borrow())
    }

    /// A new jar; who holds the old one keeps it.
    pub(crate) fn reset_cookies(&self) {
        let untouched = {
            let jar = self.jar.borrow();
            Rc::strong_count(&jar) == 1 && jar.borrow().is_empty()
        };
        if !untouched {
            *self.jar.borrow_mut() = SharedJar::default();
        }
    }

    /// The networks of `k6/net/grpc`.
    pub(crate) fn grpc_networks(&self) -> &crate::grpc::Networks {
        &self.shared.grpc_networks
    }

    /// The VU's way to another network: one for each.
    pub(crate) fn dialer_on(&self, network: &Rc<brunt_net::Network>) -> Rc<Dialer> {
        let mut dialers = self.dialers.borrow_mut();
        if let Some(dialer) = dialers.iter().find(|it| Rc::ptr_eq(it.network(), network)) {
            return Rc::clone(dialer);
        }
        // Those that nobody has any more leave their bytes.
        dialers.retain(|dialer| {
            let is_held = Rc::strong_count(dialer) > 1;
            if !is_held {
                self.leave(dialer.meter().take());
            }
            is_held
        });
        let dialer = Dialer::new(Rc::clone(network), self.local_ip);
        dialers.push(Rc::clone(&dialer));
        dialer
    }

    fn leave(&self, (sent, received): (u64, u64)) {
        let (before_sent, before_received) = self.left_bytes.get();
        self.left_bytes.set((before_sent + sent, before_received + received));
    }

    /// Takes in a client whose bytes and connections are the VU's, too.
    pub(super) fn adopt(&self, client: Rc<Client>) {
        let mut others = self.others.borrow_mut();
        // A script may make one in each iteration: those that nobody has any more leave their bytes.
        others.retain(|client| {
            let is_held = Rc::strong_count(client) > 1;
            if !is_held {
                self.leave(client.take_wire_bytes());
            }
            is_held
        });
        others.push(client);
    }

    /// Says where it and its clients are, for those who watch what is touched.
    pub(crate) fn note(&self) {
        touched::note(self);
        let others = self.others.borrow();
        touched::note(&others[..]);
        touched::note_shared(&self.jar.borrow());
        for client in others.iter().chain([&self.client]) {
            client.places().for_each(|(at, bytes)| touched::note_at(at, bytes));
        }
    }

    pub(crate) fn take_wire_bytes(&self) -> (u64, u64) {
        let others = self.others.borrow();
        let (sent, received) = self.client.take_wire_bytes();
        let (left_sent, left_received) = self.left_bytes.take();
        let here = (sent + left_sent, received + left_received);
        let dialers = self.dialers.borrow();
        let others = others.iter().map(|client| client.take_wire_bytes());
        let all = others.chain(dialers.iter().map(|dialer| dialer.meter().take()));
        all.fold(here, |(sent, received), more| (sent + more.0, received + more.1))
    }

    pub(crate) fn close_idle(&self) {
        self.client.close_idle();
        for client in &*self.others.borrow() {
            client.close_idle();
        }
    }
}

/// VU n uses the address at (n − 1) modulo their number.
fn local_ip(pool: &[IpAddr], vu: u64) -> Option<IpAddr> {
    let index = vu.checked_sub(1)? as usize;
    pool.get(index.checked_rem(pool.len())?).copied()
}
