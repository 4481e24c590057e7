//! A connection for protocols that have nothing to do with HTTP, but dial as its requests do.

use std::rc::Rc;

use crate::client::Client;
use crate::dial::Dialer;
use crate::exchange::{Answer, Fate, Recording};
use crate::failure::Failure;
use crate::target::Target;

use super::{Upgraded, without_http2};

impl Client {
    /// Opens a connection to the target's host and port, with TLS if its scheme is `https`. No proxy is asked.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn connect(self: &Rc<Self>, target: &Target<'_>) -> Result<Upgraded, Failure> {
        let network = &**self.network();
        let dialer = Dialer { network, local_ip: self.local_ip(), proxy: None, tunnels: false };
        let mut recording =
            Recording::start(network.clock, self.meter(), Answer::new(Fate::Begin, 0));
        let own = |config| without_http2(self.own_tls(config));
        let connection = dialer.dial(target, own, &mut recording).await?;
        let client = Rc::clone(self);
        Ok(Upgraded { client, connection, early: Vec::new(), unsent: Vec::new() })
    }
}
