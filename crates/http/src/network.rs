//! What the clients of one core share: rules, names, TLS configurations, scratch buffers.

use std::cell::RefCell;
use std::rc::Rc;

use crate::clock::{Anchor, Clock};
use crate::dial::detour::Detours;
use crate::dns::Dns;
use crate::hosts::Hosts;
use crate::http1::known::KnownHeads;
use crate::http2::Tended;
use crate::outbox::Outbox;
use crate::settings::{Settings, SettingsError};
use crate::tls::{QUIET_IN_HANDSHAKE, TlsConfigs};

/// How much one reading can bring.
const READ_SIZE: usize = 64 * 1024;

/// The most a scratch buffer grows to, for TLS handshake messages of absurd size: more than a session keeps of one that is
/// not whole, and one reading.
const READ_MAX: usize = 2 * QUIET_IN_HANDSHAKE;

/// Writing buffers that grew beyond this are given back.
const WRITE_KEEP: usize = 256 * 1024;

/// The network as one core sees it. Shared by the core's clients; not `Send`.
#[derive(Debug)]
pub struct Network {
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(crate) anchor: Anchor,
    pub(crate) hosts: Hosts,
    pub(crate) detours: Detours,
    pub(crate) dns: Dns,
    pub(crate) tls: TlsConfigs,
    /// Borrowed inside one poll only, never across an await.
    pub(crate) scratch: RefCell<Scratch>,
    /// Borrowed as `scratch` is.
    pub(crate) known: RefCell<KnownHeads>,
    pub(crate) outbox: Rc<Outbox>,
    pub(crate) tended: Tended,
}

/// Buffers that belong to whoever is at work: a connection that waits holds none.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) read: Vec<u8>,
    /// Plaintext to be sent.
    pub(crate) plain: Vec<u8>,
    /// Ciphertext to be sent.
    pub(crate) cipher: Vec<u8>,
}

impl Network {
    /// Each request has a connection of its own, and says so.
    pub fn closes_each(&self) -> bool {
        self.settings.no_connection_reuse
    }

    /// The most bytes of a body that is kept.
    pub fn body_limit(&self) -> u64 {
        self.settings.body_limit
    }

    /// Compiles the settings for one core.
    ///
    /// `clock` must be a monotonic one; [`clock::now`](crate::clock::now) will do. Needs a tokio
    /// `current_thread` runtime with IO and time when it is used, not here.
    ///
    /// # Errors
    /// Settings that can't be carried out. System certificates are not read here.
    pub fn new(settings: Settings, clock: Clock) -> Result<Rc<Self>, SettingsError> {
        let outbox = Rc::new(Outbox::new(clock));
        brunt_fiber::core::add_chore(&outbox);
        Ok(Rc::new(Self {
            clock,
            anchor: Anchor::new(clock),
            hosts: Hosts::compile(&settings)?,
            dns: Dns::new(settings.dns, &settings.dialing.name_servers, clock),
            detours: Detours::new(&settings.dialing.connect_to),
            tls: TlsConfigs::new(&settings.tls)?,
            scratch: RefCell::new(Scratch::new()),
            known: RefCell::default(),
            outbox,
            tended: Tended::default(),
            settings,
        }))
    }

    /// Refuses settings that can't be carried out: for the moment when options are read.
    pub fn check(settings: &Settings) -> Result<(), SettingsError> {
        Hosts::compile(settings)?;
        TlsConfigs::new(&settings.tls)?;
        Ok(())
    }

    /// The network's clock: nanoseconds since the Unix epoch.
    pub fn now(&self) -> u64 {
        (self.clock)()
    }

    /// The settings it was made from.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { read: vec![0; READ_SIZE], plain: Vec::new(), cipher: Vec::new() }
    }

    /// Sees to it that `room` bytes are free after the first `kept`; up to a bound.
    pub(crate) fn make_room(&mut self, kept: usize, room: usize) {
        if self.read.len() < kept + room {
            self.read.resize((kept + room).next_multiple_of(READ_SIZE).min(READ_MAX), 0);
        }
    }

    /// Empties the writing buffers; gives memory back after something large.
    pub(crate) fn clear_writing(&mut self) {
        for buffer in [&mut self.plain, &mut self.cipher] {
            buffer.clear();
            if buffer.capacity() > WRITE_KEEP {
                *buffer = Vec::new();
            }
        }
    }
}
