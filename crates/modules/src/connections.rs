//! The connections of a VM, which all modules dial by: a client on the core's network, and clients on networks of modules
//! and scripts.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;

use brunt_fiber::clock;
use brunt_http::{Client, Network};
use brunt_js::{CoreSlot, Host, SlotKey, VuSlot};
use brunt_net::Dialer;
use brunt_quickjs::{Ctx, touched};

use crate::state::VuState;

/// The network of a core, as the options want it.
pub(crate) struct CoreNetwork(pub(crate) Rc<Network>);

impl CoreSlot for CoreNetwork {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(host: &Host) -> Self {
        let settings = &host.slot::<VuState>().shared.config().network;
        // Settings were checked when the options were read; what fails here is the machine.
        Self(Network::new(settings.clone(), clock::now_ns).unwrap_or_else(|error| {
            log::error!("the network settings cannot be used: {error}");
            Network::new(brunt_http::Settings::default(), clock::now_ns)
                .expect("default settings are sound")
        }))
    }
}

/// The connections of a VM; made by whoever dials first.
pub(crate) struct Connections {
    client: Rc<Client>,
    /// The address that the VU dials from, if not the system's choice.
    local_ip: Option<IpAddr>,
    /// Where VUs take addresses in turn, the one that this VU begins with.
    first_turn: usize,
    /// Clients that the script made, each once.
    others: RefCell<Vec<Rc<Client>>>,
    /// The ways of other protocols, each on a network of its own.
    dialers: RefCell<Vec<Rc<Dialer>>>,
    /// Bytes that clients and dialers sent and received before they went, not told yet.
    left_bytes: Cell<(u64, u64)>,
}

impl VuSlot for Connections {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(host: &Host) -> Self {
        let network = Rc::clone(&host.core_slot::<CoreNetwork>().0);
        let local_ips = &host.slot::<VuState>().shared.config().local_ips;
        let vu = host.ids().local;
        let local_ip = local_ip(local_ips, vu);
        let client = Client::new(network, local_ip);
        let seed = host.slot::<VuState>().seed_of_connections(host);
        let first_turn = vu.saturating_sub(1) as usize;
        client.dialer().seed(seed, first_turn);
        Self {
            client: Rc::new(client),
            local_ip,
            first_turn,
            others: RefCell::default(),
            dialers: RefCell::default(),
            left_bytes: Cell::default(),
        }
    }
}

impl Connections {
    pub(crate) fn of(ctx: Ctx<'_>) -> &Self {
        Host::of(ctx).slot()
    }

    /// The client of the VU.
    pub(crate) fn client(&self) -> Rc<Client> {
        Rc::clone(&self.client)
    }

    /// The VU's way to all addresses, for protocols other than HTTP.
    pub(crate) fn dialer(&self) -> Rc<Dialer> {
        Rc::clone(self.client.dialer())
    }

    /// The VU's way on another network: one for each network.
    pub(crate) fn dialer_on(&self, network: &Rc<brunt_net::Network>) -> Rc<Dialer> {
        let mut dialers = self.dialers.borrow_mut();
        if let Some(dialer) = dialers.iter().find(|it| Rc::ptr_eq(it.network(), network)) {
            return Rc::clone(dialer);
        }
        // Dialers that no module holds any more leave their bytes.
        dialers.retain(|dialer| {
            let is_held = Rc::strong_count(dialer) > 1;
            if !is_held {
                self.leave(dialer.meter().take());
            }
            is_held
        });
        let dialer = Dialer::new(Rc::clone(network), self.local_ip);
        dialer.seed(self.client.dialer().draw(), self.first_turn);
        dialers.push(Rc::clone(&dialer));
        dialer
    }

    fn leave(&self, (sent, received): (u64, u64)) {
        let (before_sent, before_received) = self.left_bytes.get();
        self.left_bytes.set((before_sent + sent, before_received + received));
    }

    /// A new client on another network. Its bytes and connections are the VU's, too.
    pub(crate) fn new_client_on(&self, network: Rc<Network>) -> Rc<Client> {
        let client = Rc::new(Client::new(network, self.local_ip));
        client.dialer().seed(self.client.dialer().draw(), self.first_turn);
        let mut others = self.others.borrow_mut();
        // A script may make one in each iteration: clients that the script dropped leave their bytes.
        others.retain(|client| {
            let is_held = Rc::strong_count(client) > 1;
            if !is_held {
                self.leave(client.take_wire_bytes());
            }
            is_held
        });
        others.push(Rc::clone(&client));
        client
    }

    /// Says where it and its clients are, for those who watch what is touched.
    pub(crate) fn note(&self) {
        touched::note(self);
        let others = self.others.borrow();
        touched::note(&others[..]);
        for client in others.iter().chain([&self.client]) {
            client.places().for_each(|(at, bytes)| touched::note_at(at, bytes));
        }
    }

    /// The bytes on the VU's sockets since the last time: sent, received.
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

    /// Closes what no exchange uses.
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

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use brunt_http::{Headers, Request, Settings, Target};

    use super::*;

    fn network() -> Rc<Network> {
        Network::new(Settings::default(), clock::now_ns).unwrap()
    }

    fn connections(local_ip: Option<IpAddr>) -> Connections {
        Connections {
            client: Rc::new(Client::new(network(), local_ip)),
            local_ip,
            first_turn: 0,
            others: RefCell::default(),
            dialers: RefCell::default(),
            left_bytes: Cell::default(),
        }
    }

    fn plain_network() -> Rc<brunt_net::Network> {
        brunt_net::Network::new(brunt_net::Settings::default(), clock::now_ns).unwrap()
    }

    #[test]
    fn a_network_has_one_way_per_vu_and_each_begins_at_the_vus_address() {
        let own: IpAddr = "127.0.0.9".parse().unwrap();
        let connections = connections(Some(own));
        let (first, second) = (plain_network(), plain_network());
        let way = connections.dialer_on(&first);
        assert!(Rc::ptr_eq(&way, &connections.dialer_on(&first)));
        assert!(!Rc::ptr_eq(&way, &connections.dialer_on(&second)));
        assert!(Rc::ptr_eq(&connections.dialer(), &connections.dialer()));
        let other = connections.new_client_on(network());
        let dialers = [way, connections.dialer(), Rc::clone(other.dialer())];
        assert!(dialers.iter().all(|dialer| dialer.local_ip() == Some(own)));
    }

    #[test]
    fn bytes_of_all_ways_are_the_vus_and_told_once() {
        let connections = connections(None);
        let other = connections.new_client_on(network());
        let way = connections.dialer_on(&plain_network());
        for (dialer, bytes) in
            [(connections.dialer(), 1), (Rc::clone(other.dialer()), 20), (way, 300)]
        {
            dialer.meter().sent(bytes);
            dialer.meter().received(bytes * 2);
        }
        assert_eq!(connections.take_wire_bytes(), (321, 642));
        assert_eq!(connections.take_wire_bytes(), (0, 0));
    }

    #[test]
    fn ways_that_nobody_holds_any_more_go_and_leave_their_bytes() {
        let connections = connections(None);
        // Kept by whoever asked, as a script keeps its client.
        let kept = (connections.new_client_on(network()), connections.dialer_on(&plain_network()));
        for _ in 0..100 {
            connections.new_client_on(network()).dialer().meter().sent(1);
            connections.dialer_on(&plain_network()).meter().received(1);
        }
        // The last one of each is found when the next is made.
        assert_eq!((connections.others.borrow().len(), connections.dialers.borrow().len()), (2, 2));
        assert_eq!(connections.take_wire_bytes(), (100, 100));
        kept.0.dialer().meter().sent(7);
        kept.1.meter().received(7);
        assert_eq!(connections.take_wire_bytes(), (7, 7));
    }

    #[tokio::test]
    async fn without_reuse_the_idle_connections_of_all_clients_are_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let serve = std::thread::spawn(move || {
            let mut streams: Vec<_> = (0..2).map(|_| listener.accept().unwrap().0).collect();
            for stream in &mut streams {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    head.push(byte[0]);
                }
                stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
            }
            // Each is closed by the client.
            streams.iter_mut().map(|stream| stream.read(&mut [0]).unwrap()).sum::<usize>()
        });
        let connections = connections(None);
        let clients = [connections.client(), connections.new_client_on(network())];
        let (target, headers) = (Target::parse(&url).unwrap(), Headers::default());
        let request = Request::new("GET", &target, &headers);
        let [first, second] = &clients;
        let answers = tokio::join!(first.exchange(&request), second.exchange(&request));
        assert!(answers.0.failure.is_none() && answers.1.failure.is_none());
        assert_eq!(clients.each_ref().map(|client| client.idle_count()), [1, 1]);
        connections.close_idle();
        assert_eq!(clients.each_ref().map(|client| client.idle_count()), [0, 0]);
        assert_eq!(serve.join().unwrap(), 0);
    }

    #[test]
    fn vus_take_the_addresses_of_the_pool_in_turn() {
        let pool: Vec<IpAddr> =
            ["127.0.0.1", "127.0.0.2", "::1"].map(|ip| ip.parse().unwrap()).to_vec();
        let taken: Vec<_> = (0..5).map(|vu| local_ip(&pool, vu)).collect();
        assert_eq!(taken, [None, Some(pool[0]), Some(pool[1]), Some(pool[2]), Some(pool[0])]);
        assert_eq!(local_ip(&[], 1), None);
    }
}
