//! One TLS session, without buffers of its own.
//!
//! rustls' "unbuffered" interface works on the bytes of the caller: records are decrypted where the
//! core's scratch buffer holds them, and requests are encrypted into another scratch buffer. An idle
//! session keeps its keys and nothing else, which matters with ten thousand of them; rustls' buffered
//! interface keeps 4 KiB each.

use std::sync::Arc;

use rustls::Error;
use rustls::client::{ClientConfig, UnbufferedClientConnection};
use rustls::pki_types::ServerName;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};

use super::{Staple, TlsInfo, staple, suites};
use crate::quiet::{QUIET, QUIET_IN_HANDSHAKE, TOO_QUIET};

/// A session with a server.
pub(crate) struct Session {
    rustls: UnbufferedClientConnection,
    /// The beginning of a record (or handshake message) whose rest has not come. Empty and without
    /// memory when idle.
    pub(crate) partial: Vec<u8>,
    /// Bytes of the protocol itself (answers to key updates), to go out before anything else.
    pub(crate) unsent: Vec<u8>,
    /// Data that came during the handshake: a server of HTTP/2 may speak first.
    pub(crate) early: Vec<u8>,
    /// The statement that was stapled to the server's certificate.
    pub(crate) staple: Option<&'static Staple>,
    is_closed: bool,
    /// How much came since the last data.
    quiet: usize,
    /// It is over, for this reason. rustls is asked nothing any more: it has offsets into bytes that are gone, and would
    /// panic.
    broken: Option<Box<Error>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("is_closed", &self.is_closed).finish_non_exhaustive()
    }
}

/// The next step of a session.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The handshake needs more from the server.
    Handshaking,
    /// Data may go both ways.
    Open,
    /// The server ended the session in good order.
    Closed,
}

impl Session {
    pub(crate) fn new(config: Arc<ClientConfig>, name: ServerName<'static>) -> Result<Self, Error> {
        Ok(Self {
            rustls: UnbufferedClientConnection::new(config, name)?,
            partial: Vec::new(),
            unsent: Vec::new(),
            early: Vec::new(),
            staple: None,
            is_closed: false,
            quiet: 0,
            broken: None,
        })
    }

    /// Takes in what came: `incoming` is all that is unprocessed, [`Self::partial`] first. Plaintext
    /// goes to `on_data`, the answers of the protocol to [`Self::unsent`]; what can't be used yet
    /// becomes `partial`.
    pub(crate) fn receive(
        &mut self,
        incoming: &mut [u8],
        mut on_data: impl FnMut(&[u8]),
    ) -> Result<State, Error> {
        if let Some(error) = &self.broken {
            return Err(Error::clone(error));
        }
        let most = if self.rustls.is_handshaking() { QUIET_IN_HANDSHAKE } else { QUIET };
        self.quiet += incoming.len().saturating_sub(self.partial.len());
        let state = self.process(incoming, |data| {
            if !data.is_empty() {
                on_data(data);
            }
            !data.is_empty()
        });
        let state = match state {
            Ok(_) if self.quiet > most => Err(Error::General(TOO_QUIET.to_owned())),
            state => state,
        };
        if most == QUIET_IN_HANDSHAKE && !self.rustls.is_handshaking() {
            self.quiet = 0;
        }
        if let Err(error) = &state {
            self.broken = Some(Box::new(error.clone()));
            self.partial = Vec::new();
        }
        state
    }

    /// [`Self::receive`] of a session that is in order; `on_data` tells whether there was any.
    fn process(
        &mut self,
        incoming: &mut [u8],
        mut on_data: impl FnMut(&[u8]) -> bool,
    ) -> Result<State, Error> {
        let mut used = 0;
        let state = loop {
            let UnbufferedStatus { mut discard, state } =
                self.rustls.process_tls_records(&mut incoming[used..]);
            match state {
                Err(error) => {
                    used += discard;
                    self.last_words(&mut incoming[used..]);
                    return Err(error);
                }
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record?;
                        discard += record.discard;
                        if on_data(record.payload) {
                            self.quiet = 0;
                        }
                    }
                }
                Ok(ConnectionState::EncodeTlsData(mut message)) => {
                    encode(&mut self.unsent, |space| message.encode(space))?;
                }
                // All that was encoded will be sent before anything else.
                Ok(ConnectionState::TransmitTlsData(transmit)) => transmit.done(),
                Ok(ConnectionState::PeerClosed) => self.is_closed = true,
                Ok(ConnectionState::BlockedHandshake) => {
                    used += discard;
                    break State::Handshaking;
                }
                Ok(ConnectionState::WriteTraffic(_)) => {
                    used += discard;
                    break if self.is_closed { State::Closed } else { State::Open };
                }
                Ok(_) => {
                    used += discard;
                    break State::Closed;
                }
            }
            used += discard;
        };
        if used == incoming.len() {
            self.partial = Vec::new();
        } else {
            self.partial.clear();
            self.partial.extend_from_slice(&incoming[used..]);
        }
        Ok(state)
    }

    /// [`Self::receive`] while hands are shaken.
    pub(crate) fn shake(
        &mut self,
        incoming: &mut [u8],
        on_data: impl FnMut(&[u8]),
    ) -> Result<State, Error> {
        let state = self.receive(incoming, on_data);
        // The verifier was asked meanwhile, if the certificate came.
        self.staple = staple::take().or(self.staple);
        state
    }

    /// Encrypts `plain` to the end of `out`.
    pub(crate) fn encrypt(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        if let Some(error) = &self.broken {
            return Err(Error::clone(error));
        }
        let broken = || Error::General("the session can't send".to_owned());
        // rustls keeps offsets into what it has seen of a message: it must see those bytes again.
        let UnbufferedStatus { state, .. } = self.rustls.process_tls_records(&mut self.partial);
        let ConnectionState::WriteTraffic(mut traffic) = state? else {
            return Err(broken());
        };
        let start = out.len();
        // A guess that is right for one record of any suite.
        out.resize(start + plain.len() + 64, 0);
        loop {
            match traffic.encrypt(plain, &mut out[start..]) {
                Ok(size) => {
                    out.truncate(start + size);
                    return Ok(());
                }
                Err(EncryptError::InsufficientSize(need)) => {
                    out.resize(start + need.required_size, 0);
                }
                Err(EncryptError::EncryptExhausted) => return Err(broken()),
            }
        }
    }

    /// The alert that ends the session from our side, to the end of `out`.
    pub(crate) fn close(&mut self, out: &mut Vec<u8>) {
        if self.broken.is_some() {
            return;
        }
        let UnbufferedStatus { state, .. } = self.rustls.process_tls_records(&mut self.partial);
        if let Ok(ConnectionState::WriteTraffic(mut traffic)) = state {
            let start = out.len();
            out.resize(start + 64, 0);
            let size = traffic.queue_close_notify(&mut out[start..]).unwrap_or(0);
            out.truncate(start + size);
        }
    }

    /// The result of the handshake.
    pub(crate) fn info(&self) -> TlsInfo {
        let suite = self.rustls.negotiated_cipher_suite().map(|suite| suite.suite());
        let info = suites::info(self.rustls.protocol_version(), suite);
        TlsInfo { staple: self.staple, ..info }
    }

    /// The protocol that the server chose among those offered.
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.rustls.alpn_protocol()
    }

    /// The server said that it sends no more.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// After an error: the alert that tells the server why. `rest` is what rustls has not let go of: without it, it looks
    /// for what it knows of a message where nothing is, and panics.
    fn last_words(&mut self, rest: &mut [u8]) {
        let UnbufferedStatus { state, .. } = self.rustls.process_tls_records(rest);
        if let Ok(ConnectionState::EncodeTlsData(mut alert)) = state {
            // The session is lost anyway.
            let _ = encode(&mut self.unsent, |space| alert.encode(space));
        }
    }
}

/// Lets rustls write to the end of `out`, as much room as it wants.
fn encode(
    out: &mut Vec<u8>,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, EncodeError>,
) -> Result<(), Error> {
    let start = out.len();
    match write(&mut []) {
        Err(EncodeError::InsufficientSize(need)) => out.resize(start + need.required_size, 0),
        Ok(_) => return Ok(()),
        Err(error) => return Err(Error::General(error.to_string())),
    }
    match write(&mut out[start..]) {
        Ok(size) => {
            out.truncate(start + size);
            Ok(())
        }
        Err(error) => Err(Error::General(error.to_string())),
    }
}
