//! The state that the connections of one core share: rules, names, TLS configurations, scratch buffers.

use std::cell::RefCell;
use std::rc::Rc;

use crate::clock::{Anchor, Clock};
use crate::dial::detour::Detours;
use crate::dns::Dns;
use crate::hosts::Hosts;
use crate::outbox::Outbox;
use crate::scratch::Scratch;
use crate::settings::{Settings, SettingsError};
use crate::tls::TlsConfigs;

/// The network as one core sees it. Shared by the core's dialers; not `Send`.
#[derive(Debug)]
pub struct Network {
    /// Its clock: nanoseconds since the Unix epoch.
    pub clock: Clock,
    /// Where its clock meets the runtime's.
    pub anchor: Anchor,
    /// Borrowed inside one poll only, never across an await.
    pub scratch: RefCell<Scratch>,
    /// Small writings that wait to be sent together.
    pub outbox: Rc<Outbox>,
    pub(crate) settings: Settings,
    pub(crate) hosts: Hosts,
    pub(crate) detours: Detours,
    pub(crate) dns: Dns,
    pub(crate) tls: TlsConfigs,
}

impl Network {
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
            outbox,
            settings,
        }))
    }

    /// Refuses settings that can't be carried out: for the moment when options are read.
    pub fn check(settings: &Settings) -> Result<(), SettingsError> {
        Hosts::compile(settings)?;
        TlsConfigs::new(&settings.tls)?;
        Ok(())
    }

    /// The settings it was made from.
    #[inline]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}
